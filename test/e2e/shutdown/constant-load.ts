/**
 * Clients that send requests continuously, each on a persistent connection with a short pause between requests. Every
 * 2xx response is recorded, so that the effect of the request can be verified later.
 */
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { signBooking, type RealtimeKitServer } from '#libs/product/testing';
import { Agent, fetch, FormData, type RequestInit } from 'undici';
import type { Demo, TestPlatform } from '../test-platform.ts';

/** Acknowledged and failed requests. */
export interface Ledger {
  requests: number;
  /** `PATCH conversations: 503 …` for every response other than 2xx. */
  failures: string[];
  /** Conversation → number of the last acknowledged PATCH. */
  patched: Map<number, number>;
  /** Conversations that were found or created, with the person and time of the request. */
  found: { person: number; time: string; id: number }[];
  /** Conversation id → digest of the last acknowledged audio. */
  uploaded: Map<number, string>;
  /** Uid and start of bookings whose webhook was acknowledged. */
  booked: { uid: string; start: string }[];
  /** Conversations whose recording was reported, and which must get a transcript. */
  recorded: number[];
  /** Questions answered by the agent. */
  asked: string[];
}

export interface ConstantLoad {
  readonly ledger: Ledger;
  /** Ends the clients after their current request. */
  stop(): Promise<void>;
}

type Send = (what: string, method: string, path: string, init?: RequestInit) => Promise<any>;

/** Pause between two requests of a client. */
const thinkMs = 40;
/** The client timeout. It is longer than the longest request deadline, so that only hanging requests exceed it. */
const deadlineMs = 90_000;
const slowParts = 12;
const slowPartMs = 120;
const audioBytes = 48 * 1024;

export interface LoadOptions {
  platform: TestPlatform;
  demo: Demo;
  token: string;
  provider: RealtimeKitServer;
  agent: string;
  /** Tag for everything that this load creates; must be unique within a platform. */
  tag: string;
  /** Bookings of this load start from this time; other conversations are earlier. */
  from: Date;
  /**
   * Each client uses one person, because a conversation without an end matches every later request for the same person.
   */
  people: readonly number[];
  alsoRead: readonly string[];
}

export const clientCount = 12;

