/** Memberships, relationships, notes, worklist and bulk-add over the open API (rules/memberships#membership-lists). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { holdLocks } from '../hold-locks.ts';
import { startTestPlatform, type Answer, type TestPlatform } from './test-platform.ts';

const people = ['ada', 'ben', 'cleo'];
const document = {
  classes: [
    { slug: 'group', label: 'Group', journeys: ['join', 'steward'] },
    { slug: 'closed', label: 'Closed', parent: 'group', private: true },
  ],
  journeys: [
    {
      slug: 'join',
      name: 'Join',
      bulk_add: true,
      steps: [
        { slug: 'invited', title: 'Invited' },
        { slug: 'joined', title: 'Joined' },
      ],
    },
    { slug: 'steward', name: 'Steward', steps: [{ slug: 'asked', title: 'Asked' }] },
    {
      slug: 'hosting',
      name: 'Hosting',
      steps: [
        { slug: 'asked', title: 'Asked' },
        { slug: 'agreed', title: 'Agreed' },
      ],
    },
  ],
  people: people.map((key) => ({ key, name: key })),
  holons: [
    { slug: 'hub', name: 'Hub', class: 'group' },
    { slug: 'host', name: 'Host', class: 'group' },
    { slug: 'vault', name: 'Vault', class: 'closed', parent: 'hub' },
  ],
  accounts: [
    { email: 'ada@example.org', person: 'ada', password: 'secret-of-ada', global_editor: true },
    { email: 'ben@example.org', person: 'ben', password: 'secret-of-ben' },
    { email: 'cleo@example.org', person: 'cleo', password: 'secret-of-cleo', teams: [{ holon: 'hub' }] },
  ],
  memberships: [
    { key: 'open', person: 'ben', holon: 'hub', journey: 'join', follow_up_after: '2020-01-01', responsible: 'ben' },
    { key: 'secret', person: 'ben', holon: 'vault', journey: 'join', follow_up_after: '2020-01-02' },
  ],
  relationships: [
    { key: 'open', from: 'hub', to: 'host', journey: 'hosting', follow_up_after: '2020-01-03' },
    { key: 'secret', from: 'host', to: 'vault', journey: 'hosting' },
  ],
};

let platform: TestPlatform;
let ids: Record<string, Record<string, number>>;
const tokens: Record<string, string> = {};
beforeAll(async () => {
  platform = await startTestPlatform(
    import.meta.url,
    { BULK_ADD_WAIT_MS: '300' },
    { services: ['api-gateway', 'directory'] },
  );
  ({ ids } = await platform.apply(document));
  for (const name of people) tokens[name] = await platform.login(`${name}@example.org`, `secret-of-${name}`);
});
afterAll(() => platform.stop());

const idOf = (list: string, key: string): number => ids[list]?.[key] ?? 0;
const path = {
  person: (rest: string) => `/api/v1/people/${idOf('people', 'ben')}/${rest}`,
  holon: (slug: string, rest: string) => `/api/v1/holons/${idOf('holons', slug)}/${rest}`,
  membership: (key: string) => `/api/v1/memberships/${idOf('memberships', key)}/update`,
  relationship: (key: string) => `/api/v1/relationships/${idOf('relationships', key)}/update`,
};
const get = (where: string, who = 'ada'): Promise<Answer> => platform.call('GET', where, { token: tokens[who] ?? '' });
const post = (where: string, json: unknown, who = 'ada'): Promise<Answer> =>
  platform.call('POST', where, { token: tokens[who] ?? '', json });
const statusAndCode = ({ status, json }: Answer): unknown[] => [
  status,
  json.code ?? json.detail?.[0]?.loc?.join('.'),
  json.retryable,
];

describe('workflow lists (rules/memberships#lists; D41, D47, D48)', () => {
  const lists = [
    [
      'memberships of a person',
      () => path.person('memberships'),
      ['membership_id', 'holon'],
      { ada: 2, ben: 1, cleo: 2 },
    ],
    [
      'memberships in a holon',
      () => path.holon('hub', 'memberships'),
      ['membership_id', 'person'],
      { ada: 1, ben: 1, cleo: 1 },
    ],
    [
      'relationships of a holon',
      () => path.holon('host', 'relationships'),
      ['relationship_id', 'from_holon', 'to_holon'],
      { ada: 2, ben: 1, cleo: 2 },
    ],
    ['the worklist', () => '/api/v1/responsible', ['kind', 'id', 'follow_up_after'], { ada: 4, ben: 2, cleo: 4 }],
  ] as const;
  it.each(lists)('%s: items and count include only what the caller can see', async (_name, where, fields, counts) => {
    for (const [who, count] of Object.entries(counts)) {
      const answer = await get(where(), who);
      expect([answer.status, answer.json.count, answer.json.items.length]).toEqual([200, count, count]);
      for (const field of fields) expect(answer.json.items[0]).toHaveProperty(field);
      expect(answer.text).not.toContain('created_at');
      if (who === 'ben') expect(answer.text).not.toMatch(/vault/i);
    }
  });

  it.each([
    ['memberships of a person', () => path.person('memberships'), '?limit=201', '?limit=200&offset=1'],
    [
      'memberships in a holon',
      () => path.holon('hub', 'memberships'),
      '?offset=-1',
      '?sort=-name&follow_up=none&q=b&journey=join&step_slug=joined',
    ],
    ['relationships of a holon', () => path.holon('hub', 'relationships'), '?limit=0', '?limit=200'],
    ['notes of a person', () => path.person('notes'), '?limit=201', '?limit=200'],
    ['notes of a holon', () => path.holon('hub', 'notes'), '?limit=x', '?limit=1'],
    [
      'the worklist',
      () => '/api/v1/responsible',
      '?limit=101',
      '?responsible=99999999999&type=person,closed&when=overdue,today&limit=100',
    ],
  ])('%s: returns 422 for a limit out of range and 200 for one in range', async (_name, where, broken, fitting) => {
    expect((await get(`${where()}${broken}`)).status).toBe(422);
    expect((await get(`${where()}${fitting}`)).status).toBe(200);
  });

  it.each([
    () => path.holon('hub', 'memberships?sort=joined'),
    () => path.holon('hub', 'memberships?follow_up=soon'),
    () => '/api/v1/responsible?type=person,nowhere',
    () => '/api/v1/responsible?when=yesterday',
  ])('return 400 for an unknown choice, case %#', async (where) => {
    expect(statusAndCode(await get(where()))).toEqual([400, 'validation_error', false]);
  });

  const places = [
    () => '/api/v1/people/2147483647/memberships',
    () => '/api/v1/people/2147483647/notes',
    ...['memberships', 'relationships', 'notes'].flatMap((rest) => [
      () => `/api/v1/holons/2147483648/${rest}`,
      () => path.holon('vault', rest),
    ]),
  ];
  it.each(places)('return 404 for unknown or hidden objects, and 401 without a token, case %#', async (where) => {
    expect(statusAndCode(await get(where(), 'ben'))).toEqual([404, 'not_found', false]);
    expect(statusAndCode(await platform.call('GET', where(), { token: null }))).toEqual([
      401,
      'unauthenticated',
      false,
    ]);
  });

  it('the worklist requires a token', async () => {
    expect((await platform.call('GET', '/api/v1/responsible')).status).toBe(401);
  });
});

describe('updates of memberships and relationships (rules/memberships#updates; D46)', () => {
  const note = 'A note';
  it('of a membership return membership, note and changes, and add the note to person and holon', async () => {
    const answer = await post(
      path.membership('open'),
      { note: ' Hello ', advance_step: true, follow_up_after: null },
      'cleo',
    );
    expect(answer.status).toBe(200);
    expect(answer.json.changes).toEqual({
      current_step: { old: 'invited', new: 'joined' },
      follow_up_after: { old: '2020-01-01', new: null },
    });
    expect(answer.json.note).toMatchObject({ body: 'Hello', author_person: { name: 'cleo' } });
    expect(answer.json.membership).toMatchObject({
      step_slug: 'joined',
      person: { name: 'ben' },
      holon: { slug: 'hub' },
    });
    for (const feed of [path.person('notes'), path.holon('hub', 'notes')]) {
      expect((await get(feed, 'ben')).json).toMatchObject({ count: 1, items: [answer.json.note] });
    }
  });

  it('of a relationship return relationship, note and changes', async () => {
    const answer = await post(
      path.relationship('open'),
      { note, step_slug: 'agreed', follow_up_after: '2030-01-01' },
      'cleo',
    );
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      relationship: { step_title: 'Agreed', from_holon: { slug: 'hub' }, to_holon: { slug: 'host' } },
      note: { body: note },
      changes: {
        current_step: { old: 'asked', new: 'agreed' },
        follow_up_after: { old: '2020-01-03', new: '2030-01-01' },
      },
    });
  });

  it.each([path.membership, path.relationship])(
    'reject invalid changes in the error envelope of the route, case %#',
    async (where) => {
      expect(statusAndCode(await post(where('open'), { note: ' ' }))).toEqual([400, 'validation_error', false]);
      expect(statusAndCode(await post(where('open'), { note, follow_up_after: 'soon' }))).toEqual([
        400,
        'validation_error',
        false,
      ]);
      expect(statusAndCode(await post(where('open'), { note }, 'ben'))).toEqual([403, 'permission_denied', false]);
      expect(statusAndCode(await post(where('secret'), { note }, 'ben'))).toEqual([404, 'not_found', false]);
      expect(statusAndCode(await post(where('open'), {}))).toEqual([422, 'body.payload.note', undefined]);
      expect(statusAndCode(await post(where('open'), { note, follow_up_after: 5 }))).toEqual([
        422,
        'body.payload.follow_up_after',
        undefined,
      ]);
      expect(
        (
          await platform.call('POST', where('open'), {
            token: tokens['ada'] ?? '',
            body: '{',
            headers: { 'content-type': 'application/json' },
          })
        ).json,
      ).toEqual({ detail: 'Cannot parse request body' });
      expect((await platform.call('POST', where('open'), { token: null, json: { note } })).status).toBe(401);
    },
  );
});

describe('bulk-add (rules/memberships#bulk-add; D45)', () => {
  const where = (slug: string): string => path.holon(slug, 'memberships:bulk-add');
  const item = (key: string) => ({ person_id: idOf('people', key) });

  it('returns an outcome for each bulk-add item, and reports the items as already present when repeated', async () => {
    const request = { memberships: [item('ada'), item('cleo'), { person_id: 2_147_483_647 }], journey_slug: 'join' };
    const first = await post(where('host'), request, 'ada');
    expect([first.status, first.json]).toEqual([
      200,
      {
        count: 3,
        created: 2,
        already_present: 0,
        failed: 1,
        items: [
          {
            index: 0,
            person_id: idOf('people', 'ada'),
            journey_slug: 'join',
            outcome: 'created',
            membership_id: expect.any(Number),
            message: null,
          },
          {
            index: 1,
            person_id: idOf('people', 'cleo'),
            journey_slug: 'join',
            outcome: 'created',
            membership_id: expect.any(Number),
            message: null,
          },
          expect.objectContaining({
            index: 2,
            outcome: 'person_not_found',
            membership_id: null,
            message: expect.any(String),
          }),
        ],
      },
    ]);
    expect((await post(where('host'), request)).json).toMatchObject({ created: 0, already_present: 2, failed: 1 });
  });

  it('rejects bulk-add by callers without access, to hidden holons, and with invalid requests', async () => {
    const request = { memberships: [item('ada')], journey_slug: 'join' };
    expect(statusAndCode(await post(where('hub'), request, 'ben'))).toEqual([403, 'permission_denied', false]);
    expect(statusAndCode(await post(where('vault'), request, 'ben'))).toEqual([404, 'not_found', false]);
    expect((await platform.call('POST', where('hub'), { json: request })).status).toBe(401);
    const send = (memberships: unknown[]): Promise<Answer> => post(where('hub'), { memberships });
    expect((await send([])).json.detail[0]).toMatchObject({
      type: 'too_short',
      loc: ['body', 'payload', 'memberships'],
    });
    expect((await send(Array.from({ length: 501 }, () => item('ada')))).json.detail[0]).toMatchObject({
      type: 'too_long',
    });
    expect((await send([{}])).json.detail[0]).toMatchObject({
      type: 'missing',
      loc: ['body', 'payload', 'memberships', 0, 'person_id'],
    });
    const broken = { token: tokens['ada'] ?? '', body: '[', headers: { 'content-type': 'application/json' } };
    expect((await platform.call('POST', where('hub'), broken)).status).toBe(400);
  });

  it('returns a retryable 409 while another bulk write of the holon is running', async () => {
    const lock = `select pg_advisory_xact_lock(hashtextextended('directory.bulk-add/' || $1::text, 0))`;
    const letGo = await holdLocks(platform, lock, [String(idOf('holons', 'hub'))]);
    const answer = await post(where('hub'), { memberships: [item('ada')], journey_slug: 'join' });
    expect(statusAndCode(answer)).toEqual([409, 'bulk_in_progress', true]);
    await letGo();
    expect((await post(where('hub'), { memberships: [item('ada')], journey_slug: 'join' })).json).toMatchObject({
      created: 1,
    });
  });
});
