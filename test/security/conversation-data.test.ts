/**
 * Attacks on conversation data. A conversation cannot grow until reads become huge (D63), deleted data cannot be read
 * (D67), and with CONVERSATION_ACCESS=members only members can read and write a conversation (D69; OWASP API1, API4).
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Route } from '#libs/infrastructure/contract';
import { signBooking } from '#libs/product/testing';
import { routes } from '../../services/api-gateway/routes/index.ts';
import { eventually, type Answer, type Call, type TestPlatform } from '../e2e/test-platform.ts';
import { readMetric } from './attacker.ts';
import { type Circle, startCircle } from './circle.ts';

const api = '/api/coherence/conversations';
const absent = 2_147_483_647;

let circle: Circle;
let platform: TestPlatform;
let tokens: Circle['tokens'];
let people: Circle['people'];
beforeAll(async () => {
  circle = await startCircle(import.meta.url);
  ({ platform, tokens, people } = circle);
});
afterAll(() => circle.stop());

/** Valid requests by operation. A route of a conversation that is missing here fails the tests below. */
const requests: Readonly<Record<string, () => Call>> = {
  getConversation: () => ({}),
  patchConversation: () => ({ json: { infos: { probe: 1 } } }),
  getConversationInfos: () => ({}),
  patchConversationInfos: () => ({ json: { infos: { probe: 1 } } }),
  markRecorded: () => ({ json: {} }),
  writeRoom: () => ({ json: { phase: 'probe' } }),
  readRoom: () => ({}),
  recordQuestionChange: () => ({
    json: { questionId: 1, occurredAt: '2020-01-01T10:00:00Z' },
    headers: { 'idempotency-key': 'probe' },
  }),
  getConversationSummary: () => ({}),
  uploadAudio: () => {
    const form = new FormData();
    form.append('audio', new Blob(['probe']), 'probe.mp3');
    return { body: form };
  },
  downloadAudio: () => ({}),
  getVideo: () => ({}),
  downloadTranscript: () => ({}),
  downloadCaptions: () => ({}),
  readImportEvidence: () => ({}),
  updateConversation: () => ({ json: { finish: null } }),
  deleteConversation: () => ({}),
  restoreConversation: () => ({}),
  listConversationNotes: () => ({}),
  createConversationNote: () => ({ json: { body: 'probe' } }),
  getConversationTimeline: () => ({}),
};
/** Operations for editors: coherence access or team authority over the event (W8). */
const ofEditors = [
  'updateConversation',
  'deleteConversation',
  'restoreConversation',
  'listConversationNotes',
  'createConversationNote',
];
/** Operations that return conversations without naming one in the path. */
const listings = [
  'findActiveConversations',
  'searchConversations',
  'searchTranscripts',
  'browseHolonConversations',
  'browseJourneyConversations',
];
/**
 * Operations of these services that do not return conversation data of others. Routes below `/media` are tested
 * separately.
 */
const others = ['createConversation', 'explainBookingHook', 'receiveBooking', 'receiveMeetingReport', 'downloadMedia'];

/**
 * Operators see job data, not conversation content, and are authorized by their groups
 * (test/e2e/auth-table.drill.test.ts).
 */
const ofMembers = routes.filter(({ path }) => !path.startsWith('/api/ops/'));
/** Operations whose lists have an entry for each deletion and restore. */
const growing = ['listConversationNotes', 'getConversationTimeline'];
const naming = ofMembers.filter(({ path }) => path.includes('{conversation_id}'));
const isRead = ({ method }: Route): boolean => method === 'GET';

function ask(route: Route, id: number, token: string | null): Promise<Answer> {
  const request = requests[route.operationId];
  if (request === undefined) throw new Error(`${route.operationId} names a conversation: say above how it is asked`);
  return platform.call(route.method, route.path.replace('{conversation_id}', String(id)), { ...request(), token });
}

/** Returns the text of all listings for a caller of this event and journey. */
async function readListings(token: string): Promise<string> {
  const paths = [
    `${api}/search`,
    `${api}/search?holon_slug=host`,
    `${api}/search?connected_holon_slug=autumn`,
    `${api}/search?person_id=${people['ben']}&sort=date_asc`,
    '/api/coherence/transcripts/search?q=said',
    '/api/coherence/transcripts/search?q=told',
    '/api/coherence/browse/holons/host/conversations',
    '/api/coherence/browse/conversations?journey_slug=circle',
    '/api/coherence/browse/conversations?journey_slug=circle&holon_slug=spring',
  ];
  const answers = await Promise.all(paths.map((path) => platform.call('GET', path, { token })));
  // The shared token cannot search (rules/discovery#search-and-summary).
  const expected = paths.map((path) => (token === platform.sharedToken && path.includes('/search') ? 403 : 200));
  expect(answers.map(({ status }) => status)).toEqual(expected);
  return answers.map(({ text }) => text).join('\n');
}

