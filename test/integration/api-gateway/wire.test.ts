/**
 * Requests byte by byte: invalid HTTP, delayed bodies, alternative path spellings (rules/http#malformed-requests;
 * D107).
 */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import { type Probe, startGatewayFixture, token } from './fixture.ts';

let fixture: Probe;
beforeAll(async () => {
  fixture = await startGatewayFixture(import.meta.url);
});
afterAll(() => fixture.stop());

const thing = '/api/probe/things/7';

/** Returns the response bytes until the connection is closed or `isEnough` returns true. */
async function talk(text: string, isEnough: (received: string) => boolean = () => false): Promise<string> {
  let [received, isClosed] = ['', false];
  const socket = connect(fixture.port, '127.0.0.1').setEncoding('latin1');
  socket.on('data', (part: string) => (received += part));
  socket.on('error', () => undefined).once('close', () => (isClosed = true));
  socket.write(text, 'latin1');
  await waitFor(() => isClosed || isEnough(received));
  socket.destroy();
  return received;
}
const credential = `Authorization: Bearer ${token}`;
/** Returns a raw request head with these lines. It requests the server to close the connection. */
const lines = (...head: string[]): string => `${[...head, 'Connection: close'].join('\r\n')}\r\n\r\n`;
const statusOf = (received: string): number => Number(/^HTTP\/1\.1 (\d{3}) /.exec(received)?.[1]);
const bodyOf = (received: string): unknown => JSON.parse(received.slice(received.indexOf('\r\n\r\n') + 4));

describe('malformed HTTP/1.1 (rules/http#malformed-requests)', () => {
  const list = '/api/probe/list';
  const body = (...headers: string[]): string =>
    lines('PATCH /api/probe/things/1 HTTP/1.1', 'Host: x', credential, ...headers);
  const refused = { detail: expect.any(String) };
  const ofV1 = { code: 'validation_error', message: expect.any(String), retryable: false };

  it.each([
    ['two hosts', lines(`GET ${list} HTTP/1.1`, 'Host: a', 'Host: b'), 400, refused],
    ['one host twice', lines(`GET ${list} HTTP/1.1`, 'Host: a', 'hOST: a'), 400, refused],
    ['two hosts on /api/v1/', lines('GET /api/v1/probe/list HTTP/1.1', 'Host: a', 'Host: b'), 400, ofV1],
    ['no host', lines(`GET ${list} HTTP/1.1`), 400, refused],
    ['a host that is none', lines(`GET ${list} HTTP/1.1`, 'Host: a b'), 400, refused],
    ['HTTP/0.9', `GET ${list}\r\n\r\n`, 400, refused],
    ['HTTP/0.9 by its name', lines(`GET ${list} HTTP/0.9`, 'Host: x'), 400, refused],
    ['HTTP/2', lines('GET /api/v1/probe/list HTTP/2.0', 'Host: x'), 400, ofV1],
    ['HTTP/1.2', lines('GET /api/v1/probe/list HTTP/1.2', 'Host: x'), 400, ofV1],
    ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, refused],
    ['two lengths', `${body('Content-Length: 2', 'Content-Length: 3')}{} `, 400, refused],
    [
      'a length and chunks',
      `${body('Content-Length: 2', 'Transfer-Encoding: chunked')}2\r\n{}\r\n0\r\n\r\n`,
      400,
      refused,
    ],
    ['a length below 0', `${body('Content-Length: -2')}{}`, 400, refused],
    ['packed chunks', `${body('Transfer-Encoding: gzip, chunked')}2\r\n{}\r\n0\r\n\r\n`, 400, refused],
    [
      'chunks of HTTP/1.0',
      `${body('Transfer-Encoding: chunked').replace('1.1', '1.0')}2\r\n{}\r\n0\r\n\r\n`,
      400,
      refused,
    ],
    ['a chunk without a size', `${body('Transfer-Encoding: chunked')}zz\r\n{}`, 400, refused],
    ['a folded header', lines(`GET ${list} HTTP/1.1`, 'Host: x', 'X-A: b', ' c'), 400, refused],
    ['a bare line feed', `GET ${list} HTTP/1.1\nHost: x\n\n`, 400, refused],
    ['a target of another scheme', lines('GET foo://bar HTTP/1.1', 'Host: x'), 400, refused],
    ['a method that there is not', lines(`FOO ${list} HTTP/1.1`, 'Host: x'), 400, refused],
    ['CONNECT', lines('CONNECT x:80 HTTP/1.1', 'Host: x'), 405, refused],
    ['TRACE', lines(`TRACE ${list} HTTP/1.1`, 'Host: x'), 405, refused],
    ['OPTIONS *', lines('OPTIONS * HTTP/1.1', 'Host: x'), 404, refused],
    ['an expectation', lines(`GET ${list} HTTP/1.1`, 'Host: x', 'Expect: the best'), 417, refused],
    ['an expectation on /api/v1/', lines('GET /api/v1/probe/list HTTP/1.1', 'Host: x', 'Expect: 200-ok'), 417, refused],
    ['a long target', lines(`GET ${list}?${'a'.repeat(20_000)} HTTP/1.1`, 'Host: x'), 431, refused],
  ])('returns the usual status, headers and body for %s', async (_name, text, status, answer) => {
    const received = await talk(text);
    expect([statusOf(received), bodyOf(received)]).toEqual([status, answer]);
    for (const header of [
      /^X-Request-Id: \S+/m,
      /^X-Content-Type-Options: nosniff/m,
      /^Content-Type: application\/json/m,
      /^Connection: close/m,
    ])
      expect(received).toMatch(header);
    if (text.includes('/api')) expect(received).toMatch(/^X-Api-Version: 9\.9/m);
  });

  it('responds to malformed data after the responses to earlier requests, and never inside one of them', async () => {
    const received = await talk('GET /api/probe/wait/100 HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n');
    expect([...received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)).toEqual(['200', '400']);
    expect(received.indexOf('{"done":true}')).toBeLessThan(received.indexOf('HTTP/1.1 400'));
  });

  it.each([
    ['an empty host', lines(`GET ${list} HTTP/1.1`, 'Host:', credential)],
    ['HTTP/1.0 without a host', lines(`GET ${list} HTTP/1.0`, credential)],
    ['an address as the target', lines(`GET http://x:80${list} HTTP/1.1`, 'Host: y', credential)],
    ['a wish to speak otherwise', lines(`GET ${list} HTTP/1.1`, 'Host: x', credential, 'Upgrade: h2c')],
  ])('accepts the request %s', async (_name, text) => {
    expect(statusOf(await talk(text))).toBe(200);
  });
});

