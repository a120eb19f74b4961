/** Resolves filters and permissions for the search in transcripts (rules/transcripts#search; T2, T6, D18f, D69). */
import { isPossibleId, type ReplyOf, type RequestOf, type Static } from '#libs/infrastructure/contract';
import { notFound } from '#libs/infrastructure/errors';
import { type CallContext, withoutActor, type RequestContext } from '#libs/infrastructure/nats';
import { isWithin } from '../access.ts';
import type { conversations } from '../contract.ts';
import type { Dependencies, Operations } from '../dependencies.ts';
import { HolonVisibility } from '../directory-cache/index.ts';
import { conversationTitle } from '../publishing.ts';
import { idsFromSql, instantOrNull } from '../representation.ts';
import type { readerFacts } from './contract.ts';
import { listCited, listEvents, listFacts } from './statements.ts';

type Rpcs = typeof conversations.rpcs;
type Reader = Static<typeof readerFacts>;
type Filters = RequestOf<Rpcs['resolveTranscriptFilters']>;

export function createTranscriptSearchScopeHandlers(
  dependencies: Dependencies,
): Pick<
  Operations,
  'resolveTranscriptFilters' | 'citeConversations' | 'resolveReaderFilters' | 'listReadable' | 'listAccessFacts'
> {
  return {
    resolveTranscriptFilters: (request, context) => resolveFilters(dependencies, request, context),
    citeConversations: (request, context) => cite(dependencies, request, context),
    resolveReaderFilters: (request, context) => resolveReader(dependencies, request, context),
    listReadable: (request, context) => listReadable(dependencies, request, context),
    listAccessFacts: (request) => listAccessFacts(dependencies, request),
  };
}

/**
 * Resolves the filters and the scope of the caller. @throws AppError 404 when the target of a filter does not exist or
 * is a holon that the caller cannot see
 */
async function resolveFilters(
  { access, db, directory }: Dependencies,
  request: Filters,
  context: CallContext,
): Promise<ReplyOf<Rpcs['resolveTranscriptFilters']>> {
  const visibility = new HolonVisibility(directory, context);
  const [named, scope, events] = await Promise.all([
    findNamed(directory, request, (slug) => visibility.findSubtree(slug)),
    access.findScope(context),
    listEvents(db),
  ]);
  const holons = await visibility.lookUp(events.map(({ id }) => id));
  return {
    ...named,
    scope: scope === undefined ? null : { person_id: scope.personId, event_ids: [...scope.eventIds] },
    hidden_event_ids: events.map(({ id }) => id).filter((id) => holons.isHidden(id)),
  };
}

/** Returns the ids of the objects that the filters name. @throws AppError 404 */
async function findNamed(
  directory: Dependencies['directory'],
  { person_id: personId, holon_slug: holonSlug, journey: journeySlug }: Filters,
  findSubtree: (slug: string) => Promise<{ ids: number[] } | undefined>,
): Promise<{ event_ids: number[] | null; journey_id: number | null }> {
  const [holon, journey, people] = await Promise.all([
    holonSlug === undefined ? undefined : findSubtree(holonSlug),
    journeySlug === undefined ? undefined : directory.findJourneyBySlug(journeySlug),
    personId === undefined || !isPossibleId(personId) ? undefined : directory.people.getMany([personId]),
  ]);
  const missing =
    (holonSlug !== undefined && holon === undefined) ||
    (journeySlug !== undefined && journey?.isConversation !== true) ||
    (personId !== undefined && people?.has(personId) !== true);
  if (missing) throw notFound();
  return { event_ids: holon?.ids ?? null, journey_id: journey?.id ?? null };
}

const toCitation = (row: Awaited<ReturnType<typeof listCited>>[number]) => ({
  id: row.id,
  title: conversationTitle(row),
  start: instantOrNull(row.start),
});

async function cite(
  { access, db, directory }: Dependencies,
  { ids }: RequestOf<Rpcs['citeConversations']>,
  context: CallContext,
): Promise<ReplyOf<Rpcs['citeConversations']>> {
  const visibility = new HolonVisibility(directory, context);
  const [rows, scope] = await Promise.all([listCited(db, { ids }), access.findScope(context)]);
  const holons = await visibility.lookUp(rows.flatMap((row) => row.event_id ?? []));
  const readable = rows.filter(
    (row) => (row.event_id === null || !holons.isHidden(row.event_id)) && (scope === undefined || isWithin(scope, row)),
  );
  return { items: readable.map(toCitation) };
}

/** Returns the scope of an account, like `resolveFilters` without filters. */
async function resolveReader(
  deps: Dependencies,
  { reader }: RequestOf<Rpcs['resolveReaderFilters']>,
  context: RequestContext,
): Promise<ReplyOf<Rpcs['resolveReaderFilters']>> {
  const { scope, hidden_event_ids: hidden } = await resolveFilters(deps, {}, asReader(context, reader));
  return { scope, hidden_event_ids: hidden };
}

/** Returns the conversations that an account can read, like `cite`. */
async function listReadable(
  deps: Dependencies,
  { reader, ids }: RequestOf<Rpcs['listReadable']>,
  context: RequestContext,
): Promise<ReplyOf<Rpcs['listReadable']>> {
  const { items } = await cite(deps, { ids }, asReader(context, reader));
  return { items: items.map(({ id }) => ({ id })) };
}

/**
 * Returns a context for decisions within this service on behalf of an account. Further calls use the service's own
 * account (docs/adr/signed-actors.md).
 */
function asReader(
  context: CallContext,
  { account_id: accountId, person_id: personId, ...rights }: Reader,
): CallContext {
  const { superuser, global_editor: globalEditor, coherence_access: coherenceAccess } = rights;
  return {
    ...withoutActor(context),
    actor: { kind: 'user', accountId, personId, superuser, globalEditor, coherenceAccess },
  };
}

async function listAccessFacts(
  { db }: Dependencies,
  { ids }: RequestOf<Rpcs['listAccessFacts']>,
): Promise<ReplyOf<Rpcs['listAccessFacts']>> {
  const rows = await listFacts(db, { ids });
  return { items: rows.map(({ participants, ...row }) => ({ ...row, participant_ids: idsFromSql(participants) })) };
}
