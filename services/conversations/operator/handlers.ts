/** Conversations for operators (rules/operations-api, rules/cli#admin-cli; D7a). */
import { requireOpsOperator, requireOpsReader } from '#libs/infrastructure/actor';
import { recordAudit } from '#libs/infrastructure/audit';
import { type Actor, isPossibleId, type ReplyOf, type RequestOf } from '#libs/infrastructure/contract';
import { decodeCursor, encodeCursor } from '#libs/infrastructure/cursor';
import { type AppError, appError, notFound } from '#libs/infrastructure/errors';
import { parseJson } from '#libs/infrastructure/json';
import type { RequestContext } from '#libs/infrastructure/nats';
import { formatInstant } from '#libs/infrastructure/time';
import type { conversations } from '../contract.ts';
import { findAnyConversation, listDeleted, retentionMicros } from '../deletion/index.ts';
import type { Dependencies, Operations } from '../dependencies.ts';
import { requireId } from '../guards.ts';
import { transcriptImportJob } from '../pipeline/index.ts';
import { conversationTitle } from '../publishing.ts';
import { idsFromSql, instantFromSql, instantOrNull, parseSqlInstant } from '../representation.ts';
import { findConversation } from '../statements.ts';
import { conversationsPerPage } from './contract.ts';
import { listConversations, type ListedRow } from './statements.ts';

type Rpcs = typeof conversations.rpcs;

type Listed = ReplyOf<Rpcs['listAllConversations']>['items'][number];

export function createOperatorHandlers(
  dependencies: Dependencies,
): Pick<Operations, 'listAllConversations' | 'showConversation' | 'listDeletedConversations' | 'importTranscript'> {
  return {
    listAllConversations: (request, { actor }) => list(dependencies, request, actor),
    showConversation: (request, { actor }) => show(dependencies, request, actor),
    listDeletedConversations: (request, { actor }) => describeDeleted(dependencies, request, actor),
    importTranscript: (request, context) => importTranscript(dependencies, request, context),
  };
}

/** Returns conversations, newest first. @throws AppError 404 `journey_not_found`, `holon_not_found` */
async function list(
  dependencies: Dependencies,
  {
    journey_slug: journey,
    event_slug: event,
    person_id: personId,
    since,
    until,
    cursor,
    limit = conversationsPerPage,
  }: RequestOf<Rpcs['listAllConversations']>,
  actor: Actor | undefined,
): Promise<ReplyOf<Rpcs['listAllConversations']>> {
  requireOpsReader(actor);
  const [before] = cursor === undefined ? [null] : readCursor(lists.all, cursor);
  if (before !== null && !isId(before)) throw badCursor();
  const { db, directory } = dependencies;
  const [journeyId, eventId] = await Promise.all([
    journey === undefined ? null : requireFound(directory.findJourneyBySlug(journey), 'journey', journey),
    event === undefined ? null : requireFound(directory.findHolonBySlug(event), 'holon', event),
  ]);
  if (personId !== undefined && !isPossibleId(personId)) return { items: [], next: null };
  const rows = await listConversations(db, { journeyId, eventId, personId, since, until, before, limit: limit + 1 });
  const items = await describeAll(dependencies, rows.slice(0, limit));
  const last = rows.length > limit ? items.at(-1) : undefined;
  return { items, next: last === undefined ? null : encodeCursor([lists.all, last.id]) };
}

/** Names of the lists in their cursors: cursors of other lists are rejected. */
const lists = { all: 'conversations', deleted: 'deleted-conversations' } as const;

/** Returns the position in a cursor of the list. @throws AppError 400 `bad_cursor` */
function readCursor(list: string, cursor: string): unknown[] {
  const [name, ...position] = decodeCursor(cursor) ?? [];
  if (name !== list) throw badCursor();
  return position;
}

const isInstant = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]{8,15}Z$/.test(value) && !Number.isNaN(Date.parse(value));
const isId = (value: unknown): value is number => typeof value === 'number' && isPossibleId(value);

const badCursor = (): AppError =>
  appError('bad_request', 'bad_cursor', '`cursor` must be the `next` of an earlier page.');

/** Returns deleted conversations, latest deletion first. A cursor is the time of the deletion and the id. */
async function describeDeleted(
  { db, config }: Dependencies,
  { limit = conversationsPerPage, cursor }: RequestOf<Rpcs['listDeletedConversations']>,
  actor: Actor | undefined,
): Promise<ReplyOf<Rpcs['listDeletedConversations']>> {
  requireOpsReader(actor);
  const [at, id] = cursor === undefined ? [null, null] : readCursor(lists.deleted, cursor);
  if (at !== null && !isInstant(at)) throw badCursor();
  if (id !== null && !isId(id)) throw badCursor();
  const rows = await listDeleted(db, { at, id, limit: limit + 1 });
  const items = rows.slice(0, limit).map((row) => ({
    id: row.id,
    title: conversationTitle(row),
    deleted_at: instantFromSql(row.deleted_at),
    reason: row.reason,
    by: row.by,
    removed_from: formatInstant(parseSqlInstant(row.deleted_at) + retentionMicros(config)),
  }));
  const last = rows.length > limit ? items.at(-1) : undefined;
  return { items, next: last === undefined ? null : encodeCursor([lists.deleted, last.deleted_at, last.id]) };
}

