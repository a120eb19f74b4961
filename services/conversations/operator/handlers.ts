/** Conversations for the admin CLI (rules/cli#admin-cli; D6, D7a, D29). */
import { recordAudit } from '#libs/audit';
import { isPossibleId, type ReplyOf, type RequestOf } from '#libs/contract';
import { appError, notFound } from '#libs/errors';
import { parseJson } from '#libs/json';
import type { RequestContext } from '#libs/nats';
import { formatInstant } from '#libs/time';
import { conversations } from '../contract.ts';
import { retentionMicros, findAnyConversation } from '../deletion/index.ts';
import type { Dependencies, Operations } from '../dependencies.ts';
import type { CachedHolon } from '../directory-cache/index.ts';
import { emitUpdated } from '../feed/index.ts';
import { requireId, requireOperator } from '../guards.ts';
import { enterStep, transcriptImportJob } from '../pipeline/index.ts';
import { conversationTitle } from '../publishing.ts';
import { idsFromSql, instantFromSql, instantOrNull, parseSqlInstant } from '../representation.ts';
import { addNote, findConversation, findConversationId, lockConversation, moveConversation } from '../statements.ts';
import { connectHolon, disconnectHolon, listConversations, type ListedRow } from './statements.ts';

type Rpcs = typeof conversations.rpcs;

type Listed = ReplyOf<Rpcs['adminList']>['items'][number];

export function createOperatorHandlers(
  dependencies: Dependencies,
): Pick<Operations, 'adminList' | 'adminShow' | 'adminMove' | 'adminConnect' | 'adminDisconnect' | 'importTranscript'> {
  return {
    adminList: (request) => list(dependencies, request),
    adminShow: (request) => show(dependencies, request),
    adminMove: (request, context) => move(dependencies, request, context),
    adminConnect: (request, context) => connect(dependencies, request, context),
    adminDisconnect: (request, context) => disconnect(dependencies, request, context),
    importTranscript: (request, context) => importTranscript(dependencies, request, context),
  };
}

/** Returns conversations, newest first. @throws AppError 404 `journey_not_found`, `holon_not_found` */
async function list(
  dependencies: Dependencies,
  {
    journey_slug: journey,
    event_slug: event,
    person_id: person,
    since,
    until,
    before,
    limit,
  }: RequestOf<Rpcs['adminList']>,
): Promise<ReplyOf<Rpcs['adminList']>> {
  const { db, directory } = dependencies;
  const [journeyId, eventId] = await Promise.all([
    journey === undefined ? null : requireFound(directory.findJourneyBySlug(journey), 'journey', journey),
    event === undefined ? null : requireFound(directory.findHolonBySlug(event), 'holon', event),
  ]);
  const rows = await listConversations(db, {
    journeyId,
    eventId,
    personId: person,
    since,
    until,
    before,
    limit: limit + 1,
  });
  const items = await describeAll(dependencies, rows.slice(0, limit));
  return { items, next: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
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
  request: RequestOf<Rpcs['adminShow']>,
): Promise<ReplyOf<Rpcs['adminShow']>> {
  const { db, directory, config } = dependencies;
  const row = await findAnyConversation(db, { id: requireId(request.conversation_id) });
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

/**
 * Moves a conversation to any step of its journey, including archived steps, and adds a note. @throws AppError 404, 404
 * `step_not_found`
 */
async function move(
  { db, jobs, eventOutbox, directory, pipeline }: Dependencies,
  request: RequestOf<Rpcs['adminMove']>,
  context: RequestContext,
): Promise<ReplyOf<Rpcs['adminMove']>> {
  const id = requireId(request.conversation_id);
  const row = await findConversation(db, { id });
  if (row === undefined) throw notFound();
  const journey =
    row.journey_id === null ? undefined : (await directory.journeys.getMany([row.journey_id])).get(row.journey_id);
  const target = journey?.steps.find((step) => step.slug === request.step_slug);
  if (target === undefined)
    throw appError('not_found', 'step_not_found', `The conversation's journey has no step "${request.step_slug}".`);
  return jobs.transaction(async (tx) => {
    const locked = await lockConversation(tx, { id });
    if (locked === undefined) throw notFound();
    const from = journey?.steps.find((step) => step.id === locked.step_id);
    const reply = { conversation_id: id, from: from?.slug ?? '', to: target.slug };
    if (locked.step_id === target.id) return { ...reply, changed: false };
    await moveConversation(tx, { id, to: target.id, from: locked.step_id });
    const body = `Moved by ${request.operator}: ${from?.title ?? 'no step'} → ${target.title}`;
    await addNote(tx, { conversationId: id, key: null, type: 'step_change', body, authorPersonId: null });
    await enterStep({ jobs, eventOutbox, pipeline }, tx, id, { journey, step: target }, 'command', context);
    await jobs.emit(tx, conversations.events.changed, { id });
    recordAudit(tx, context, { target: { type: 'conversation', id }, changes: { from: reply.from, to: reply.to } });
    return { ...reply, changed: true };
  });
}

/** Links a conversation to a holon. @throws AppError 404, 404 `holon_not_found` */
async function connect(
  dependencies: Dependencies,
  request: RequestOf<Rpcs['adminConnect']>,
  context: RequestContext,
): Promise<ReplyOf<Rpcs['adminConnect']>> {
  return link(dependencies, request, connectHolon, context);
}

/** Removes the link between a conversation and a holon. @throws AppError 404, 404 `holon_not_found` */
async function disconnect(
  dependencies: Dependencies,
  request: RequestOf<Rpcs['adminDisconnect']>,
  context: RequestContext,
): Promise<ReplyOf<Rpcs['adminDisconnect']>> {
  return link(dependencies, request, disconnectHolon, context);
}

async function link(
  dependencies: Dependencies,
  request: { conversation_id: number; holon_slug: string },
  change: typeof connectHolon,
  context: RequestContext,
): Promise<{ conversation_id: number; changed: boolean }> {
  const { db, jobs, eventOutbox } = dependencies;
  const id = requireId(request.conversation_id);
  if ((await findConversationId(db, { id })) === undefined) throw notFound();
  const holon = await requireHolon(dependencies, request.holon_slug);
  const changed = await jobs.transaction(async (tx) => {
    const row = await change(tx, { id, holonId: holon.id });
    if (row === undefined) return false;
    emitUpdated(eventOutbox, tx, id);
    await jobs.emit(tx, conversations.events.changed, { id });
    recordAudit(tx, context, { target: { type: 'conversation', id }, changes: { holon_id: holon.id } });
    return true;
  });
  return { conversation_id: id, changed };
}

async function requireHolon({ directory }: Dependencies, slug: string): Promise<CachedHolon> {
  const holon = await directory.findHolonBySlug(slug);
  if (holon === undefined) throw appError('not_found', 'holon_not_found', `No holon has the slug "${slug}".`);
  return holon;
}

/** Starts the transcript import at any step. @throws AppError 404 */
async function importTranscript(
  { db, jobs }: Dependencies,
  request: RequestOf<Rpcs['importTranscript']>,
  context: RequestContext,
): Promise<ReplyOf<Rpcs['importTranscript']>> {
  requireOperator(context.actor);
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
