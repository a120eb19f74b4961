/** GET /conversations/search and /conversations/{id}/summary (rules/discovery#search-and-summary; D5, D18f, D18g). */
import { isPossibleId, type RequestOf } from '#libs/contract';
import { notFound } from '#libs/errors';
import { jsonListStream, rawJson, type JsonStream, type RawJson, type RequestContext } from '#libs/nats';
import type { conversations } from '../../contract.ts';
import type { Dependencies } from '../../dependencies.ts';
import { HolonVisibility } from '../../directory-cache/index.ts';
import { requireId } from '../../ids.ts';
import { chooseSearch, type SearchFilters, searchPlanner as planner, type SearchRow, summarizeConversation } from '../statements/search.ts';
import { renderSearchItems } from '../view.ts';

type Rpcs = typeof conversations.rpcs;

/**
 * The usual search: one round trip to the database and one look-up of people, holons and journeys for all of it. What these rows refer to is
 * kept in the caches, so that the next search finds it there.
 */
const firstBatch = 1_000;
/** What a long answer holds of the rows after them. */
const batch = 200;

/**
 * Streams what matches, whatever its size.
 * @throws AppError 404 when the target of a filter does not exist, or is a holon that the caller does not see
 */
export async function search(dependencies: Dependencies, request: RequestOf<Rpcs['search']>, context: RequestContext): Promise<JsonStream> {
  const visibility = new HolonVisibility(dependencies.directory, context);
  const [filters, scope] = await Promise.all([resolveFilters(dependencies, visibility, request), dependencies.access.findScope(context)]);
  const { search: chosen, values } = chooseSearch({ ...filters, scope }, request.sort ?? 'date_desc');
  return jsonListStream(
    renderBatches(
      dependencies,
      visibility,
      chosen.stream(dependencies.db, values, { batchSize: batch, firstBatchSize: firstBatch, planner }),
    ),
  );
}

/** Names become ids; a filter that names nothing of the directory goes to the statement as it is. */
async function resolveFilters(
  { directory }: Dependencies,
  visibility: HolonVisibility,
  request: RequestOf<Rpcs['search']>,
): Promise<Omit<SearchFilters, 'scope'>> {
  const { holon_slug: ownerSlug, connected_holon_slug: connectedSlug, person_id: personId, sort: _sort, ...own } = request;
  const [owner, connected, people] = await Promise.all([
    ownerSlug === undefined ? undefined : visibility.findSubtree(ownerSlug),
    connectedSlug === undefined ? undefined : visibility.findVisible(connectedSlug),
    personId === undefined || !isPossibleId(personId) ? undefined : directory.people.getMany([personId]),
  ]);
  const missing =
    (ownerSlug !== undefined && owner === undefined) ||
    (connectedSlug !== undefined && connected === undefined) ||
    (personId !== undefined && people?.has(personId) !== true);
  if (missing) throw notFound();
  return { ...own, eventIds: owner?.ids, connectedId: connected, personId };
}

async function* renderBatches(
  { directory }: Dependencies,
  visibility: HolonVisibility,
  batches: AsyncIterable<SearchRow[]>,
): AsyncGenerator<string[]> {
  let keep = true;
  for await (const rows of batches) {
    yield await renderSearchItems(directory, visibility, rows, { keep });
    keep = false;
  }
}

/** @throws AppError 404 when it is absent, or belongs to an event that the caller does not see */
export async function summarize(
  { db, directory }: Dependencies,
  request: RequestOf<Rpcs['summarize']>,
  context: RequestContext,
): Promise<RawJson> {
  const row = await summarizeConversation(db, { id: requireId(request.conversation_id) });
  if (row === undefined) throw notFound();
  const [item] = await renderSearchItems(directory, new HolonVisibility(directory, context), [row], { keep: true });
  if (item === undefined) throw notFound();
  return rawJson(item);
}