async function requireFound(
  lookUp: Promise<{ id: number } | undefined>,
  what: 'journey' | 'holon',
  slug: string,
): Promise<number> {
  const found = await lookUp;
  if (found === undefined) throw appError('not_found', `${what}_not_found`, `No ${what} has the slug "${slug}".`);
  return found.id;
}

/** Returns the rows with names from the directory, with one look-up each for people, holons and journeys. */
async function describeAll({ directory }: Dependencies, rows: readonly ListedRow[]): Promise<Listed[]> {
  const [findPerson, findHolon, findJourney] = await Promise.all([
    directory.people.lookUp(rows.flatMap((row) => idsFromSql(row.participants))),
    directory.holons.lookUp(rows.flatMap((row) => row.event_id ?? [])),
    directory.journeys.lookUp(rows.flatMap((row) => row.journey_id ?? [])),
  ]);
  return rows.map((row) => {
    const journey = row.journey_id === null ? undefined : findJourney(row.journey_id);
    const people = idsFromSql(row.participants).map((id) => findPerson(id));
    return {
      id: row.id,
      title: conversationTitle(row),
      journey: journey?.slug ?? null,
      step: journey?.steps.find(({ id }) => id === row.step_id)?.slug ?? null,
      event: (row.event_id === null ? undefined : findHolon(row.event_id))?.slug ?? null,
      start: instantOrNull(row.start),
      finish: instantOrNull(row.finish),
      participants: people.flatMap((person) => (person === undefined ? [] : [{ id: person.id, name: person.name }])),
      updated_at: instantFromSql(row.updated_at),
    };
  });
}

/** Returns one conversation. @throws AppError 404 */
async function show(
  dependencies: Dependencies,
  request: RequestOf<Rpcs['showConversation']>,
  actor: Actor | undefined,
): Promise<ReplyOf<Rpcs['showConversation']>> {
  requireOpsReader(actor);
  const { db, directory, config } = dependencies;
  const row = await findAnyConversation(db, { id: requireId(request.id) });
  if (row === undefined) throw notFound();
  const [[facts], findHolon] = await Promise.all([
    describeAll(dependencies, [row]),
    directory.holons.lookUp(idsFromSql(row.connected)),
  ]);
  if (facts === undefined) throw notFound();
  const { deleted_at: deletedAt, reason, by, booking_id: bookingId } = row;
  return {
    ...facts,
    connected: idsFromSql(row.connected).flatMap((id) => {
      const holon = findHolon(id);
      return holon === undefined ? [] : [{ id, slug: holon.slug, name: holon.name }];
    }),
    infos: parseJson(row.infos),
    config: parseJson(row.config),
    room: row.room === null ? null : parseJson(row.room),
    audio_blob_id: row.audio_blob_id,
    booking: bookingId === null ? null : { id: bookingId, cancelled: row.booking_cancelled === true },
    import_key: row.import_key,
    notes: row.notes,
    created_at: instantFromSql(row.created_at),
    deleted:
      deletedAt === null || reason === null || by === null
        ? null
        : {
            deleted_at: instantFromSql(deletedAt),
            reason,
            by,
            removed_from: formatInstant(parseSqlInstant(deletedAt) + retentionMicros(config)),
          },
  };
}

/** Starts the transcript import at any step. @throws AppError 404 */
async function importTranscript(
  { db, jobs }: Dependencies,
  request: RequestOf<Rpcs['importTranscript']>,
  context: RequestContext,
): Promise<ReplyOf<Rpcs['importTranscript']>> {
  requireOpsOperator(context.actor);
  const { conversation_id: id } = request;
  const row = isPossibleId(id) ? await findConversation(db, { id }) : undefined;
  if (row === undefined) throw notFound('The conversation does not exist.');
  const payload = { conversation_id: id, step_id: row.step_id, cause: 'command' };
  const jobId = await jobs.transaction(async (tx) => {
    const job = await jobs.enqueue(tx, transcriptImportJob, payload, { requestId: context.requestId });
    recordAudit(tx, context, { target: { type: 'conversation', id }, changes: { job } });
    return job;
  });
  return { conversation_id: id, job_id: jobId };
}
