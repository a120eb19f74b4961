import { request as sendRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import type { Actor } from '#libs/infrastructure/contract';
import { waitFor } from '#libs/product/testing';
import { directory } from '#services/directory';
import { maxLogoBytes, mediaPaths } from '#services/media';
import { startMediaFixture, readReply, type Reply, type RunningMedia, type MediaFixture } from './fixture.ts';

let fixture: MediaFixture;
let media: RunningMedia;
let host: Actor;
let guest: Actor;
let ids: Record<string, number>;
beforeAll(async () => {
  fixture = await startMediaFixture(import.meta.url);
  media = await fixture.startMedia({ MEDIA_REPLACED_GRACE_SECONDS: '0' });
  const applied = await fixture.call(directory.rpcs.applyWorkspace, {
    dry_run: false,
    document: {
      classes: [{ slug: 'experience' }, { slug: 'walk', parent: 'experience' }, { slug: 'camp' }],
      people: [{ key: 'hana', name: 'Hana' }],
      holons: [
        { slug: 'camp', name: 'Camp', class: 'camp' },
        ...Array.from({ length: 6 }, (_, index) => ({
          slug: `walk-${index}`,
          name: 'Walk',
          class: 'walk',
          parent: 'camp',
        })),
      ],
      accounts: [
        { email: 'hana@example.org', person: 'hana', teams: [{ holon: 'camp' }] },
        { email: 'gus@example.org' },
      ],
    },
  });
  ids = applied.ids['holons'] ?? {};
  const actor = (email: string): Actor => ({
    kind: 'user',
    accountId: applied.ids['accounts']?.[email] ?? 0,
    personId: applied.ids['people']?.['hana'] ?? 0,
    superuser: false,
    globalEditor: false,
    coherenceAccess: false,
  });
  host = actor('hana@example.org');
  guest = actor('gus@example.org');
});
afterAll(() => fixture.stop());

const png = (colour = '#c02060') =>
  sharp({ create: { width: 12, height: 8, channels: 3, background: colour } })
    .png()
    .toBuffer();
const walk = (index: number): number => ids[`walk-${index}`] ?? 0;

function post(
  holonId: number,
  form: FormData,
  actor: Actor | undefined = host,
  port = media.internalPort,
): Promise<Reply> {
  const body = new Response(form);
  return new Promise((resolve, reject) => {
    const path = mediaPaths.holonLogo(holonId);
    const headers = {
      'content-type': body.headers.get('content-type') ?? '',
      ...(actor === undefined ? {} : { actor: fixture.env.actors.encodeFor(actor, 'POST', path) }),
    };
    const request = sendRequest({ port, host: '127.0.0.1', method: 'POST', path, headers, agent: false });
    readReply(request).then(resolve, reject);
    body.arrayBuffer().then((bytes) => request.end(Buffer.from(bytes)), reject);
  });
}
function formOf(bytes: Uint8Array, name = 'logo.png', part = 'logo', type = 'image/png'): FormData {
  const form = new FormData();
  form.append(part, new Blob([new Uint8Array(bytes)], { type }), name);
  return form;
}
const upload = (holonId: number, bytes: Uint8Array, actor?: Actor, name?: string) =>
  post(holonId, formOf(bytes, name), actor);
const urlOf = (reply: Reply): string => (reply.json as { experience: { logo_url: string } }).experience.logo_url;
async function storedUrl(holonId: number): Promise<string | null> {
  const [row] = await fixture.env.sql<{ logo_url: string | null }>(
    'select logo_url from directory.holons where id = $1',
    [holonId],
  );
  return row?.logo_url ?? null;
}
function download(path: string): Promise<Reply> {
  const request = sendRequest({ port: media.openPort, host: '127.0.0.1', path, agent: false });
  const reply = readReply(request);
  request.end();
  return reply;
}
const keys = async (holonId: number): Promise<string[]> =>
  (await Array.fromAsync(fixture.store.list(`logos/${holonId}/`))).map(({ key }) => key);
const invalid = { code: 'validation_error', message: expect.any(String), retryable: false };

describe('POST /experiences/{id}/logo (rules/media#logo; D51)', () => {
  it('stores the uploaded image, sets it as the logo and serves it under the media path', async () => {
    const reply = await upload(walk(0), await png());
    expect([reply.status, reply.json]).toEqual([
      200,
      {
        experience: expect.objectContaining({
          id: walk(0),
          type: 'walk',
          logo_url: expect.stringMatching(/^\/media\/logos\/\d+\/[\w-]{32}\.png\?v=[\w-]{16}$/),
        }),
      },
    ]);
    expect(await storedUrl(walk(0))).toBe(urlOf(reply));
    const file = await download(urlOf(reply));
    expect([
      file.status,
      file.headers['content-type'],
      file.headers['cache-control'],
      file.headers['x-content-type-options'],
    ]).toEqual([200, 'image/png', 'public, max-age=31536000, immutable', 'nosniff']);
    expect(await sharp(file.body).metadata()).toMatchObject({ format: 'png', width: 12, height: 8 });
    const [blob] = await fixture.env.sql(
      'select kind, holon_id, name from media.blobs where retired_at is null and holon_id = $1',
      [walk(0)],
    );
    expect(blob).toEqual({ kind: 'logo', holon_id: walk(0), name: 'logo.png' });
  });

  it('detects the image type from the bytes, regardless of file name and declared type', async () => {
    const gif = await sharp(await png())
      .gif()
      .toBuffer();
    expect(urlOf(await post(walk(1), formOf(gif, 'picture.txt', 'logo', 'text/plain')))).toMatch(/\.gif\?v=/);
    const reply = await post(walk(1), formOf(Buffer.from('<script>alert(1)</script>'), 'logo.png'));
    expect([reply.status, reply.json]).toEqual([400, invalid]);
  });

  it('replaces the previous logo and removes it from the store', async () => {
    const first = urlOf(await upload(walk(2), await png('#000000')));
    const second = urlOf(await upload(walk(2), await png('#ffffff')));
    expect(second).not.toBe(first);
    expect((await download(first)).status).toBe(404);
    expect((await download(second)).status).toBe(200);
    await waitFor(async () => (await keys(walk(2))).length === 1);
    expect(second).toContain((await keys(walk(2)))[0]);
  });

  it('keeps the previous logo when the new one is rejected', async () => {
    const before = urlOf(await upload(walk(3), await png()));
    const whole = await sharp(Buffer.from(Array.from({ length: 30_000 }, (_, index) => (index * 7919) % 251)), {
      raw: { width: 100, height: 100, channels: 3 },
    })
      .png()
      .toBuffer();
    for (const bytes of [
      Buffer.from('no picture'),
      Buffer.alloc(0),
      whole.subarray(0, whole.byteLength / 2),
      Buffer.alloc(maxLogoBytes + 1),
    ]) {
      const reply = await upload(walk(3), bytes);
      expect([reply.status, reply.json]).toEqual([400, invalid]);
    }
    expect(await storedUrl(walk(3))).toBe(before);
    expect((await download(before)).status).toBe(200);
    expect(await keys(walk(3))).toHaveLength(1);
  });

  it('accepts a logo of up to 5 242 880 bytes', async () => {
    const small = await png();
    const exact = Buffer.concat([small, Buffer.alloc(maxLogoBytes - small.byteLength)]);
    expect((await upload(walk(4), exact)).status).toBe(200);
    const reply = await upload(walk(4), Buffer.concat([exact, Buffer.alloc(1)]));
    expect([reply.status, reply.json]).toEqual([400, { ...invalid, message: expect.stringContaining('5 MB') }]);
  });

  it('returns 422 for a form without a file or with a text as file, and 400 with a message for a malformed form', async () => {
    const text = new FormData();
    text.append('logo', 'https://example.org/logo.png');
    for (const form of [formOf(await png(), 'a.png', 'other'), text]) {
      const reply = await post(walk(4), form);
      expect([reply.status, reply.json]).toEqual([
        422,
        { detail: [{ type: 'missing', loc: ['file', 'logo'], msg: 'Field required' }] },
      ]);
    }
    const broken = await new Promise<Reply>((resolve, reject) => {
      const path = mediaPaths.holonLogo(walk(4));
      const actor = fixture.env.actors.encodeFor(host, 'POST', path);
      const headers = { 'content-type': 'multipart/form-data; boundary=x', actor };
      const request = sendRequest({
        port: media.internalPort,
        host: '127.0.0.1',
        method: 'POST',
        path,
        headers,
        agent: false,
      });
      readReply(request).then(resolve, reject);
      request.end('--x\r\nContent-Disposition: form-data; name="logo"; filename="a.png"\r\n\r\nabc');
    });
    expect([broken.status, broken.json]).toEqual([400, { detail: 'Cannot parse request body' }]);
  });

  it('checks authorization before it reads the image', async () => {
    const nothing = formOf(Buffer.from('x'));
    const denied = await post(walk(4), nothing, guest);
    expect([denied.status, denied.json]).toEqual([
      403,
      { code: 'permission_denied', message: expect.any(String), retryable: false },
    ]);
    for (const id of [ids['camp'] ?? 0, 999_999]) {
      const reply = await post(id, nothing);
      expect([reply.status, reply.json]).toEqual([404, { code: 'not_found', message: 'Not Found', retryable: false }]);
    }
  });

  it('sets the last of concurrent uploads as the logo in directory and media, and stores no other', async () => {
    const replies = await Promise.all(
      ['#100000', '#200000', '#300000', '#400000', '#500000'].map(async (colour) => upload(walk(5), await png(colour))),
    );
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const [current] = await fixture.env.sql<{ object_key: string }>(
      `select object_key from media.blobs where holon_id = $1 and retired_at is null`,
      [walk(5)],
    );
    expect(await storedUrl(walk(5))).toContain(current?.object_key);
    await waitFor(async () => (await keys(walk(5))).join() === current?.object_key);
  });

  it('removes the logo of a deleted holon from the store', async () => {
    const url = urlOf(await upload(walk(4), await png()));
    await fixture.call(directory.rpcs.deleteHolon, { holon_id: walk(4) });
    await waitFor(async () => (await keys(walk(4))).length === 0);
    expect((await download(url)).status).toBe(404);
  });

  it('returns 503 for a logo and changes nothing while the object store is unavailable', async () => {
    const before = urlOf(await upload(walk(0), await png()));
    fixture.proxy.cut();
    const reply = await upload(walk(0), await png('#123456'));
    fixture.proxy.restore();
    expect([reply.status, reply.json]).toEqual([
      503,
      { code: 'server_error', message: expect.any(String), retryable: true },
    ]);
    expect(await storedUrl(walk(0))).toBe(before);
    expect((await download(before)).status).toBe(200);
  });
});
