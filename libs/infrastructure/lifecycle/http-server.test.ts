import { once } from 'node:events';
import { Agent, createServer, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { prepareDrain, listen, reachableAddress } from './http-server.ts';
import { networkInterfaces } from 'node:os';

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

/** Returns the body, the `Connection` header, and whether the connection was used before. */
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
  it('serves requests on existing and new connections during the drain window, and closes each connection after the response', async () => {
    await expect(get('/quick')).resolves.toEqual(['quick', 'keep-alive', false]);
    const drained = drain({ windowMs: 500, deadlineMs: 1_000 });
    await expect(get('/quick')).resolves.toEqual(['quick', 'close', true]);
    await expect(get('/quick', false)).resolves.toEqual(['quick', 'close', false]);
    await drained;
    await expect(get('/quick', false)).rejects.toThrow('ECONNREFUSED');
  });

  it('completes a running request and then closes its connection', async () => {
    const slow = get('/slow');
    while (finish.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const drained = drain({ windowMs: 0, deadlineMs: 60_000 });
    finish[0]?.();
    await expect(slow).resolves.toEqual(['slow', 'close', false]);
    await drained;
  });

  it('closes a connection without a request', async () => {
    const accepted = once(server, 'connection');
    const socket = connect(port, '127.0.0.1');
    const closed = once(socket, 'close');
    await accepted;
    await drain({ windowMs: 0, deadlineMs: 60_000 });
    await expect(closed).resolves.toEqual([false]);
  });

  it('aborts requests that are still running at the drain deadline', async () => {
    const slow = get('/slow', false);
    slow.catch(() => undefined);
    while (finish.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await drain({ windowMs: 0, deadlineMs: 20 });
    await expect(slow).rejects.toThrow('socket hang up');
  });
});

const servers: Server[] = [];
const make = (): Server => {
  const server = createServer((_request, response) => void response.end());
  servers.push(server);
  return server;
};
const answers = (address: string): Promise<boolean> =>
  fetch(`http://${address}`).then(
    () => true,
    () => false,
  );
const others = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .filter(({ internal, family }) => !internal && family === 'IPv4')
  .map(({ address }) => address);

afterEach(() => servers.splice(0).forEach((server) => server.close()));

describe('listen', () => {
  it('listens on the loopback address with 127.0.0.1, and on all addresses with ::', async () => {
    const closed = await listen(make(), { host: '127.0.0.1', port: 0, portName: 'PORT' });
    const open = await listen(make(), { host: '::', port: 0, portName: 'PORT' });
    await expect(answers(`127.0.0.1:${closed}`)).resolves.toBe(true);
    await expect(answers(`127.0.0.1:${open}`)).resolves.toBe(true);
    for (const address of others) {
      await expect(answers(`${address}:${closed}`)).resolves.toBe(false);
      await expect(answers(`${address}:${open}`)).resolves.toBe(true);
    }
  });

  it('reports a port in use or an unknown host by the name of its setting', async () => {
    const port = await listen(make(), { host: '127.0.0.1', port: 0, portName: 'PORT' });
    await expect(listen(make(), { host: '127.0.0.1', port, portName: 'METRICS_PORT' })).rejects.toThrow(
      `METRICS_PORT ${port} is in use`,
    );
    await expect(listen(make(), { host: '203.0.113.7', port: 0, portName: 'PORT' })).rejects.toThrow(
      '203.0.113.7 is no address of this machine',
    );
  });
});

describe('reachableAddress', () => {
  it.each([
    ['::', '127.0.0.1:8080'],
    ['0.0.0.0', '127.0.0.1:8080'],
    ['127.0.0.1', '127.0.0.1:8080'],
    ['::1', '[::1]:8080'],
    ['192.0.2.7', '192.0.2.7:8080'],
  ])('maps the listening host %s to the reachable address %s', (host, address) => {
    expect(reachableAddress(host, 8080)).toBe(address);
  });
});
