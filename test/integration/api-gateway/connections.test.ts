import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import { startGatewayFixture, token } from './fixture.ts';

const maxConnections = 10;

let fixture: Awaited<ReturnType<typeof startGatewayFixture>>;
let clients: Client[] = [];
beforeAll(async () => {
  fixture = await startGatewayFixture(import.meta.url, { maxConnections });
});
afterAll(() => fixture.stop());

interface Client {
  readonly socket: Socket;
  received: string;
  isClosed: boolean;
}

async function open(text = ''): Promise<Client> {
  const socket = connect(fixture.port, '127.0.0.1');
  const client: Client = { socket, received: '', isClosed: false };
  socket.on('data', (chunk: Buffer) => (client.received += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  socket.once('close', () => (client.isClosed = true));
  clients.push(client);
  await once(socket, 'connect');
  socket.write(text);
  return client;
}

const get = (headers: string): string => `GET /api/probe/list HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
const authorization = `Authorization: Bearer ${token}\r\n`;
/** Returns the head of a request whose body is never sent. */
const begin = (method: string, path: string, headers = ''): string =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n${headers}\r\n`;
const isAnswered = ({ received }: Client): boolean => received.startsWith('HTTP/1.1 ');
const closed = (all: readonly Client[]): boolean[] => all.map(({ isClosed }) => isClosed);
const onlyFirst = Array.from({ length: maxConnections }, (_value, index) => index === 0);
const none = onlyFirst.map(() => false);

/**
 * Opens clients one after the other until the connection limit is reached. Each client is opened after the previous one
 * has received its response.
 */
async function fill(text: string): Promise<Client[]> {
  const all: Client[] = [];
  for (let index = 0; index < maxConnections; index++) {
    const client = await open(text);
    if (text !== '') await waitFor(() => isAnswered(client));
    all.push(client);
  }
  return all;
}

async function leave(): Promise<void> {
  for (const { socket } of clients) socket.destroy();
  await waitFor(() => clients.every(({ isClosed }) => isClosed));
  clients = [];
}

const countRefused = (): number => fixture.refusals.filter((reason) => reason === 'too_many_connections').length;

describe('connections beyond MAX_CONNECTIONS (D62)', () => {
  it.each([
    ['have sent nothing', ''],
    ['have sent half a head', 'GET / HTTP/1.1\r\n'],
  ])('closes the oldest connection that %s', async (_name, text) => {
    const before = countRefused();
    const silent = await Promise.all(Array.from({ length: maxConnections }, () => open(text)));
    const next = await open(get(authorization));
    await waitFor(() => next.received.startsWith('HTTP/1.1 200 '));
    await waitFor(() => closed(silent).filter(Boolean).length === 1);
    expect(silent.map(({ received }) => received)).toEqual(silent.map(() => ''));
    expect(countRefused()).toBe(before + 1);
    await leave();
  });

  it('closes the connection that has been idle longest', async () => {
    const kept = await fill(get(authorization));
    const next = await open(get(authorization));
    await waitFor(() => isAnswered(next));
    await waitFor(() => kept[0]?.isClosed === true);
    expect(closed(kept)).toEqual(onlyFirst);
    await leave();
  });

  it('closes a connection that keeps sending after its response', async () => {
    const answered = await fill(begin('PATCH', '/api/probe/things/1').replace('Expect: 100-continue\r\n', ''));
    expect(answered.every(({ received }) => received.startsWith('HTTP/1.1 401 '))).toBe(true);
    const next = await open(get(authorization));
    await waitFor(() => next.received.startsWith('HTTP/1.1 200 '));
    expect(closed(answered).slice(1)).toEqual(none.slice(1));
    await leave();
  });

  it('closes no connection with a running authenticated request', async () => {
    const busy = await fill(begin('PATCH', '/api/probe/things/1', authorization));
    const next = await open(get(authorization));
    await waitFor(() => next.isClosed);
    expect([next.received, closed(busy)]).toEqual(['', none]);
    await leave();
  });

  it('closes a connection with a running anonymous request before one with an authenticated request', async () => {
    const busy = await fill(begin('POST', '/api/probe/optional'));
    const next = await open(get(authorization));
    await waitFor(() => next.received.startsWith('HTTP/1.1 200 '));
    await waitFor(() => busy[0]?.isClosed === true);
    expect(closed(busy)).toEqual(onlyFirst);
    await leave();
  });
});
