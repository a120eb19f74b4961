/** Operations for other services: look-ups, and setting `infos.audio` after an upload (rules/media#audio-upload). */
import type { ReplyOf, RequestOf } from '#libs/infrastructure/contract';
import { notFound } from '#libs/infrastructure/errors';
import { isJsonObject } from '#libs/infrastructure/json';
import type { RequestContext } from '#libs/infrastructure/nats';
import type { conversations } from '../../contract.ts';
import type { Dependencies, Operations } from '../../dependencies.ts';
import { requireId } from '../../guards.ts';
import { conversationTitle } from '../../publishing.ts';
import { DataTooLarge, maxDataBytes } from '../../refusals.ts';
import { idsFromSql, instantOrNull } from '../../representation.ts';
import { parseRoom, roomWindow } from '../../room/index.ts';
import { findConversation, findConversationId } from '../../statements.ts';
import { describeConversation, measureWithAudio } from '../statements.ts';
import { attachIn, type Attachment } from '../workers.ts';

type Rpcs = typeof conversations.rpcs;

export function createLookupHandlers(
  dependencies: Dependencies,
): Pick<Operations, 'describe' | 'exists' | 'getTranscriptSource' | 'attachAudio' | 'checkAudio'> {
  return {
    describe: (request, context) => describe(dependencies, request, context),
    exists: (request, context) => exists(dependencies, request, context),
    getTranscriptSource: (request) => getTranscriptSource(dependencies, request),
    attachAudio: (request) => attach(dependencies, request),
    checkAudio: (request) => check(dependencies, request),
  };
}

/** Returns title, journey, event, times and participants of a conversation. @throws AppError 404 */
async function describe(
  { db, directory, access }: Dependencies,
  request: RequestOf<Rpcs['describe']>,
  context: RequestContext,
): Promise<ReplyOf<Rpcs['describe']>> {
  await access.require(request.id, context);
  const row = await describeConversation(db, { id: requireId(request.id) });
  if (row === undefined) throw notFound();
  const ids = idsFromSql(row.participants);
  const [people, holons, journeys] = await Promise.all([
    directory.people.getMany(ids),
    directory.holons.getMany(row.event_id === null ? [] : [row.event_id]),
    directory.journeys.getMany(row.journey_id === null ? [] : [row.journey_id]),
  ]);
  const event = holons.get(row.event_id ?? 0);
  const journey = journeys.get(row.journey_id ?? 0);
  return {
    id: row.id,
    title: conversationTitle(row),
    journey_slug: journey?.slug ?? '',
    journey_name: journey?.name ?? '',
    event: event === undefined ? null : { id: event.id, slug: event.slug, name: event.name },
    start: instantOrNull(row.start),
    finish: instantOrNull(row.finish),
    participants: ids.flatMap((id) => {
      const person = people.get(id);
      return person === undefined ? [] : [{ id, name: person.name }];
    }),
  };
}

/** Checks that a conversation exists. @throws AppError 404 */
async function exists(
  { db, access }: Dependencies,
  request: RequestOf<Rpcs['exists']>,
  context: RequestContext,
): Promise<ReplyOf<Rpcs['exists']>> {
  await access.require(request.id, context);
  const row = await findConversationId(db, { id: requireId(request.id) });
  if (row === undefined) throw notFound();
  return row;
}

/** Returns meeting, transcript window, speakers and step of a conversation. @throws AppError 404 */
async function getTranscriptSource(
  { db }: Dependencies,
  request: RequestOf<Rpcs['getTranscriptSource']>,
): Promise<ReplyOf<Rpcs['getTranscriptSource']>> {
  const row = await findConversation(db, { id: requireId(request.conversation_id) });
  if (row === undefined) throw notFound();
  const room = parseRoom(row.room);
  const window = roomWindow(room);
  const meetingId = room?.['meetingId'];
  const recordingId = room?.['recordingId'];
  const participants = room?.['participants'];
  return {
    conversation_id: row.id,
    meeting_id: typeof meetingId === 'string' ? meetingId : null,
    recording_id: typeof recordingId === 'string' ? recordingId : null,
    window: { conversation_started_at: window.conversationStartedAt, capture_ended_at: window.captureEndedAt },
    participants: Array.isArray(participants) ? participants.flatMap(toSpeaker) : [],
    current_step_id: row.step_id,
  };
}

function toSpeaker(item: unknown): ReplyOf<Rpcs['getTranscriptSource']>['participants'] {
  if (!isJsonObject(item)) return [];
  const { customParticipantId, personId, displayName } = item;
  if (typeof customParticipantId !== 'string') return [];
  return [
    {
      customParticipantId,
      personId: typeof personId === 'number' && Number.isInteger(personId) ? personId : null,
      displayName: typeof displayName === 'string' ? displayName : null,
    },
  ];
}

/** Sets `infos.audio` and adds a note, once per blob. A blob never replaces a newer one. @throws AppError 404 */
async function attach(
  { db, eventOutbox }: Dependencies,
  request: Attachment,
): Promise<ReplyOf<typeof conversations.rpcs.attachAudio>> {
  await db.transaction((tx) => attachIn(eventOutbox, tx, request));
  return { audio: request.audio };
}

/**
 * Checks that `infos` remains within the size limit with the audio. @throws AppError 404, 413
 * `conversation_data_too_large`
 */
async function check(
  { db }: Dependencies,
  { conversation_id: id, audio }: RequestOf<typeof conversations.rpcs.checkAudio>,
): Promise<ReplyOf<typeof conversations.rpcs.checkAudio>> {
  const row = await measureWithAudio(db, { id: requireId(id), audio: JSON.stringify(audio) });
  if (row === undefined) throw notFound();
  if (row.bytes > maxDataBytes) throw new DataTooLarge('infos');
  return { ok: true };
}
