/** Clients that request deferred effects. Each request has a key, and its effect must happen exactly once. */
import { randomUUID } from 'node:crypto';
import type { Client } from '../client.ts';
import { describeFind } from './objects.ts';

type Step = () => Promise<void>;

const importedFrom = Date.UTC(2022, 0, 1);
/** Telegram chats of the bot. A blocked chat must not delay the other chats. */
const chats = { from: 9_000, count: 8 } as const;

export async function writeToBot(client: Client): Promise<Step> {
  const { workspace } = client.target;
  let count = 0;
  return async () => {
    const id = ++count;
    const chatId = chats.from + (id % chats.count);
    const message = {
      message_id: id,
      date: 1,
      from: { id: chatId, is_bot: false },
      chat: { id: chatId, type: 'private' },
      text: `update ${id}`,
    };
    await client.insist({
      kind: 'telegram webhook',
      object: 'update',
      input: { do: 'effect', key: `${id}` },
      method: 'POST',
      path: `/api/hook/agents/${workspace.agent}`,
      json: { update_id: id, message },
      token: null,
      headers: { 'x-telegram-bot-api-secret-token': workspace.telegramSecret },
    });
  };
}

/**
 * Sends messages to an agent. A message that is repeated with the same `Idempotency-Key` is one turn, however often it
 * is sent.
 */
export async function chat(client: Client): Promise<Step> {
  let visitor: string | undefined;
  let count = 0;
  return async () => {
    const body = `question ${count++}.`;
    const { json } = await client.insist({
      kind: 'chat',
      object: 'turn',
      input: { do: 'effect', key: body },
      method: 'POST',
      path: `/api/chat/${client.target.workspace.agent}/message/`,
      json: { body, ...(visitor === undefined ? {} : { visitor_id: visitor }) },
      headers: { 'idempotency-key': randomUUID() },
      token: null,
    });
    visitor ??= (json as { visitor_id?: string } | undefined)?.visitor_id;
  };
}

export async function makePerson(client: Client): Promise<Step> {
  let count = 0;
  return async () => {
    const name = `Made ${count++}`;
    await client.insist({
      kind: 'v1 create',
      object: 'person',
      input: { do: 'effect', key: name },
      method: 'POST',
      path: '/api/v1/people',
      json: { name },
      headers: { 'idempotency-key': `make-${name.replace(' ', '-')}` },
      token: client.target.workspace.session,
    });
  };
}

/** Requests the transcript import of a recorded conversation from the meeting provider. */
export async function importTranscript(client: Client): Promise<Step> {
  const { workspace, provider } = client.target;
  const person = workspace.people[client.number] ?? 0;
  let count = 0;
  return async () => {
    const time = new Date(importedFrom - count++ * 3_600_000).toISOString().replace('.000', '');
    const { output: id } = await client.insist(describeFind(person, workspace.importJourney, time));
    if (typeof id !== 'number') return;
    const [meetingId, sessionId] = [`m-${id}`, `s-${id}`];
    provider.addSession({
      id: sessionId,
      meetingId,
      startedAt: '2026-05-01T09:50:00.000Z',
      endedAt: '2026-05-01T11:10:00.000Z',
    });
    const peerData = { id: 'p', userId: 'u', cpi: 'c', displayName: 'Ada' };
    const row = { startTime: 700_000, endTime: 702_000, sentence: 'Welcome.', peerData };
    provider.setArtifact(sessionId, { bytes: JSON.stringify([row]), contentType: 'application/json' });
    const path = `/api/coherence/conversations/${id}`;
    const about = { input: { do: 'effect', key: `${id}` }, method: 'POST' } as const;
    const { outcome } = await client.insist({
      ...about,
      kind: 'POST room',
      object: 'window',
      path: `${path}/enter-coherence`,
      json: {
        meetingId,
        participants: [{ customParticipantId: 'c', personId: person, displayName: 'Ada' }],
        conversationStartedAt: '2026-05-01T10:00:00Z',
        captureEndedAt: '2026-05-01T11:00:00Z',
      },
    });
    if (outcome !== 'done') return;
    const headers = { 'idempotency-key': 'once' };
    await client.insist({ ...about, kind: 'recorded', object: 'import', path: `${path}/recorded`, json: {}, headers });
  };
}