const findOwn = (token: string, who: string, time: string, journey = 'circle'): Promise<Answer> =>
  platform.call('GET', `${api}?person_id=${people[who]}&journey=${journey}&time=${time}`, { token });

describe('the route table and conversations (D67, D69)', () => {
  it('tests every route with a conversation id, and lists all other routes of the services that store conversations', () => {
    expect(naming.map(({ operationId }) => operationId).toSorted()).toEqual(Object.keys(requests).toSorted());
    const holding = ofMembers.filter(
      ({ rpc, handler, path }) =>
        /^(conversations|transcripts|media)\./.test(rpc?.subject ?? '') ||
        handler === 'media' ||
        path.includes('/conversations'),
    );
    const known = [...Object.keys(requests), ...listings, ...others];
    const logo = (route: Route): boolean => route.path.includes('logo');
    expect(
      holding
        .filter((route) => !logo(route) && !known.includes(route.operationId))
        .map(({ operationId }) => operationId),
    ).toEqual([]);
  });
});

describe('an account without access to a members-only conversation (D69; OWASP API1)', () => {
  const said = 'told in confidence';
  let id: number;
  let before: Answer;
  beforeAll(async () => {
    id = await circle.createRich(said);
    before = await platform.call('GET', `${api}/${id}`);
    expect(before.status).toBe(200);
  });

  it.each(naming)('$method $path answers an account without access as for an unknown conversation', async (route) => {
    for (const token of [tokens.carl, tokens.gina]) {
      const [refused, nothing] = [await ask(route, id, token), await ask(route, absent, token)];
      expect([refused.status, refused.text]).toEqual([404, nothing.text]);
      expect(refused.headers.get('etag')).toBeNull();
    }
  });

  it('changes nothing in a conversation by requests of accounts without access', async () => {
    expect((await platform.call('GET', `${api}/${id}`)).json).toEqual(before.json);
    expect((await platform.call('GET', `${api}/${id}/audio`)).text).toBe(`${said} talk.mp3`);
  });

  it('omits the conversation from searches and lists of accounts without access', async () => {
    for (const key of ['carl', 'gina'] as const) expect(await readListings(tokens[key])).not.toContain(said);
  });

  it('counts denied requests in a metric, and logs their account', async () => {
    expect(
      await readMetric(platform, 'conversations', 'coherence_conversation_access_refused_total'),
    ).toBeGreaterThanOrEqual(naming.length);
    const [account] = await platform.sql<{ id: number }>(
      `select id from directory.accounts where email = 'carl@example.org'`,
    );
    const lines = (await platform.readLogs())
      .split('\n')
      .filter((line) => line.includes(`"path":"${api}/${id}/summary"`));
    expect(lines.map((line) => JSON.parse(line) as unknown)).toContainEqual(
      expect.objectContaining({ msg: 'request', status: 404, accountId: account?.id }),
    );
  });

  it('neither returns nor creates a conversation of another person by find-or-create', async () => {
    const amount = () => platform.sql('select count(*)::integer as n from conversations.conversations');
    const made = await amount();
    const start = (before.json as { start: string }).start;
    for (const time of [start, '2035-01-01T00:00:00Z']) {
      const answer = await findOwn(tokens.carl, 'ben', time);
      expect([answer.status, answer.json]).toEqual([404, { detail: 'Not Found' }]);
    }
    expect(await amount()).toEqual(made);
    const own = await findOwn(tokens.carl, 'carl', '2035-01-01T00:00:00Z');
    expect([own.status, own.json[0].participants[0].id]).toEqual([200, people['carl']]);
    expect((await platform.call('GET', `${api}/${own.json[0].id}`, { token: tokens.carl })).status).toBe(200);
    // Team authority over the event that owns the journey suffices to create a conversation for another person.
    const led = await findOwn(tokens.carl, 'ben', '2035-01-01T00:00:00Z', 'other');
    expect([led.status, led.json[0].participants[0].id]).toEqual([200, people['ben']]);
  });

  it('denies access to a conversation when the authority over its event ends', async () => {
    const path = `${api}/${id}/infos`;
    const deactivate = (active: boolean) =>
      platform.apply({ accounts: [circle.account('dora', { teams: [{ holon: 'host', active }] })] });
    expect((await platform.call('GET', path, { token: tokens.dora })).status).toBe(200);
    await deactivate(false);
    expect((await platform.call('GET', path, { token: tokens.dora })).status).toBe(404);
    expect(await readListings(tokens.dora)).not.toContain(said);
    await deactivate(true);
    expect((await platform.call('GET', path, { token: tokens.dora })).status).toBe(200);
  });
});

