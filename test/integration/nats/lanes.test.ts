/**
 * Many large replies to one slow reader (D62). Without limits the broker would disconnect the reader and fail all its
 * calls. The readers are simulated on the real broker, so that tests choose the progress that they report.
 */
import { headers, type Msg, type NatsConnection, connect as connectToServer } from '@nats-io/transport-node';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Bus, rawJson } from '#libs/infrastructure/nats';
import { waitFor } from '#libs/product/testing';
import { connect, context, handlers, library, openBroker } from './parties.ts';

const { listBooks } = library.rpcs;
const laneBytes = 8 * 1024 * 1024;
const maxWaiting = 64;
const chunkBytes = 256 * 1024;
/**
 * The number of replies that fit into one window when the reader reports no progress: of each reply only the first
 * chunk is sent.
 */
const roomFor = laneBytes / chunkBytes;
const text = JSON.stringify(['x'.repeat(900_000)]);

const broker = openBroker();
let responder: Bus;
let other: Bus;
let connection: NatsConnection;
beforeAll(async () => {
  const { username, password, host } = new URL(broker.url);
  [responder, other, connection] = await Promise.all([
    connect(broker, 'responder'),
    connect(broker, 'other'),
    connectToServer({ servers: host, user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
  ]);
  await responder.serve(library, handlers({ listBooks: async () => rawJson(text) }));
});
afterAll(async () => {
  await Promise.all([responder.close(), other.close(), connection.close()]);
});

type Said = 'nothing' | 'what it took' | 'what came';

/** Simulates a process that requests the large reply `count` times. */
function read(
  count: number,
  name: string,
): { say(what: Said): void; bytes(): number; whole(): number; refused(): string[] } {
  let said: Said = 'nothing';
  let bytes = 0;
  let whole = 0;
  const refused: string[] = [];
  const silent: Msg[] = [];
  const answer = (message: Msg): void => {
    const number = message.headers?.get('Chunk') ?? '';
    const received = headers();
    if (said === 'what came') received.set('Chunk-Received', number);
    connection.publish(message.reply ?? '', said === 'what came' ? '0' : number, {
      headers: received,
      reply: message.subject,
    });
    // Reports the received chunks as consumed.
    if (said === 'what came')
      connection.publish(message.reply ?? '', number, { headers: received, reply: message.subject });
  };
  connection.subscribe(`_INBOX.${name}.reader.*`, {
    callback: (_error, message) => {
      if (message.headers?.get('Status') === 'error') refused.push(message.string());
      else if (message.headers?.has('Chunk-End') === true) whole++;
      else if (message.headers?.has('Chunk') === true) {
        bytes += message.data.length;
        if (said === 'nothing') silent.push(message);
        else answer(message);
      }
    },
  });
  const subject = `${broker.prefix}.${listBooks.subject}`;
  for (let call = 0; call < count; call++)
    connection.publish(subject, '{"count":1}', { reply: `_INBOX.${name}.reader.${call}` });
  return {
    say: (what) => {
      said = what;
      for (const message of silent.splice(0)) answer(message);
    },
    bytes: () => bytes,
    whole: () => whole,
    refused: () => refused,
  };
}

describe('large replies for one process', () => {
  let name = '';
  let turn = 0;
  beforeEach(() => {
    name = `lane${turn++}`;
  });

  it('limits unread large replies to one process by bytes, without delaying other processes, and sends the rest in order', async () => {
    const reader = read(60, name);
    await waitFor(() => reader.bytes() === laneBytes);
    expect(await other.call(listBooks, { count: 1 }, context())).toEqual(JSON.parse(text));
    expect([reader.bytes(), reader.whole()]).toEqual([laneBytes, 0]);
    reader.say('what came');
    await waitFor(() => reader.whole() === 60);
    expect([reader.bytes(), reader.refused()]).toEqual([60 * text.length, []]);
  });

  it('limits the number of waiting large replies, and answers further calls as busy', async () => {
    const reader = read(roomFor + maxWaiting + 20, name);
    await waitFor(() => reader.refused().length === 20);
    expect(new Set(reader.refused())).toEqual(new Set(['{"code":"unavailable","message":"The service is busy"}']));
    reader.say('what came');
    await waitFor(() => reader.whole() === roomFor + maxWaiting);
  });

  it('does not limit large replies to a process of the previous release, which reports only received bytes', async () => {
    const reader = read(60, name);
    reader.say('what it took');
    await waitFor(() => reader.whole() === 60);
    expect(reader.bytes()).toBe(60 * text.length);
  });

  it('releases the slot of a large reply when its reader sends nothing for ten seconds', async () => {
    const reader = read(60, name);
    await waitFor(() => reader.bytes() === laneBytes);
    const later: ReturnType<typeof read>[] = [];
    const isAnswered = (): boolean => {
      if (later.some(({ whole }) => whole() === 1)) return true;
      const next = read(1, name);
      next.say('what came');
      later.push(next);
      return false;
    };
    await waitFor(isAnswered, { intervalMs: 250, timeoutMs: 120_000 });
    reader.say('what came'); // on shutdown the responder waits for the remaining chunks
  });
});
