import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createSocket } from 'node:dgram';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  OutboundError,
  createOutbound,
  isPublicAddress,
  namesHost,
  type Outbound,
  type OutboundOptions,
} from './index.ts';

const handlers: Record<string, (response: ServerResponse, headers: NodeJS.Dict<string | string[]>) => void> = {
  '/ok': (response) => response.end('hello'),
  '/redirect': (response) => response.writeHead(302, { location: '/ok' }).end(),
  '/silent': () => undefined,
  '/stalls': (response) => void response.writeHead(200).write('first'),
  '/cut': (response) => {
    response.writeHead(200, { 'content-length': '100' }).write('part');
    setTimeout(() => response.destroy(), 20);
  },
  '/big': (response) => response.end('x'.repeat(5000)),
  '/echo': (response, headers) => response.end(JSON.stringify(headers)),
};
let server: Server;
let port: number;
let hits: string[] = [];
let connections = 0;
const open: Outbound[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    hits.push(path);
    handlers[path]?.(response, request.headers);
  });
  server.on('connection', () => (connections += 1));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  port = (server.address() as AddressInfo).port;
});

afterAll(async () => {
  await Promise.all(open.map((outbound) => outbound.close()));
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

function create(options: Partial<OutboundOptions> = {}): Outbound {
  const outbound = createOutbound({ allowedHosts: '', ...options });
  open.push(outbound);
  return outbound;
}

async function failure(attempt: Promise<unknown>): Promise<OutboundError> {
  const error = await attempt.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  if (error instanceof OutboundError) return error;
  throw error;
}

interface NameServer {
  readonly address: string;
  /** Resolves after `count` names were queried. */
  asked(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a name server that returns 127.0.0.1 for `known` and no address for other names. */
async function startNameServer(known: string): Promise<NameServer> {
  const socket = createSocket('udp4');
  const names = new Set<string>();
  const listeners = new Set<() => void>();
  socket.on('message', (query, { port: from, address }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += length + 1;
    }
    const name = labels.join('.').toLowerCase();
    names.add(name);
    for (const listener of listeners) listener();
    if (name !== known) return;
    const isV4 = query.readUInt16BE(at + 1) === 1;
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(isV4 ? 1 : 0, 6);
    head.writeUInt32BE(0, 8);
    const answer = isV4 ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1] : [];
    socket.send(Buffer.concat([head, query.subarray(12, at + 5), Buffer.from(answer)]), from, address);
  });
  await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked: (count) =>
      new Promise((done) => {
        const look = (): void => {
          if (names.size >= count) done();
        };
        listeners.add(look);
        look();
      }),
    stop: () => new Promise((done) => socket.close(() => done())),
  };
}

describe('isPublicAddress (architecture#outgoing-calls)', () => {
  it('rejects every call after the client was closed', async () => {
    const [unused, used] = [
      create({ allowedHosts: `127.0.0.1:${port}` }),
      create({ allowedHosts: `127.0.0.1:${port}` }),
    ];
    const request = { url: `http://127.0.0.1:${port}/ok` };
    await (await used.request(request)).text();
    await Promise.all([unused.close(), used.close()]);
    hits = [];
    for (const outbound of [unused, used])
      expect(await failure(outbound.request(request))).toMatchObject({ kind: 'broken' });
    expect(hits).toEqual([]);
  });

  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.15.255.255',
    '172.32.0.0',
    '100.63.255.255',
    '2606:4700::1',
    '::ffff:8.8.8.8',
    '::ffff:808:808',
  ])('allows the address %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:a9fe:a9fe',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '2002:7f00:1::',
    '2001::1',
    '2001:db8::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    '',
    'localhost',
  ])('rejects the address %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('createOutbound: addresses (architecture#outgoing-calls)', () => {
  it.each(['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1', '0'])(
    'rejects the private host %s without connecting',
    async (host) => {
      hits = [];
      const error = await failure(create().request({ url: `http://${host}:${port}/ok` }));
      expect(error.kind).toBe('forbidden_address');
      expect(hits).toEqual([]);
    },
  );

  it.each([
    ['host and port', '127.0.0.1:PORT'],
    ['them among others', 'example.org, 127.0.0.1:PORT,'],
    ['them between white space', ' example.org\n127.0.0.1:PORT\t[::1]:PORT '],
    ['them behind a scheme', 'http://127.0.0.1:PORT/'],
    ['the address in another form', '0x7f.1:PORT'],
  ])('allows a private address that is configured as %s', async (_what, setting) => {
    const reply = await create({ allowedHosts: setting.replace('PORT', String(port)) }).request({
      url: `http://127.0.0.1:${port}/ok`,
    });
    expect([reply.status, await reply.text()]).toEqual([200, 'hello']);
  });

  it.each([
    ['receiver', ['https://receiver/', 'https://RECEIVER:443/']],
    ['http://receiver', ['http://receiver/', 'http://receiver:80/']],
    ['https://receiver', ['https://receiver/']],
    ['receiver:8080', ['http://receiver:8080/', 'https://receiver:8080/']],
    ['10.0.0.7', ['https://10.0.0.7/']],
    ['::1', ['https://[::1]/']],
    ['[0:0::1]:8443', ['http://[::1]:8443/', 'https://[::1]:8443/']],
    [
      'receiver, other:8080\n\tthird',
      ['https://receiver/', 'http://other:8080/', 'https://other:8080/', 'https://third/'],
    ],
    ['', []],
  ])('allows, for the entries %j, only the specified ports (default: 443 and 80) (D90)', (setting, named) => {
    const all = ['receiver', '10.0.0.7', '[::1]', 'other', 'third'].flatMap((host) =>
      ['http', 'https'].flatMap((scheme) => ['', ':8080', ':8443'].map((suffix) => `${scheme}://${host}${suffix}/`)),
    );
    const allowed = all.filter((url) => namesHost(setting, new URL(url)));
    expect(new Set(allowed)).toEqual(new Set(named.map((url) => new URL(url).href)));
  });

  it('allows unconfigured hosts only with TLS when TLS is required', async () => {
    const urls = [`http://127.0.0.1:${port}/ok`, 'http://93.184.215.14/'];
    const strict = create({ requireTls: true, connectTimeoutMs: 200 });
    for (const url of urls) expect((await failure(strict.request({ url }))).kind).toBe('forbidden_address');
    const named = create({ requireTls: true, allowedHosts: `127.0.0.1:${port}` });
    expect((await named.request({ url: urls[0] ?? '' })).status).toBe(200);
  });

  it('allows the host of a configured base URL only on the port of the URL', async () => {
    const outbound = create({ baseUrls: [undefined, `http://127.0.0.1:${port}/client/v4`] });
    expect(await (await outbound.request({ url: `http://127.0.0.1:${port}/ok` })).text()).toBe('hello');
    expect((await failure(outbound.request({ url: `http://127.0.0.1:${port + 1}/ok` }))).kind).toBe(
      'forbidden_address',
    );
    expect((await failure(outbound.request({ url: `http://localhost:${port}/ok` }))).kind).toBe('forbidden_address');
  });

  it('fails the request, and does not crash the process, when a configured host cannot be resolved', async () => {
    const host = `${'x'.repeat(64)}.invalid`; // longer than a valid name: no server is queried
    const error = await failure(create({ allowedHosts: host, requireTls: true }).request({ url: `https://${host}/` }));
    expect(error.kind).toBe('connect');
  });

  it('checks the address of the connection, not an earlier resolver response', async () => {
    let calls = 0;
    const resolve: OutboundOptions['resolve'] = (_hostname, _options, done) => {
      calls += 1;
      done(null, [{ address: '127.0.0.1', family: 4 }]);
    };
    hits = [];
    connections = 0;
    const error = await failure(create({ resolve }).request({ url: `http://rebinding.example:${port}/ok` }));
    expect([error.kind, hits, connections, calls]).toEqual(['forbidden_address', [], 0, 1]);
  });

  it('ignores private addresses in a resolver response that also contains public ones', async () => {
    const resolve: OutboundOptions['resolve'] = (_hostname, _options, done) =>
      done(null, [
        { address: '::1', family: 6 },
        { address: '127.0.0.1', family: 4 },
        { address: '240.0.0.1', family: 4 },
      ]);
    expect(
      (await failure(create({ resolve, connectTimeoutMs: 200 }).request({ url: `http://mixed.example:${port}/ok` })))
        .kind,
    ).toBe('forbidden_address');
  });

  it('resolves names in parallel, so that unresponsive name servers do not block other names (V7)', async () => {
    const server = await startNameServer('quick.example');
    const outbound = create({ nameServers: [server.address], connectTimeoutMs: 5_000 });
    const over: string[] = [];
    const silent = Array.from({ length: 12 }, async (_, index) => {
      const error = await failure(outbound.request({ url: `http://silent-${index}.example:${port}/ok` }));
      over.push('silent');
      return error.kind;
    });
    await server.asked(12);
    // The request is rejected after the look-up, which reveals that the address is private.
    expect((await failure(outbound.request({ url: `http://quick.example:${port}/ok` }))).kind).toBe(
      'forbidden_address',
    );
    expect(over).toEqual([]);
    expect(new Set(await Promise.all(silent))).toEqual(new Set(['connect']));
    await server.stop();
  });

  it.each(['ftp://example.org/x', 'file:///etc/passwd', 'http://user:secret@127.0.0.1/', 'not a url', ''])(
    'rejects the URL %j',
    async (url) => {
      const error = await failure(create({ allowedHosts: `127.0.0.1:${port}` }).request({ url }));
      expect(error.kind).toBe('invalid_url');
      expect(error.message).not.toMatch(/secret|passwd/);
    },
  );
});

