/** Clients of the two media ports that send or read slowly, disconnect, or send invalid HTTP (D62, D73, D77). */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import { media as contract, mediaPaths } from '#services/media';
import { startMediaFixture, type RunningMedia, type MediaFixture } from './fixture.ts';

const mebibyte = 1_048_576;
const film = Buffer.alloc(24 * mebibyte, 'film');
const pace = { graceMs: 1_000, windowMs: 3_000, bytesPerSecond: 1_024 };

let fixture: MediaFixture;
let media: RunningMedia;
let id: number;
let video: string;
const sockets: Socket[] = [];
beforeAll(async () => {
  fixture = await startMediaFixture(import.meta.url);
  // One upload at a time: an upload that does not release its slot blocks all others.
  media = await fixture.startMedia({ MEDIA_MAX_UPLOADS: '1' }, { paceRules: { body: pace, answer: pace } });
  id = await fixture.createConversation();
  const { ticket } = await fixture.call(contract.rpcs.issueUploadTicket, { conversation_id: id, kind: 'full' });
  const address = `http://127.0.0.1:${media.internalPort}${mediaPaths.recording(id, 'full')}?name=talk.mp4`;
  const stored = await fetch(address, { method: 'PUT', body: film, headers: { ticket } });
  expect(stored.status).toBe(201);
  video = (await fixture.call(contract.rpcs.getVideo, { conversation_id: id })).url ?? '';
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await fixture.stop();
});

interface Wire {
  readonly socket: Socket;
  readonly received: () => string;
  readonly closed: Promise<unknown>;
}
async function open(port: number, text: string): Promise<Wire> {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  let received = '';
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1', 0, 16_384)));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await once(socket, 'connect');
  socket.write(text);
  return { socket, received: () => received, closed };
}
const head = (method: string, path: string, headers: Readonly<Record<string, string | number>> = {}): string =>
  `${method} ${path} HTTP/1.1\r\n${Object.entries({ Host: 'media', ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;
const audioPath = (): string => mediaPaths.conversationAudio(id);
const vouched = (method: string) => ({ Actor: fixture.env.actors.encodeFor(fixture.actor, method, audioPath()) });
const formType = { 'Content-Type': 'multipart/form-data; boundary=b' };
const part = '--b\r\nContent-Disposition: form-data; name="audio"; filename="slow.mp3"\r\n\r\n';
const beginUpload = (): Promise<Wire> =>
  open(
    media.internalPort,
    head('POST', audioPath(), { ...vouched('POST'), ...formType, 'Content-Length': 1_000_000 }) + part,
  );

describe('every response of media (D73)', () => {
  it('sends X-Content-Type-Options: nosniff with every response on both ports', async () => {
    await media.upload(id, 'talk.mp3', Buffer.from('talk'));
    const cases: [what: string, port: number, request: string, status: number][] = [
      ['a film', media.openPort, head('GET', video, { Connection: 'close' }), 200],
      ['a part of it', media.openPort, head('GET', video, { Range: 'bytes=0-9', Connection: 'close' }), 206],
      [
        'no part of it',
        media.openPort,
        head('GET', video, { Range: `bytes=${film.length}-`, Connection: 'close' }),
        416,
      ],
      ['what is known', media.openPort, head('GET', video, { 'If-None-Match': '*', Connection: 'close' }), 304],
      ['an unknown path', media.openPort, head('GET', '/', { Connection: 'close' }), 404],
      ['another method', media.openPort, head('DELETE', video, { Connection: 'close' }), 405],
      ['no HTTP', media.openPort, 'NO HTTP\r\n\r\n', 400],
      ['a large header', media.openPort, head('GET', video, { 'X-Long': 'x'.repeat(20_000) }), 431],
      ['audio', media.internalPort, head('GET', audioPath(), { ...vouched('GET'), Connection: 'close' }), 200],
      ['no credential', media.internalPort, head('GET', audioPath()), 401],
    ];
    for (const [what, port, request, status] of cases) {
      const { received, closed } = await open(port, request);
      await closed;
      const [, code] = /^HTTP\/1\.1 (\d{3}) /.exec(received()) ?? [];
      expect({ what, code, nosniff: /\r\nx-content-type-options: nosniff\r\n/i.test(received()) }).toEqual({
        what,
        code: String(status),
        nosniff: true,
      });
    }
  });
});

describe('a connection to media', () => {
  it.each(['openPort', 'internalPort'] as const)(
    'closes a connection with 1,000 pipelined requests after a few responses: %s',
    async (port) => {
      const { received, closed } = await open(media[port], head('GET', '/').repeat(1_000));
      await closed;
      const codes = [...received().matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => code);
      // Without a credential the first response is 401, and no further request is read.
      expect([codes.length, codes.at(-1)]).toEqual(port === 'openPort' ? [17, '503'] : [1, '401']);
    },
  );
});

describe('an upload to media', () => {
  const expectPlace = (): Promise<unknown> =>
    waitFor(async () => (await media.upload(id, 'next.mp3', Buffer.from('next'))).status === 201, {
      what: 'the place of the upload',
    });

  it('ends an upload slower than 1 KiB/s with 408, and stores nothing', async () => {
    await expectPlace();
    const { socket, received, closed } = await beginUpload();
    const drip = setInterval(() => socket.write('x'.repeat(50)), 500);
    try {
      await closed;
    } finally {
      clearInterval(drip);
    }
    expect(received()).toMatch(
      /^HTTP\/1\.1 408 [\s\S]*connection: close[\s\S]*\{"detail":"The request body did not arrive in time"\}$/i,
    );
    await expectPlace();
    expect(await fixture.readInfosAudio(id)).toMatchObject({ name: 'next.mp3' });
    expect(await fixture.env.sql('select * from media.uploads')).toEqual([]);
  });

  it('stores an upload faster than 1 KiB/s, even in small chunks', async () => {
    // The upload is far faster than the minimum rate and lasts longer than the timeout for slow clients, even on a
    // loaded machine.
    const drops = 12;
    const drop = 'x'.repeat(8_192);
    const { socket, received } = await beginUpload();
    const size = 1_000_000 - part.length - '\r\n--b--\r\n'.length;
    for (let sent = 0; sent < drops; sent++) {
      socket.write(drop);
      await sleep(500);
    }
    socket.write('x'.repeat(size - drops * drop.length));
    socket.write('\r\n--b--\r\n');
    await waitFor(() => received() !== '');
    expect(received()).toMatch(/^HTTP\/1\.1 201 /);
  });

  it('releases the slot of an upload whenever its client disconnects', async () => {
    for (let attempt = 0; attempt < 40; attempt++) {
      const { socket } = await beginUpload();
      await sleep(attempt % 8);
      socket.destroy();
    }
    await expectPlace();
  });
});

describe('a download from media', () => {
  const begin = async (): Promise<Wire> => {
    const wire = await open(media.openPort, '');
    wire.socket.pause();
    wire.socket.write(head('GET', video));
    return wire;
  };

  it('aborts a download that the client does not read', async () => {
    const { socket, closed } = await begin();
    await sleep(8_000);
    socket.resume(); // Reads the bytes in the kernel's buffer, and then the end of the connection.
    await closed;
    expect(socket.bytesRead).toBeLessThan(film.length);
  });

  it('completes a slow download faster than 1 KiB/s', async () => {
    const { socket, closed } = await begin();
    socket.on('data', () => {
      socket.pause();
      setTimeout(() => socket.resume(), 10);
    });
    socket.resume();
    await waitFor(() => socket.bytesRead > film.length);
    socket.end();
    await closed;
  });
});
