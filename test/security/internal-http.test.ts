/**
 * Unauthorized access to the media service's ports, from inside the network and through the gateway
 * (docs/adr/internal-http.md; OWASP API1, API2 and API5:2023).
 */
import { once } from 'node:events';
import { request as sendRequest } from 'node:http';
import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { type ActorSigner, createActorSigner, generateActorKeys } from '#libs/infrastructure/actor';
import type { Actor } from '#libs/infrastructure/contract';
import { mediaPaths } from '#services/media';
import { readMetric } from './attacker.ts';
import { type Circle, startCircle } from './circle.ts';
import { type Intruder, takeOver } from './intruder.ts';

interface Reply {
  readonly status: number;
  readonly text: string;
}
interface Given {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | FormData;
}

const forged = 'forged bytes';
const kept = 'kept bytes';
const refused = [401, { detail: 'The caller cannot be verified' }];
/** Unsigned actors, in the format of earlier releases. */
const unsigned: Readonly<Record<string, string>> = {
  'the platform itself': '{"kind":"system","name":"maintenance"}',
  'a superuser':
    '{"kind":"user","accountId":1,"personId":1,"superuser":true,"globalEditor":true,"coherenceAccess":true}',
};

describe('ports of the media service', () => {
  let circle: Circle;
  let signer: ActorSigner;
  let ada: Actor;
  let conversation: number;
  let video: string;
  let holon: number;
  let logo: Buffer<ArrayBuffer>;
  const intruders: Intruder[] = [];
  const setting = (name: string): string => circle.platform.runtime.settings[name] ?? '';

  beforeAll(async () => {
    circle = await startCircle(import.meta.url);
    const { platform, people, account } = circle;
    const { ids } = await platform.apply({
      classes: [{ slug: 'experience' }, { slug: 'walk', parent: 'experience' }],
      holons: [{ slug: 'walk', name: 'Walk', class: 'walk', parent: null }],
      accounts: [account('ada', { teams: [{ holon: 'walk', active: true }] })],
    });
    holon = ids['holons']?.['walk'] ?? 0;
    signer = createActorSigner(setting('ACTOR_SIGNING_KEY'));
    const [row] = await platform.sql<{ id: number }>(
      `select id from directory.accounts where email = 'ada@example.org'`,
    );
    const rights = { superuser: false, globalEditor: false, coherenceAccess: true };
    ada = { kind: 'user', accountId: row?.id ?? 0, personId: people['ada'] ?? 0, ...rights };
    conversation = await circle.createRich(kept);
    video = (
      await platform.call('GET', `/api/coherence/conversations/${conversation}/video`, { token: circle.tokens.ben })
    ).json.url;
    const picture = sharp({ create: { width: 12, height: 8, channels: 3, background: '#c02060' } });
    logo = Buffer.from(await picture.png().toBuffer());
  });
  afterAll(async () => {
    for (const { connection } of intruders) await connection.close();
    await circle.stop();
  });

  const audioPath = (): string => mediaPaths.conversationAudio(conversation);
  const recordingPath = (): string => mediaPaths.recording(conversation, 'full');
  const logoPath = (): string => mediaPaths.holonLogo(holon);
  const formOf = (part: string, name: string, bytes: string | Buffer<ArrayBuffer>): FormData => {
    const form = new FormData();
    form.append(part, new Blob([bytes]), name);
    return form;
  };
  /** Sends a request with head and body in one write, because the server may close the connection after the head. */
  async function ask(
    port: 'MEDIA_URL' | 'MEDIA_INTERNAL_URL',
    method: string,
    path: string,
    { headers, body }: Given = {},
  ): Promise<Reply> {
    const sent = new Response(body ?? null);
    const bytes = Buffer.from(await sent.arrayBuffer());
    const type = sent.headers.get('content-type');
    const own = {
      ...(type === null ? {} : { 'content-type': type }),
      ...(body === undefined ? {} : { 'content-length': bytes.length }),
    };
    return new Promise((resolve, reject) => {
      const request = sendRequest(new URL(path, setting(port)), {
        method,
        headers: { ...own, ...headers },
        agent: false,
      });
      request.once('error', reject);
      request.once('response', (response) => {
        readText(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
      });
      request.end(body === undefined ? undefined : bytes);
    });
  }
  const askInside = (method: string, path: string, given?: Given): Promise<Reply> =>
    ask('MEDIA_INTERNAL_URL', method, path, given);
  const told = ({ status, text }: Reply): unknown[] => [status, JSON.parse(text)];
  const takeAccount = async (service: string): Promise<Intruder> => {
    const intruder = await takeOver(service, circle.platform.runtime.settings);
    intruders.push(intruder);
    return intruder;
  };
  /** Returns valid requests for each operation of the internal port. */
  const operations = (): [what: string, method: string, path: string, body?: string | FormData][] => [
    ['reads a recording of voices', 'GET', audioPath()],
    ['replaces it', 'PUT', `${audioPath()}?name=forged.mp3`, forged],
    ['replaces the film', 'PUT', `${recordingPath()}?name=forged.mp4`, forged],
    ['uploads, with a note', 'POST', audioPath(), formOf('audio', 'forged.mp3', forged)],
    ['sets a logo', 'POST', logoPath(), formOf('logo', 'forged.png', logo)],
  ];
  /** Checks that the attacked data is unchanged. */
  async function expectUntouched(): Promise<void> {
    const { platform, tokens } = circle;
    const audio = await platform.call('GET', `/api/coherence/conversations/${conversation}/audio`, {
      token: tokens.ben,
    });
    expect([audio.status, audio.text]).toEqual([200, `${kept} talk.mp3`]);
    expect(await (await fetch(new URL(video, platform.baseUrl))).text()).toBe(`${kept} film.mp4`);
    const [{ logo_url } = { logo_url: 'no row' }] = await platform.sql<{ logo_url: string | null }>(
      'select logo_url from directory.holons where id = $1',
      [holon],
    );
    expect(logo_url).toBeNull();
    expect(await platform.findInDatabase('forged.')).toEqual([]);
  }

  describe('internal port of media', () => {
    it('rejects internal requests without a credential', async () => {
      for (const [what, method, path, body] of operations()) {
        const reply = await askInside(method, path, body === undefined ? {} : { body });
        expect({ what, told: told(reply) }).toEqual({ what, told: refused });
      }
      await expectUntouched();
    });

    it.each(Object.keys(unsigned))('rejects internal requests with an unsigned actor: %s', async (who) => {
      for (const [what, method, path, body] of operations()) {
        const headers = { actor: unsigned[who] ?? '' };
        const reply = await askInside(method, path, { headers, ...(body === undefined ? {} : { body }) });
        expect({ what, told: told(reply) }).toEqual({ what, told: refused });
      }
      await expectUntouched();
    });

    it('rejects internal writes in the name of another actor', async () => {
      const body = (): FormData => formOf('audio', 'forged.mp3', forged);
      const assertions: Record<string, string> = {
        'signed with a key of their own': createActorSigner(generateActorKeys().signingKey).encodeFor(
          ada,
          'POST',
          audioPath(),
        ),
        'seen in a call over NATS': signer.encode(ada),
        'seen three minutes ago': createActorSigner(setting('ACTOR_SIGNING_KEY'), () => Date.now() - 180_000).encodeFor(
          ada,
          'POST',
          audioPath(),
        ),
        'seen when she read': signer.encodeFor(ada, 'GET', audioPath()),
        'seen with another conversation': signer.encodeFor(ada, 'POST', mediaPaths.conversationAudio(conversation + 1)),
        'seen with a logo': signer.encodeFor(ada, 'POST', logoPath()),
      };
      for (const [what, actor] of Object.entries(assertions)) {
        expect({
          what,
          told: told(await askInside('POST', audioPath(), { headers: { actor }, body: body() })),
        }).toEqual({
          what,
          // The clock of this replica may also be wrong, so the client may retry.
          told: what.includes('ago') ? [503, refused[1]] : refused,
        });
      }
      await expectUntouched();
    });

    it("returns 503 for an internal request if its own clock may be behind the gateway's clock", async () => {
      const ahead = createActorSigner(setting('ACTOR_SIGNING_KEY'), () => Date.now() + 3_600_000);
      const headers = { actor: ahead.encodeFor(ada, 'POST', audioPath()) };
      const reply = await askInside('POST', audioPath(), { headers, body: formOf('audio', 'forged.mp3', forged) });
      expect(told(reply)).toEqual([503, refused[1]]);
      await expectUntouched();
    });

    it('accepts a signed actor only for the request for which the gateway signed it', async () => {
      const headers = { actor: signer.encodeFor(ada, 'GET', audioPath()) };
      expect((await askInside('GET', audioPath(), { headers })).text).toBe(`${kept} talk.mp3`);
      for (const [method, path] of [
        ['PUT', `${audioPath()}?name=forged.mp3`],
        ['POST', audioPath()],
        ['GET', mediaPaths.conversationAudio(conversation + 1)],
        ['GET', `${audioPath()}/`],
        ['PUT', recordingPath()],
      ] as const)
        expect(told(await askInside(method, path, { headers }))).toEqual(refused);
      // An upload with PUT requires a ticket, so an actor is not enough.
      const put = { actor: signer.encodeFor(ada, 'PUT', audioPath()) };
      expect(told(await askInside('PUT', `${audioPath()}?name=forged.mp3`, { headers: put, body: forged }))).toEqual(
        refused,
      );
      await expectUntouched();
    });

    it.each([
      ['is not believed', 401, 0],
      ['is believed by another clock', 503, 3_600_000],
    ])('reads no byte of the body of an internal client that %s', async (_who, status, aheadMs) => {
      const away = createActorSigner(setting('ACTOR_SIGNING_KEY'), () => Date.now() + aheadMs);
      const credential = aheadMs === 0 ? '' : `Actor: ${away.encodeFor(ada, 'PUT', recordingPath())}\r\n`;
      const { hostname, port } = new URL(setting('MEDIA_INTERNAL_URL'));
      const socket = connect(Number(port), hostname);
      let received = '';
      socket.setEncoding('latin1').on('data', (text: string) => (received += text));
      socket.on('error', () => undefined);
      const ended = once(socket, 'close');
      socket.write(
        `PUT ${recordingPath()}?name=forged.mp4 HTTP/1.1\r\nHost: media\r\n${credential}Content-Length: 1000000000\r\n\r\n`,
      );
      await ended; // The server closes the connection without waiting for the body, of which no byte was sent.
      expect(received).toMatch(new RegExp(String.raw`^HTTP/1\.1 ${status} [\s\S]*connection: close`, 'i'));
      await expectUntouched();
    });
  });

  describe('tickets of media', () => {
    const issueDownload = async (): Promise<string> => {
      const answer = await (
        await takeAccount('transcripts')
      ).ask('media.tickets.issue-download', { conversation_id: conversation });
      return (answer as { body: { ticket: string } }).body.ticket;
    };

    it.each(['agents', 'conversations', 'directory', 'media'])(
      'issues no ticket to the compromised service %s',
      async (service) => {
        const intruder = await takeAccount(service);
        // A service may subscribe to its own subjects, but it may not call them in the name of another service.
        if (service !== 'media')
          expect(await intruder.ask('media.tickets.issue-download', { conversation_id: conversation })).toBe('denied');
        expect(
          await intruder.ask('admin.media.tickets.issue-upload', { conversation_id: conversation, kind: 'full' }),
        ).toBe('denied');
      },
    );

    it('issues no upload ticket to any service', async () => {
      const request = { conversation_id: conversation, kind: 'full' };
      expect(await (await takeAccount('transcripts')).ask('admin.media.tickets.issue-upload', request)).toBe('denied');
    });

    it('accepts a ticket once, however many clients use it concurrently', async () => {
      const headers = { ticket: await issueDownload() };
      const replies = await Promise.all(Array.from({ length: 20 }, () => askInside('GET', audioPath(), { headers })));
      expect(replies.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
        200,
        ...Array.from({ length: 19 }, () => 401),
      ]);
      expect(told(await askInside('GET', audioPath(), { headers }))).toEqual(refused);
    });

    it('accepts a ticket only for its file', async () => {
      const headers = { ticket: await issueDownload() };
      const other = await circle.createRich('of others');
      for (const [method, path] of [
        ['GET', mediaPaths.conversationAudio(other)],
        ['PUT', `${audioPath()}?name=forged.mp3`],
        ['POST', audioPath()],
        ['PUT', `${recordingPath()}?name=forged.mp4`],
      ] as const)
        expect(told(await askInside(method, path, { headers, ...(method === 'GET' ? {} : { body: forged }) }))).toEqual(
          refused,
        );
      // The failed attempts elsewhere did not use up the ticket.
      expect((await askInside('GET', audioPath(), { headers })).text).toBe(`${kept} talk.mp3`);
      await expectUntouched();
    });

    it('accepts a ticket for a minute', async () => {
      const headers = { ticket: await issueDownload() };
      const [{ seconds } = { seconds: 0 }] = await circle.platform.sql<{ seconds: number }>(
        'select extract(epoch from max(expires_at) - clock_timestamp())::float8 as seconds from media.tickets',
      );
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(60);
      await circle.platform.sql('update media.tickets set expires_at = clock_timestamp()');
      expect(told(await askInside('GET', audioPath(), { headers }))).toEqual(refused);
    });

    it.each([
      ['one of the right form', 'x'.repeat(43)],
      ['an empty one', ''],
      ['SQL', "' or true --"],
      ['a long one', 'x'.repeat(10_000)],
    ])('rejects a guessed ticket: %s', async (_name, ticket) => {
      expect(told(await askInside('GET', audioPath(), { headers: { ticket } }))).toEqual(refused);
    });

    it('does not store tickets in the database', async () => {
      expect(await circle.platform.findInDatabase(await issueDownload())).toEqual([]);
    });
  });

  describe('requests to media through the gateway', () => {
    const path = (): string => `/api/coherence/conversations/${conversation}/audio`;

    it('ignores identity headers of a client at the gateway', async () => {
      const { platform, tokens } = circle;
      const headers: Record<string, string> = {
        actor: unsigned['a superuser'] ?? '',
        ticket: 'x'.repeat(43),
        'request-id': 'mine',
        deadline: '9999999999999',
      };
      expect((await platform.call('GET', path(), { token: null, headers })).status).toBe(401);
      // Carl does not take part in the conversation.
      expect((await platform.call('GET', path(), { token: tokens.carl, headers })).status).toBe(404);
      expect(
        (
          await platform.call('POST', path(), {
            token: tokens.carl,
            headers,
            body: formOf('audio', 'forged.mp3', forged),
          })
        ).status,
      ).toBe(404);
      await expectUntouched();
      const own = { ...headers, actor: signer.encodeFor(ada, 'POST', audioPath()) };
      const uploaded = await platform.call('POST', path(), {
        token: tokens.ben,
        headers: own,
        body: formOf('audio', 'by-ben.mp3', 'of Ben'),
      });
      expect(uploaded.status).toBe(201);
      const notes = await platform.ask('notes', 'list', '--conversation', String(conversation));
      expect(notes.filter(({ body }: { body: string }) => body.includes('by-ben.mp3'))).toMatchObject([
        { author_person: { id: circle.people['ben'] } },
      ]);
    });

    it.each([
      '/media/../internal/',
      '/media/%2e%2e/internal/',
      '/media//internal/',
      '/internal/',
      '/media/recordings/..%2f..%2finternal%2f',
    ])('forwards no path to the internal port: %s', async (start) => {
      const { hostname, port } = new URL(circle.platform.baseUrl);
      const socket = connect(Number(port), hostname);
      let received = '';
      socket.setEncoding('latin1').on('data', (text: string) => (received += text));
      const target = `${start}conversations/${conversation}/audio`;
      socket.write(
        `GET ${target} HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\nAuthorization: Bearer ${circle.platform.sharedToken}\r\n\r\n`,
      );
      await once(socket, 'close');
      expect(received).toMatch(/^HTTP\/1\.1 404 /);
      expect(received).not.toContain('talk.mp3');
    });
  });

  it('serves routes of the public port and of the internal port only on their own port, with any credential', async () => {
    const headers = { actor: signer.encodeFor(ada, 'GET', audioPath()) };
    expect((await ask('MEDIA_URL', 'GET', audioPath(), { headers })).status).toBe(404);
    for (const [, method, path, body] of operations())
      expect((await ask('MEDIA_URL', method, path, body === undefined ? {} : { body })).status).toBe(404);
    expect(told(await askInside('GET', video))).toEqual(refused);
    const inside = { actor: signer.encodeFor(ada, 'GET', video.split('?')[0] ?? '') };
    expect((await askInside('GET', video, { headers: inside })).status).toBe(404);
    expect((await ask('MEDIA_URL', 'GET', video)).text).toBe(`${kept} film.mp4`);
    expect((await ask('MEDIA_URL', 'PUT', video, { body: forged })).status).toBe(405);
  });

  it('counts and logs rejected requests to media without their content', async () => {
    const reasons = ['no_actor', 'malformed', 'unknown_key', 'expired', 'other_request', 'wrong_kind', 'bad_ticket'];
    const counts = await Promise.all(
      reasons.map((reason) => readMetric(circle.platform, 'media', 'coherence_refused_callers_total', { reason })),
    );
    expect(reasons.filter((_reason, index) => Number(counts[index]) > 0)).toEqual(reasons);
    const logs = await circle.platform.readLogs();
    expect(logs).toContain('internal http: unverified request rejected');
    expect(logs).not.toContain('eyJhbGci');
  });
});