describe('callers with access to a members-only conversation (D69)', () => {
  let id: number;
  const undoDelete = (): Promise<Answer> => platform.call('POST', `${api}/${id}/restore`, { token: tokens.eve });
  beforeAll(async () => {
    id = await circle.createRich('told in the circle');
  });
  const members = ['ben', 'dora', 'ada', 'eve', 'shared'] as const;
  const tokenOf = (key: (typeof members)[number]): string => (key === 'shared' ? platform.sharedToken : tokens[key]);

  it.each(
    naming.flatMap((route) =>
      members
        .filter((member) => member !== 'ben' || !ofEditors.includes(route.operationId))
        .map((member) => ({ route, member, title: `${route.method} ${route.path}` })),
    ),
  )('$title is allowed for the caller $member', async ({ route, member }) => {
    const { operationId } = route;
    if (operationId === 'restoreConversation')
      expect((await platform.call('DELETE', `${api}/${id}`, { token: tokens.eve })).status).toBe(204);
    const answer = await ask(route, id, tokenOf(member));
    const isRefused = member === 'shared' && route.auth === 'user';
    expect(isRefused ? [403] : operationId === 'deleteConversation' ? [204] : [200, 201]).toContain(answer.status);
    const undone = await undoDelete();
    const wasDeleted = operationId === (isRefused ? 'restoreConversation' : 'deleteConversation');
    expect([operationId, undone.status]).toEqual([operationId, wasDeleted ? 200 : 409]);
  });

  it.each(naming.filter(({ operationId }) => ofEditors.includes(operationId)))(
    '$method $path returns 403 to a participant without rights to edit, and changes nothing (D13)',
    async (route) => {
      const read = async (): Promise<unknown[]> =>
        Promise.all(
          ['', '/notes', '/timeline'].map(
            async (path) => (await platform.call('GET', `${api}/${id}${path}`, { token: tokens.eve })).json,
          ),
        );
      const before = await read();
      for (const headers of [{}, { 'if-match': '"other"' }, { 'idempotency-key': `refused-${route.operationId}` }]) {
        const { json } = requests[route.operationId]?.() ?? {};
        const answer = await platform.call(route.method, route.path.replace('{conversation_id}', String(id)), {
          ...(json === undefined ? {} : { json }),
          headers,
          token: tokens.ben,
        });
        expect([answer.status, answer.json]).toEqual([
          403,
          expect.objectContaining({ error: 'coherence_access_required' }),
        ]);
        expect(answer.headers.get('etag')).toBeNull();
      }
      expect(await read()).toEqual(before);
    },
  );

  it.each(members)('lists the members-only conversation for: %s', async (member) => {
    expect(await readListings(tokenOf(member))).toContain('told in the circle');
  });
});