export function startConstantLoad(options: LoadOptions): ConstantLoad {
  const ledger: Ledger = {
    requests: 0,
    failures: [],
    patched: new Map(),
    found: [],
    uploaded: new Map(),
    booked: [],
    recorded: [],
    asked: [],
  };
  const stopping = new AbortController();
  const clients = [
    [3, readEverything],
    [2, patchOwn],
    [1, findOrCreate],
    [1, uploadQuickly],
    [1, uploadSlowly],
    [2, askAgent],
    [1, book],
    [1, reportRecording],
  ] as const;
  let index = 0;
  const running = clients.flatMap(([count, life]) =>
    Array.from({ length: count }, () =>
      runClient({ ...options, ledger, number: index++, stopping: stopping.signal }, life),
    ),
  );
  return {
    ledger,
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

interface Client extends LoadOptions {
  ledger: Ledger;
  number: number;
  stopping: AbortSignal;
}
type Life = (client: Client, send: Send) => Promise<() => Promise<void>>;

async function runClient(client: Client, life: Life): Promise<void> {
  const dispatcher = new Agent({ connections: 1, pipelining: 1 });
  const { ledger, platform } = client;
  const send: Send = async (what, method, path, init = {}) => {
    ledger.requests += 1;
    const headers = {
      authorization: `Bearer ${platform.sharedToken}`,
      ...(init.headers as Record<string, string> | undefined),
    };
    try {
      const signal = AbortSignal.timeout(deadlineMs);
      const response = await fetch(`${platform.baseUrl}${path}`, { method, ...init, headers, dispatcher, signal });
      const text = await response.text();
      if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 200)}`);
      return JSON.parse(text) as unknown;
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
      ledger.failures.push(`${new Date().toISOString()} ${what}: ${(error as Error).message}${cause}`);
      return undefined;
    }
  };
  try {
    const step = await life(client, send);
    while (!client.stopping.aborted) {
      await step();
      await sleep(thinkMs);
    }
  } finally {
    await dispatcher.destroy();
  }
}

const json = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json', ...headers },
});

const addHours = (from: Date, hours: number): string =>
  new Date(from.getTime() + hours * 3_600_000).toISOString().replace('.000', '');
const personOf = ({ people, number }: Client): number => people[number] ?? 0;

/** Creates a conversation. Each one is earlier than the previous one, so that no existing conversation matches. */
async function makeConversation(client: Client, send: Send, count: number): Promise<number | undefined> {
  const time = addHours(client.from, -count);
  const query = new URLSearchParams({ person_id: String(personOf(client)), journey: client.demo.journey, time });
  const found = await send('find or create', 'GET', `/api/coherence/conversations?${query.toString()}`);
  return found?.[0]?.id as number | undefined;
}

/** Creates the conversation of the client and returns its id. Retries until a request succeeds. */
async function ownConversation(client: Client, send: Send): Promise<number> {
  for (let count = 0; ; count += 1) {
    const id = await makeConversation(client, send, count);
    if (id !== undefined) return id;
    if (client.stopping.aborted) return 0;
  }
}

async function readEverything(client: Client, send: Send): Promise<() => Promise<void>> {
  const id = await ownConversation(client, send);
  const { demo, agent, token, platform } = client;
  const paths = [
    `/api/coherence/conversations/${id}`,
    `/api/coherence/conversations/${id}/transcript/import-evidence`,
    `/api/agents/${agent}/`,
    `/api/coherence/conversations/search?query=Ada`,
    `/api/coherence/journeys/${demo.journey}/steps`,
    ...client.alsoRead,
  ];
  let turn = 0;
  return async () => {
    const path = paths[turn++ % paths.length] ?? '';
    const authorization = `Bearer ${/\/(search|steps|v1)/.test(path) ? token : platform.sharedToken}`;
    await send(`GET ${path}`, 'GET', path, { headers: { authorization } });
  };
}

async function patchOwn(client: Client, send: Send): Promise<() => Promise<void>> {
  const id = await ownConversation(client, send);
  let count = 0;
  return async () => {
    count += 1;
    const answer = await send(
      'PATCH',
      'PATCH',
      `/api/coherence/conversations/${id}`,
      json({ infos: { count, [`k${count}`]: 1 } }),
    );
    if (answer !== undefined) client.ledger.patched.set(id, count);
  };
}

async function findOrCreate(client: Client, send: Send): Promise<() => Promise<void>> {
  let count = 0;
  return async () => {
    count += 1;
    const id = await makeConversation(client, send, count);
    if (id !== undefined)
      client.ledger.found.push({ person: personOf(client), time: addHours(client.from, -count), id });
  };
}

async function uploadQuickly(client: Client, send: Send): Promise<() => Promise<void>> {
  let count = 0;
  return async () => {
    const id = await makeConversation(client, send, count++);
    if (id === undefined) return;
    const bytes = randomBytes(audioBytes);
    const form = new FormData();
    form.append('audio', new Blob([bytes]), `talk-${count}.mp3`);
    const headers = { authorization: `Bearer ${client.token}` };
    const answer = await send('upload', 'POST', `/api/coherence/conversations/${id}/audio`, { body: form, headers });
    if (answer !== undefined) client.ledger.uploaded.set(id, digest(bytes));
  };
}

/** Returns a function that uploads audio over a new connection; each upload takes 1.5 seconds. */
async function uploadSlowly(client: Client, send: Send): Promise<() => Promise<void>> {
  let count = 0;
  return async () => {
    const id = await makeConversation(client, send, count++);
    if (id === undefined) return;
    const bytes = randomBytes(audioBytes);
    const boundary = `part-${randomBytes(8).toString('hex')}`;
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="audio"; filename="slow.ogg"\r\n\r\n`;
    async function* parts(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(head);
      for (let part = 0; part < slowParts; part += 1) {
        await sleep(slowPartMs);
        yield bytes.subarray((part * audioBytes) / slowParts, ((part + 1) * audioBytes) / slowParts);
      }
      yield Buffer.from(`\r\n--${boundary}--\r\n`);
    }
    const answer = await send('slow upload', 'POST', `/api/coherence/conversations/${id}/audio`, {
      body: parts(),
      duplex: 'half',
      headers: { authorization: `Bearer ${client.token}`, 'content-type': `multipart/form-data; boundary=${boundary}` },
    });
    if (answer !== undefined) client.ledger.uploaded.set(id, digest(bytes));
  };
}

async function askAgent(client: Client, send: Send): Promise<() => Promise<void>> {
  let visitor: string | undefined;
  let count = 0;
  return async () => {
    const body = `question ${client.tag}-${client.number}-${count++}.`;
    const message = { body, ...(visitor === undefined ? {} : { visitor_id: visitor }) };
    const answer = await send('chat', 'POST', `/api/chat/${client.agent}/message/`, json(message));
    if (answer === undefined) return;
    visitor = answer.visitor_id;
    client.ledger.asked.push(body);
  };
}

async function book(client: Client, send: Send): Promise<() => Promise<void>> {
  let count = 0;
  return async () => {
    const uid = `${client.tag}-${client.number}-${count}`;
    const start = addHours(client.from, count++);
    const booking = {
      triggerEvent: 'BOOKING_CREATED',
      createdAt: new Date().toISOString(),
      payload: {
        uid,
        title: 'Intro',
        status: 'ACCEPTED',
        startTime: start,
        endTime: new Date(Date.parse(start) + 1_800_000).toISOString(),
        attendees: [{ name: `Guest ${uid}`, email: `${uid}@example.org`, timeZone: 'Europe/Paris' }],
        metadata: { videoCallUrl: `https://meet.example.org/${client.demo.journey}` },
      },
    };
    const answer = await send(
      'webhook',
      'POST',
      `/api/coherence/hook/booking/${client.demo.ada}`,
      json(booking, signBooking(JSON.stringify(booking))),
    );
    if (answer !== undefined) client.ledger.booked.push({ uid, start });
  };
}

async function reportRecording(client: Client, send: Send): Promise<() => Promise<void>> {
  let count = 0;
  return async () => {
    const id = await makeConversation(client, send, count++);
    if (id === undefined) return;
    const [meetingId, sessionId] = [`m-${client.tag}-${id}`, `s-${client.tag}-${id}`];
    client.provider.addSession({
      id: sessionId,
      meetingId,
      startedAt: '2026-05-01T09:50:00.000Z',
      endedAt: '2026-05-01T11:10:00.000Z',
    });
    const row = {
      startTime: 700_000,
      endTime: 702_000,
      sentence: 'Welcome.',
      peerData: { id: 'p', userId: 'u', cpi: 'c', displayName: 'Ada' },
    };
    client.provider.setArtifact(sessionId, { bytes: JSON.stringify([row]), contentType: 'application/json' });
    const room = {
      meetingId,
      participants: [{ customParticipantId: 'c', personId: personOf(client), displayName: 'Ada' }],
      conversationStartedAt: '2026-05-01T10:00:00Z',
      captureEndedAt: '2026-05-01T11:00:00Z',
    };
    const path = `/api/coherence/conversations/${id}`;
    if ((await send('enter', 'POST', `${path}/enter-coherence`, json(room))) === undefined) return;
    const answer = await send('recorded', 'POST', `${path}/recorded`, json({}, { 'idempotency-key': 'once' }));
    if (answer !== undefined) client.ledger.recorded.push(id);
  };
}

export const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