describe('createOutbound: requests', () => {
  const createAllowed = (options: Partial<OutboundOptions> = {}): Outbound =>
    create({ allowedHosts: `127.0.0.1:${port}`, ...options });
  const url = (path: string): string => `http://127.0.0.1:${port}${path}?X-Signature=hush`;

  it('sends headers and returns status and headers', async () => {
    const reply = await createAllowed().request({ url: url('/echo'), headers: { authorization: 'Bearer t' } });
    expect(reply.headers['transfer-encoding'] ?? reply.headers['content-length']).toBeDefined();
    expect(JSON.parse(await reply.text())).toMatchObject({ authorization: 'Bearer t' });
  });

  it('returns a redirect response without following the redirect', async () => {
    hits = [];
    const reply = await createAllowed().request({ url: url('/redirect') });
    reply.discard();
    expect([reply.status, hits]).toEqual([302, ['/redirect']]);
  });

  it('aborts a response over the size limit and accepts one of the exact limit', async () => {
    const outbound = createAllowed();
    expect((await (await outbound.request({ url: url('/big'), maxBytes: 5000 })).text()).length).toBe(5000);
    expect((await failure((await outbound.request({ url: url('/big'), maxBytes: 4999 })).text())).kind).toBe(
      'too_large',
    );
  });

  it('fails when the headers or the body stall, and at the deadline of the whole request', async () => {
    const impatient = createAllowed({ headersTimeoutMs: 100, bodyIdleTimeoutMs: 100 });
    expect((await failure(impatient.request({ url: url('/silent') }))).kind).toBe('timeout');
    const readStalled = async (outbound: Outbound, timeoutMs?: number) =>
      await (await outbound.request({ url: url('/stalls'), ...(timeoutMs === undefined ? {} : { timeoutMs }) })).text();
    expect((await failure(readStalled(impatient))).kind).toBe('timeout');
    expect((await failure(readStalled(createAllowed(), 100))).kind).toBe('timeout');
  });

  it('reports a truncated body as an error', async () => {
    expect((await failure((await createAllowed().request({ url: url('/cut') })).text())).kind).toBe('broken');
  });

  it("aborts a request immediately when the caller's signal aborts", async () => {
    const controller = new AbortController();
    const pending = failure(createAllowed().request({ url: url('/silent'), signal: controller.signal }));
    controller.abort();
    expect((await pending).kind).toBe('aborted');
  });

  it('includes only the origin of the URL in errors', async () => {
    const outbound = createAllowed({ allowedHosts: `127.0.0.1:${port} 127.0.0.1:1`, headersTimeoutMs: 100 });
    const errors = [
      await failure(outbound.request({ url: url('/silent') })),
      await failure(outbound.request({ url: 'http://127.0.0.1:1/private?X-Signature=hush' })),
      await failure(create().request({ url: url('/ok') })),
    ];
    for (const error of errors) {
      expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toMatch(
        /hush|Signature|private\?|\/silent/,
      );
      expect(error.message).toContain('http://127.0.0.1:');
      expect(error.cause).toBeUndefined();
    }
    expect(errors.map((error) => error.kind)).toEqual(['timeout', 'connect', 'forbidden_address']);
  });
});