describe('traces of a deleted conversation (D67)', () => {
  const said = 'said before it was deleted';
  let id: number;
  let mediaUrl: string;
  let start: string;
  const shown = new Map<string, string>();
  const readers = (): string[] => [platform.sharedToken, tokens.ada, tokens.ben, tokens.dora, tokens.eve];
  const readerOf = ({ operationId }: Route): string => (ofEditors.includes(operationId) ? tokens.dora : tokens.ben);

  beforeAll(async () => {
    id = await circle.createRich(said);
    mediaUrl = (await platform.call('GET', `${api}/${id}/video`)).json.url;
    expect(await (await fetch(`${platform.baseUrl}${mediaUrl}`)).text()).toBe(`${said} film.mp4`);
    for (const route of naming.filter(isRead)) {
      const answer = await ask(route, id, readerOf(route));
      expect([route.operationId, answer.status]).toEqual([route.operationId, 200]);
      shown.set(route.operationId, answer.text);
    }
    expect([...shown.values()].join()).toContain(said);
    ({ start } = JSON.parse(shown.get('getConversation') ?? '') as { start: string });
    await platform.sql(
      `with booking as (
         insert into conversations.bookings (conversation_id, attendee_key, last_event_at) values ($1, 'uid:traces', '2026-01-01') returning id
       )
       insert into conversations.booking_identifiers (identifier, booking_id) select 'uid:traces', id from booking`,
      [id],
    );
    const body = JSON.stringify({
      triggerEvent: 'BOOKING_CANCELLED',
      createdAt: new Date().toISOString(),
      payload: { uid: 'traces' },
    });
    const headers = { 'content-type': 'application/json', ...signBooking(body) };
    await platform.call('POST', `/api/coherence/hook/booking/${people['ben']}`, { token: null, body, headers });
    await eventually(async () => expect((await platform.call('GET', `${api}/${id}`)).status).toBe(404));
  });

  it.each(naming)('$method $path does not reveal a deleted conversation to any caller', async (route) => {
    // Callers who may edit conversations of the event can restore it (W8).
    const callers = route.operationId === 'restoreConversation' ? [tokens.ben, tokens.carl, tokens.gina] : readers();
    for (const token of callers) {
      if (token === platform.sharedToken && route.auth === 'user') continue;
      const [refused, nothing] = [await ask(route, id, token), await ask(route, absent, token)];
      expect([refused.status, refused.text]).toEqual([404, nothing.text]);
    }
  });

  it('omits a deleted conversation from all lists and from find-or-create', async () => {
    for (const token of readers()) expect(await readListings(token)).not.toContain(said);
    const found = await findOwn(tokens.ben, 'ben', start);
    expect(found.json.map((item: { id: number }) => item.id)).not.toContain(id);
  });

  it('returns 404 for media URLs of a deleted conversation', async () => {
    await eventually(async () => expect((await fetch(`${platform.baseUrl}${mediaUrl}`)).status).toBe(404));
    const [path = ''] = mediaUrl.split('?');
    for (const [method, headers] of [
      ['GET', { range: 'bytes=0-3' }],
      ['HEAD', {}],
      ['GET', { 'if-none-match': '*' }],
    ] as const) {
      expect((await fetch(`${platform.baseUrl}${path}`, { method, headers })).status).toBe(404);
    }
  });

  it('admin CLI commands treat a deleted conversation as unknown, except those for deleted conversations', async () => {
    for (const command of [
      ['conversations', 'move', String(id), 'held'],
      ['conversations', 'connect', String(id), 'autumn'],
      ['conversations', 'disconnect', String(id), 'autumn'],
      ['conversations', 'import-transcript', String(id)],
      ['notes', 'list', '--conversation', String(id)],
    ]) {
      const { code, stdout, stderr } = await platform.cli(...command);
      expect([command, code, stdout]).toEqual([command, 1, '']);
      expect(stderr).toBe(`Conversation ${id} does not exist.\n`);
    }
    const listed = JSON.parse((await platform.cli('conversations', 'deleted', '--json')).stdout) as { id: number }[];
    expect(listed).toContainEqual(
      expect.objectContaining({
        id,
        title: said,
        reason: 'booking_cancelled',
        by: expect.stringMatching(/^receipt \d+$/),
      }),
    );
  });

  it('returns all data of a conversation after its restore', async () => {
    const restored = await platform.cli('conversations', 'restore', String(id), '--json');
    expect([restored.code, JSON.parse(restored.stdout)]).toEqual([0, { conversation_id: id, has_booking: true }]);
    for (const route of naming.filter(isRead)) {
      const { status, text, json } = await ask(route, id, readerOf(route));
      if (growing.includes(route.operationId)) {
        const { items } = JSON.parse(shown.get(route.operationId) ?? '') as { items: unknown[] };
        expect([status, json.items]).toEqual([200, expect.arrayContaining(items)]);
        expect(json.items.length).toBeGreaterThan(items.length);
        continue;
      }
      const without = (body = ''): string => body.replace(/"updated_at":"[^"]*"/, '');
      expect([route.operationId, status, without(text)]).toEqual([
        route.operationId,
        200,
        without(shown.get(route.operationId)),
      ]);
    }
    await eventually(async () =>
      expect(await (await fetch(`${platform.baseUrl}${mediaUrl}`)).text()).toBe(`${said} film.mp4`),
    );
    expect(await readListings(tokens.ben)).toContain(said);
    const again = await platform.cli('conversations', 'restore', String(id));
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('is not deleted')]);
  });

  it('removes the data of a deleted conversation from every service after the retention', async () => {
    const body = JSON.stringify({
      triggerEvent: 'BOOKING_CANCELLED',
      createdAt: new Date().toISOString(),
      payload: { uid: 'traces', title: 'again' },
    });
    const headers = { 'content-type': 'application/json', ...signBooking(body) };
    await platform.call('POST', `/api/coherence/hook/booking/${people['ben']}`, { token: null, body, headers });
    await eventually(async () => expect((await platform.call('GET', `${api}/${id}`)).status).toBe(404));
    await platform.sql(
      `update conversations.all_conversations set deleted_at = deleted_at - interval '31 days' where id = $1`,
      [id],
    );
    // The response of the restore is replayed for a day.
    await platform.sql(`update conversations.kept_answers set expires_at = expires_at - interval '31 days'`);
    await eventually(async () => {
      expect(await platform.findInDatabase(said)).toEqual([]);
      expect(
        await platform.sql('select 1 from media.blobs where conversation_id = $1 and retired_at is null', [id]),
      ).toEqual([]);
    }, 90_000);
    expect((await platform.cli('conversations', 'restore', String(id))).stderr).toBe(
      `Conversation ${id} does not exist.\n`,
    );
  });
});

