/** Scene 2: participants join the meeting room, the transcript window is approved, and the recording ends. */
import { randomUUID } from 'node:crypto';
import type { ConversationOut } from '#services/conversations';
import type { Meeting, Speaker } from './artifact.ts';
import { formatTime, type Narrator } from './narrator.ts';
import { callApi, type DemoPlatform } from './platform.ts';

export interface MeetingRoom {
  meetingId: string;
  speakers: Speaker[];
}

/**
 * Claims a name in the room for each participant, so that the platform knows the provider's meeting and its
 * participants.
 */
export async function claimRoom(
  platform: DemoPlatform,
  narrator: Narrator,
  conversation: ConversationOut,
  meeting: Meeting,
): Promise<MeetingRoom> {
  narrator.step(
    'The room is claimed',
    "The meeting page tells the platform who is in the room: the provider's meeting, and for each participant an id that connects what is said with a person.",
  );
  const meetingId = `demo-${randomUUID()}`;
  const speakers = conversation.participants.map((person) => ({
    customParticipantId: `person-${person.id}-${meetingId.slice(5, 9)}`,
    displayName: person.name,
    personId: person.id,
  }));
  const at = formatTime(meeting.startedAtMs);
  const reply = await writeRoom(platform, conversation.id, {
    phase: 'conversation',
    version: 1,
    meetingId,
    claims: Object.fromEntries(speakers.map(({ displayName, personId }) => [displayName, { personId, claimedAt: at }])),
    participants: speakers.map((speaker) => ({ ...speaker, assignedAt: at })),
  });
  narrator.result(
    `POST /api/coherence/conversations/${conversation.id}/enter-coherence → ${reply.participantCount} participants, phase "${reply.phase}"`,
  );
  return { meetingId, speakers };
}

/** Stores the approved transcript window. Speech outside of the window must never be stored. */
export async function storeWindow(
  platform: DemoPlatform,
  narrator: Narrator,
  conversationId: number,
  meeting: Meeting,
): Promise<void> {
  narrator.step(
    'The transcript window is stored',
    'Everyone agreed to be recorded at one moment, and the microphones went off at another. Only what was said wholly between them may be kept. ' +
      'Each boundary is write-once.',
  );
  const started = await writeRoom(platform, conversationId, {
    conversationStartedAt: formatTime(meeting.windowStartMs),
  });
  narrator.result(`start ${started.conversationStartedAt}, complete: ${started.transcriptWindowComplete}`);
  const ended = await writeRoom(platform, conversationId, {
    captureEndedAt: formatTime(meeting.windowEndMs),
    phase: 'exit-lounge',
  });
  narrator.result(`end   ${ended.captureEndedAt}, complete: ${ended.transcriptWindowComplete}`);
  const later = formatTime(meeting.windowEndMs + 600_000);
  const path = `/api/coherence/conversations/${conversationId}/enter-coherence`;
  const conflict = await callApi(platform, 'POST', path, { json: { captureEndedAt: later }, expect: 409 });
  narrator.result(`ten minutes more? ${conflict.status} ${(conflict.json as { error: string }).error}`);
}

/** Calls `/recorded` twice with one key: the second call has no further effect. */
export async function markRecorded(platform: DemoPlatform, narrator: Narrator, before: ConversationOut): Promise<void> {
  narrator.step(
    'The conversation is recorded',
    'The meeting page says so. The conversation moves to its next step, whose job imports the transcript. The page may say it twice: with the same Idempotency-Key nothing is done again.',
  );
  const key = randomUUID();
  const path = `/api/coherence/conversations/${before.id}/recorded`;
  const first = (await callApi(platform, 'POST', path, { headers: { 'idempotency-key': key } }))
    .json as ConversationOut;
  narrator.result(`"${before.step_title}" → "${first.step_title}"`);
  await callApi(platform, 'POST', path, { headers: { 'idempotency-key': key } });
  narrator.result('repeated with the same key: accepted, nothing done again');
}

interface RoomReply {
  phase: string | null;
  participantCount: number;
  conversationStartedAt?: string | null;
  captureEndedAt?: string | null;
  transcriptWindowComplete?: boolean;
}

async function writeRoom(platform: DemoPlatform, conversationId: number, json: unknown): Promise<RoomReply> {
  return (await callApi(platform, 'POST', `/api/coherence/conversations/${conversationId}/enter-coherence`, { json }))
    .json as RoomReply;
}
