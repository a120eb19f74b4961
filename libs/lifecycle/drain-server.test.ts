import { once } from 'node:events';
import { Agent, createServer, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { prepareDrain } from './drain-server.ts';

let server: Server;
let port: number;
let finish: (() => void)[];
let drain: ReturnType<typeof prepareDrain>;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

beforeEach(async () => {
  finish = [];
  server = createServer((incoming, response) => {
    if (incoming.url === '/slow') finish.push(() => response.end('slow'));
    else response.end('quick');
  });
  drain = prepareDrain(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterEach(() => server.closeAllConnections());

/** Body, `Connection` and whether the connection was used before. */
function get(path: string, through: Agent | false = agent): Promise<[string, string | undefined, boolean]> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', path, agent: through }, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (text: string) => (body += text));
      answer.once('end', () => resolve([body, answer.headers.connection, sent.reusedSocket]));
    });
    sent.once('error', reject);
    sent.end();
  });
}

describe('prepareDrain (rules/operations#availability)', () => {
  it('takes requests of old and new connections during the window, and closes each with its answer', async () => {
    await expect(get('/quick')).resolves.toEqual(['quick', 'keep-alive', false]);
    const drained = drain({ windowMs: 500, deadlineMs: 1_000 });
    await expect(get('/quick')).resolves.toEqual(['quick', 'close', true]);
    await expect(get('/quick', false)).resolves.toEqual(['quick', 'close', false]);
    await drained;
    await expect(get('/quick', false)).rejects.toThrow('ECONNREFUSED');
  });

  it('lets a request finish that began before, and closes its connection with the answer', async () => {
    const slow = get('/slow');
    while (finish.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const drained = drain({ windowMs: 0, deadlineMs: 60_000 });
    finish[0]?.();
    await expect(slow).resolves.toEqual(['slow', 'close', false]);
    await drained;
  });

  it('closes a connection that nobody has used', async () => {
    const accepted = once(server, 'connection');
    const socket = connect(port, '127.0.0.1');
    const closed = once(socket, 'close');
    await accepted;
    await drain({ windowMs: 0, deadlineMs: 60_000 });
    await expect(closed).resolves.toEqual([false]);
  });

  it('breaks off after the deadline what does not finish', async () => {
    const slow = get('/slow', false);
    slow.catch(() => undefined);
    while (finish.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await drain({ windowMs: 0, deadlineMs: 20 });
    await expect(slow).rejects.toThrow('socket hang up');
  });
});