describe('filling a conversation with large values (D63; OWASP API4)', () => {
  const tooLarge = {
    detail: expect.stringContaining('1 MiB'),
    error: 'conversation_data_too_large',
    message: expect.stringContaining('1 MiB'),
  };
  const text = 'x'.repeat(900_000);
  const readBytes = async (id: number): Promise<number> =>
    (await platform.call('GET', `${api}/${id}`, { token: tokens.ben })).text.length;

  it('rejects five PATCHes of 4 MB each, and changes nothing', async () => {
    const id = await circle.createRich('small');
    const before = await readBytes(id);
    for (let index = 0; index < 5; index += 1) {
      const json = { infos: { [`part${index}`]: 'x'.repeat(3_900_000) } };
      const answer = await platform.call('PATCH', `${api}/${id}`, { token: tokens.ben, json });
      expect([answer.status, answer.json]).toEqual([413, tooLarge]);
    }
    expect(await readBytes(id)).toBe(before);
  });

  it.each([
    ['PATCH', '', (index: number) => ({ infos: { [`part${index}`]: text } })],
    ['PATCH', '', (index: number) => ({ config: { [`part${index}`]: text } })],
    ['PATCH', '/infos', (index: number) => ({ infos: { [`part${index}`]: text } })],
    ['POST', '/recorded', (index: number) => ({ infos: { [`part${index}`]: text } })],
    [
      'POST',
      '/enter-coherence',
      (index: number) => ({ claims: { [`${index}${text}`]: { personId: 1, claimedAt: '2030-01-01T10:00:00Z' } } }),
    ],
    [
      'POST',
      '/enter-coherence',
      (index: number) => ({ participants: [{ customParticipantId: `${index}`, displayName: text }] }),
    ],
  ])('%s %s accepts only the first of several large values', async (method, path, body) => {
    const id = await circle.createRich('small');
    const statuses = [];
    for (let index = 0; index < 3; index += 1) {
      const answer = await platform.call(method, `${api}/${id}${path}`, { token: tokens.ben, json: body(index) });
      statuses.push(answer.status);
      if (answer.status === 413) expect(answer.json).toEqual(tooLarge);
    }
    expect(statuses).toEqual([200, 413, 413]);
    expect(await readBytes(id)).toBeLessThan(1_100_000);
  });

  it.each([
    ['conversation', 2_000, tooLarge],
    ['body', 500_000, { detail: 'The exponents of its numbers stand for more than 16777216 digits' }],
  ])(
    'rejects numbers of a thousand digits that together exceed the size limit of a %s, without expanding them',
    async (_what, count, refusal) => {
      const id = await circle.createRich('small');
      const before = await readBytes(id);
      const body = `{"infos":{"n":[${Array.from({ length: count }, () => '1e1000').join(',')}]}}`;
      const answer = await platform.call('PATCH', `${api}/${id}`, {
        token: tokens.ben,
        body,
        headers: { 'content-type': 'application/json' },
      });
      expect([answer.status, answer.json]).toEqual([413, refusal]);
      expect(await readBytes(id)).toBe(before);
    },
  );
});
