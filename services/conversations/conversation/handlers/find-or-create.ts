/** Find-or-create (rules/conversations#find-or-create). */
import type { RequestOf } from '#libs/contract';
import { AppError, appError } from '#libs/errors';
import { jsonStream, type JsonStream, rawJson, type RawJson, type RequestContext } from '#libs/nats';
import type { Statement } from '#libs/orm';
import { formatInstant, parseInstant } from '#libs/time';
import { isWithin, type Scope } from '../../access.ts';
import type { conversations } from '../../contract.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { CachedJourney } from '../../directory-cache/index.ts';
import { isPossibleId } from '../../ids.ts';
import { enterStep } from '../../pipeline/index.ts';
import type { ConversationRow } from '../../representation.ts';
import { insertConversation } from '../../statements.ts';
import { firstStep } from '../../step.ts';
import * as sql from '../statements.ts';

/** Matches that one reply holds; more are streamed from a cursor. */
const inlineMatches = 50;

const streamBatch = 200;

/**
 * GET /conversations: what is active for the person and journey at the caller's time; one is created when nothing is.
 * @throws AppError 404 `person_not_found`, then 404 `journey_not_found`, then 404 for another person's that the caller may not know (D69),
 *   then 409 `journey_ownership_ambiguous` (D3)
 */
export async function findActive(
  dependencies: Dependencies,
  request: RequestOf<typeof conversations.rpcs.findActive>,
  context: RequestContext,
): Promise<RawJson | JsonStream> {
  const { db, directory, view, access } = dependencies;
  await requirePerson(dependencies, request.person_id);
  const journey = await directory.findJourneyBySlug(request.journey);
  if (journey === undefined || !journey.isConversation) {
    throw appError('not_found', 'journey_not_found', 'No conversation journey has that slug.');
  }
  const time = readTime(request.time);
  // Everybody finds and creates their own; others' only as far as they may know it (D69).
  const isOwn = access.narrowed(context.actor)?.personId === request.person_id;
  const wanted: Wanted = { journey, personId: request.person_id, time, scope: isOwn ? undefined : await access.findScope(context) };
  const find = findWithin(wanted);
  const rows = await db.query<ConversationRow>(find.statement, [...find.params, inlineMatches + 1]);
  if (rows.length > inlineMatches) return jsonStream(streamMatches(dependencies, find));
  const found = rows.length > 0 ? rows : await createUnscheduled(dependencies, wanted, context);
  return rawJson(`[${(await view.renderMany(found)).join(',')}]`);
}

async function requirePerson({ directory }: Dependencies, id: number): Promise<void> {
  const known = isPossibleId(id) && (await directory.people.getMany([id])).has(id);
  if (!known) throw appError('not_found', 'person_not_found', 'No such person on this instance; ids are per instance.');
}

/** The caller's time for PostgreSQL; without an offset it is UTC (rules/http#datetimes-in). */
function readTime(text: string): string {
  const parsed = parseInstant(text);
  if (parsed.kind === 'invalid') throw new AppError({ code: 'unprocessable', message: 'time is no datetime.' });
  return formatInstant(parsed.instant);
}

/** What somebody asks for; `scope` is what of it they may know. */
interface Wanted {
  readonly journey: CachedJourney;
  readonly personId: number;
  readonly time: string;
  readonly scope: Scope | undefined;
}

/** The look-up, but for its last parameter, the limit. */
function findWithin({ journey, personId, time, scope }: Wanted): { statement: Statement; params: unknown[] } {
  const params = [personId, journey.id, time];
  if (scope === undefined) return { statement: sql.findActive, params };
  return { statement: sql.findActiveWithin, params: [...params, scope.personId, scope.eventIds] };
}

async function* streamMatches(
  { db, view }: Dependencies,
  { statement, params }: { statement: Statement; params: readonly unknown[] },
): AsyncGenerator<string> {
  let separator = '[';
  for await (const rows of db.stream<ConversationRow>(statement, [...params, null], { batch: streamBatch })) {
    yield separator + (await view.renderMany(rows)).join(',');
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

/**
 * D1: starts at the caller's time, open-ended, at the first active step, owned by the journey's only event.
 * @throws AppError 404 when what is there, or would be, is nothing that the caller may know; 409 `journey_ownership_ambiguous`
 */
async function createUnscheduled(
  { jobs, pipeline, refusals }: Dependencies,
  { journey, personId, time, scope }: Wanted,
  context: RequestContext,
): Promise<ConversationRow[]> {
  return jobs.transaction(async (tx) => {
    await tx.query(sql.lockPersonAndJourney, [personId, journey.id]);
    const others = await tx.query<ConversationRow>(sql.findActive, [personId, journey.id, time, inlineMatches]);
    const known = scope === undefined ? others : others.filter((row) => isWithin(scope, row));
    if (known.length > 0) return known;
    const [eventId, ...more] = journey.ownerEventIds;
    if (others.length > 0 || scope?.eventIds.includes(eventId ?? 0) === false) throw refusals.access();
    if (eventId === undefined || more.length > 0) {
      throw appError('conflict', 'journey_ownership_ambiguous', 'The journey is not owned by exactly one event.');
    }
    const step = firstStep(journey.steps);
    const rows = await tx.query<ConversationRow>(insertConversation, [journey.id, step?.id ?? null, eventId, time, null, [personId], '{}']);
    for (const row of rows) await enterStep({ jobs, pipeline }, tx, row.id, step, 'created', context);
    return rows;
  });
}