describe('Expect: 100-continue (D107)', () => {
  const head = (path: string, ...headers: string[]): string =>
    `PATCH ${path} HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\n${headers.map((header) => `${header}\r\n`).join('')}\r\n`;

  it.each([
    [401, thing, ['Content-Length: 10']],
    [404, '/api/probe/nothing', ['Content-Length: 10']],
    [405, '/api/probe/list', ['Content-Length: 10']],
    [413, thing, [credential, 'Content-Length: 4194305']],
    [415, thing, [credential, 'Content-Length: 10', 'Content-Encoding: gzip']],
  ])('returns %i immediately instead of 100 Continue, and closes the connection', async (status, path, headers) => {
    const received = await talk(head(path, ...headers));
    expect([statusOf(received), /^Connection: close/m.test(received)]).toEqual([status, true]);
  });

  it('sends 100 Continue when it starts reading the body, and reuses the connection', async () => {
    let received = '';
    const socket = connect(fixture.port, '127.0.0.1').on(
      'data',
      (part: Buffer) => (received += part.toString('latin1')),
    );
    socket.write(head(thing, credential, 'Content-Length: 11'));
    await waitFor(() => received === 'HTTP/1.1 100 Continue\r\n\r\n');
    socket.write('{"count":1}');
    await waitFor(() => received.endsWith('{"count":1,"thing_id":7}'));
    expect(received).toMatch(/^Connection: keep-alive/m);
    socket.destroy();
  });
});

describe('percent-encoded paths (D107)', () => {
  it.each(['/%61pi/prob%65/things/%37', '/api/probe/thin%67s/7', '/api/probe/things/%37/'])(
    'routes the path %s like the plain path',
    async (path) => {
      expect((await fixture.call('GET', path)).json).toEqual({ thing_id: 7 });
    },
  );

  it.each(['/api%2Fprobe/things/7', '/%2561pi/probe/things/7', '/api/probe/things%2F7'])(
    'does not decode other characters in %s',
    async (path) => {
      expect((await fixture.call('GET', path)).status).toBe(404);
    },
  );

  it('uses the error envelope of the decoded path', async () => {
    expect((await fixture.call('GET', '/%61pi/%761/nothing')).json).toEqual({
      code: 'not_found',
      message: 'Not Found',
      retryable: false,
    });
  });
});
