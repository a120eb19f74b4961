/** Handles find-or-create of active conversations (rules/conversations#find-or-create). */
import { isPossibleId, type RequestOf } from '#libs/infrastructure/contract';
import { AppError, appError } from '#libs/infrastructure/errors';
import { jsonListStream, type JsonStream, rawJson, type RawJson, type RequestContext } from '#libs/infrastructure/nats';
import type { Database } from '#libs/infrastructure/orm';
import { formatInstant, parseInstant } from '#libs/infrastructure/time';
import type { conversations } from '../../contract.ts';
import type { Dependencies, Operations } from '../../dependencies.ts';
import type { CachedJourney } from '../../directory-cache/index.ts';
import { emitCreated } from '../../feed/index.ts';
import { enterStep } from '../../pipeline/index.ts';
import { isWithin, type Scope, scopeValues } from '../../access.ts';
import { holdReferences } from '../../references.ts';
import { type ConversationRow, insertConversation } from '../../statements.ts';
import { firstStep } from '../../directory-cache/index.ts';
import { listActive, listActiveWithin, lockPersonAndJourney } from '../statements.ts';

/** Maximum number of matches in one reply. More matches are streamed from a cursor. */
const inlineMatches = 50;

const streamBatch = 200;

export function createFindOrCreateHandlers(dependencies: Dependencies): Pick<Operations, 'findActive'> {
  return {
    findActive: (request, context) => findActive(dependencies, request, context),
  };
}

/**
 * GET /conversations: returns the active conversations of a person and journey at the caller's time. Creates a
 * conversation when no conversation is active.
 * @throws AppError 404 `person_not_found`, 404 `journey_not_found`, 404 for conversations that the caller cannot access
 * (D69), 409 `journey_ownership_ambiguous` (D3); in this order
 */
async function findActive(
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
  // People can always find and create their own conversations (D69).
  const isOwn = access.restrictedUser(context.actor)?.personId === request.person_id;
  const query: ActiveQuery = {
    journey,
    personId: request.person_id,
    time,
    scope: isOwn ? undefined : await access.findScope(context),
  };
  const rows = await listVisible(db, query, inlineMatches + 1);
  if (rows.length > inlineMatches) return jsonListStream(renderVisible(dependencies, query));
  const found = rows.length > 0 ? rows : await createUnscheduled(dependencies, query, context);
  return rawJson(`[${(await view.renderMany(found)).join(',')}]`);
}

async function requirePerson({ directory }: Dependencies, id: number): Promise<void> {
  const known = isPossibleId(id) && (await directory.people.getMany([id])).has(id);
  if (!known) throw appError('not_found', 'person_not_found', 'No such person on this instance; ids are per instance.');
}

/** Returns the caller's time for PostgreSQL. A time without an offset is in UTC (rules/http#datetimes-in). */
function readTime(text: string): string {
  const parsed = parseInstant(text);
  if (parsed.kind === 'invalid') throw new AppError({ code: 'unprocessable', message: 'time is not a datetime.' });
  return formatInstant(parsed.instant);
}

/** A query for active conversations. `scope` restricts the result to conversations that the caller can access. */
interface ActiveQuery {
  readonly journey: CachedJourney;
  readonly personId: number;
  readonly time: string;
  readonly scope: Scope | undefined;
}

/** Returns the active conversations that the caller can access, up to `limit`. */
function listVisible(
  db: Database,
  { journey, personId, time, scope }: ActiveQuery,
  limit: number,
): Promise<ConversationRow[]> {
  const values = { personId, journeyId: journey.id, time, limit };
  return scope === undefined ? listActive(db, values) : listActiveWithin(db, { ...values, ...scopeValues(scope) });
}

async function* renderVisible(
  { db, view }: Dependencies,
  { journey, personId, time, scope }: ActiveQuery,
): AsyncGenerator<string[]> {
  const values = { personId, journeyId: journey.id, time, limit: null };
  const options = { batchSize: streamBatch };
  const batches =
    scope === undefined
      ? listActive.stream(db, values, options)
      : listActiveWithin.stream(db, { ...values, ...scopeValues(scope) }, options);
  for await (const rows of batches) yield await view.renderMany(rows);
}

/**
 * Creates a conversation that starts at the caller's time without a finish, at the first active step. The journey's
 * only event owns it (D1).
 * @throws AppError 404 when the caller cannot access the existing or new conversation; 409
 * `journey_ownership_ambiguous`
 */
async function createUnscheduled(
  deps: Dependencies,
  { journey, personId, time, scope }: ActiveQuery,
  context: RequestContext,
): Promise<ConversationRow[]> {
  const { jobs, eventOutbox, pipeline, refusals } = deps;
  return jobs.transaction(async (tx) => {
    await lockPersonAndJourney(tx, { personId, journeyId: journey.id });
    const others = await listActive(tx, { personId, journeyId: journey.id, time, limit: inlineMatches });
    const known = scope === undefined ? others : others.filter((row) => isWithin(scope, row));
    if (known.length > 0) return known;
    const [eventId, ...more] = journey.ownerEventIds;
    if (others.length > 0 || scope?.eventIds.includes(eventId ?? 0) === false) throw refusals.access();
    if (eventId === undefined || more.length > 0) {
      throw appError('conflict', 'journey_ownership_ambiguous', 'The journey is not owned by exactly one event.');
    }
    const step = firstStep(journey.steps);
    await holdReferences(deps, tx, { journeyId: journey.id, stepId: step?.id, holonIds: [eventId] });
    const row = await insertConversation(tx, {
      journeyId: journey.id,
      stepId: step?.id,
      eventId,
      start: time,
      finish: null,
      participantIds: [personId],
      config: '{}',
    });
    emitCreated(eventOutbox, tx, row, journey);
    await enterStep({ jobs, eventOutbox, pipeline }, tx, row.id, { journey, step }, 'created', context);
    return [row];
  });
}
