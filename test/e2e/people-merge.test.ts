/** Merging two people across all services (rules/people#merge-people; I3, I5). */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encodeCursor } from '#libs/infrastructure/cursor';
import { signBooking } from '#libs/product/testing';
import { findPersonReferences, personSchemas as schemas } from './person-references.ts';
import { type Answer, type Applied, eventually, startTestPlatform, type TestPlatform } from './test-platform.ts';

const steps = ['asked', 'there', 'gone'].map((slug) => ({ slug, title: slug }));
const people = [
  { key: 'ada', name: 'Ada', contact: { email: 'ada@example.org' }, infos: { shoe: 41 } },
  {
    key: 'eda',
    name: 'Eda',
    description: 'Writes.',
    contact: { email: 'Eda@example.org', phone: '+49 30 1' },
    infos: { shoe: 40, hat: 'L' },
  },
  { key: 'ben', name: 'Ben' },
  {
    key: 'ada-2',
    name: 'Ada again',
    contact: { email: ' ADA@example.org', linkedin: 'https://www.linkedin.com/in/ada/' },
  },
];
const network = {
  classes: [{ slug: 'event', conversation_event: true, journeys: ['joining', 'open-circle'] }],
  journeys: [
    { slug: 'open-circle', name: 'Open circle', is_conversation: true, steps: [{ slug: 'held', title: 'Held' }] },
    { slug: 'joining', name: 'Joining', steps },
  ],
  people,
  holons: ['spring', 'autumn'].map((slug) => ({
    slug,
    name: slug,
    class: 'event',
    journeys: ['open-circle', 'joining'],
  })),
  accounts: [
    { email: 'ada@example.org', person: 'ada', password: 'secret-of-ada', groups: ['coherence_users'] },
    { email: 'eda@example.org', person: 'eda', password: 'secret-of-eda', groups: ['coherence_users'] },
    { email: 'ben@example.org', person: 'ben', password: 'secret-of-ben', superuser: true },
  ],
  memberships: [
    { person: 'eda', holon: 'spring', journey: 'joining', step: 'there', follow_up_after: '2030-01-01' },
    {
      person: 'ada',
      holon: 'spring',
      journey: 'joining',
      step: 'asked',
      follow_up_after: '2031-01-01',
      responsible: 'ben',
    },
    { person: 'eda', holon: 'autumn', journey: 'joining', step: 'asked' },
    { person: 'ben', holon: 'spring', journey: 'joining', responsible: 'eda' },
  ],
  relationships: [{ key: 'both', from: 'spring', to: 'autumn', journey: 'joining', responsible: 'eda' }],
};

let platform: TestPlatform;
let ids: Applied['ids'];
const tokens: Record<string, string> = {};
const id = (list: string, key: string): number => ids[list]?.[key] ?? 0;
const [ada, eda, ben] = ['ada', 'eda', 'ben'].map((key) => () => id('people', key)) as [
  () => number,
  () => number,
  () => number,
];
const get = (path: string, who = 'ben'): Promise<Answer> =>
  platform.call('GET', `/api/v1${path}`, { token: tokens[who] ?? '' });
const post = (path: string, json: unknown, who = 'ben', headers: Record<string, string> = {}): Promise<Answer> =>
  platform.call('POST', `/api/v1${path}`, { token: tokens[who] ?? '', json, headers });
const conversation = (key: string, participants: string[], speaker: string, text: string): Record<string, unknown> => ({
  key,
  journey: 'open-circle',
  step: 'held',
  event: 'spring',
  start: '2026-05-01T10:00:00Z',
  participants,
  transcript: [{ start_ms: 0, end_ms: 900, person: speaker, text }],
});
const conversationId = async (key: string): Promise<number> =>
  (
    await platform.sql<{ id: number }>('select conversation_id as id from conversations.import_keys where key = $1', [
      key,
    ])
  )[0]?.id ?? 0;

/** Returns the table of rules/people#what-names-a-person. */
async function readTable(): Promise<string[]> {
  const rules = await readFile(new URL('../../docs/rules/people.md', import.meta.url), 'utf8');
  const [, part = ''] = rules.split('#### What names a person');
  const rows = (part.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('| `'));
  return rows
    .flatMap((line) => [...(line.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? ''))
    .toSorted();
}

const findReferences = (person: number): Promise<string[]> => findPersonReferences(platform, person);

beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url);
  ({ ids } = await platform.apply(network));
  await platform.apply({
    conversations: [
      conversation('shared', ['eda', 'ada'], 'eda', 'The heron came back.'),
      conversation('alone', ['eda'], 'eda', 'Only a heron heard me.'),
    ],
  });
  for (const who of ['ada', 'eda', 'ben']) tokens[who] = await platform.login(`${who}@example.org`, `secret-of-${who}`);
  for (const key of ['shared', 'alone']) {
    const path = `/api/coherence/conversations/${await conversationId(key)}`;
    const room = {
      meetingId: `m-${key}`,
      claims: { host: { personId: eda(), claimedAt: '2026-05-01T10:00:00Z' } },
      participants: [{ customParticipantId: `e-${key}`, personId: eda(), displayName: 'Eda' }],
    };
    expect(
      (await platform.call('POST', `${path}/enter-coherence`, { token: tokens['eda'] ?? '', json: room })).status,
    ).toBe(200);
    const form = new FormData();
    form.append('audio', new Blob(['sound']), `${key}.mp3`);
    expect((await platform.call('POST', `${path}/audio`, { token: tokens['eda'] ?? '', body: form })).status).toBe(201);
  }
  const [membership] = await platform.sql<{ id: number }>(
    'select min(id) as id from directory.memberships where person_id = $1',
    [eda()],
  );
  expect((await post(`/memberships/${membership?.id}/update`, { note: 'Of Eda.' }, 'ben')).status).toBe(200);
});
afterAll(() => platform.stop());

describe('merging people (I3, I5)', () => {
  it('requires a superuser and two people for a merge', async () => {
    const denied = await post(`/people/${eda()}/merge`, { into: ada() }, 'ada');
    expect([denied.status, denied.json.code]).toEqual([403, 'permission_denied']);
    const statuses = [
      await post(`/people/${eda()}/merge`, { into: eda() }),
      await post(`/people/${eda()}/merge`, { into: 999_999 }),
      await post('/people/999999/merge', { into: ada() }),
      await post(`/people/${eda()}/merge`, {}),
    ].map(({ status }) => status);
    expect(statuses).toEqual([400, 404, 404, 422]);
  });

  it('lists possible duplicates by the same rules that creations apply (D44)', async () => {
    expect(await platform.ask('people', 'duplicates')).toEqual({
      items: [
        {
          match_field: 'contact.email',
          match_value: 'ada@example.org',
          people: [
            { id: ada(), name: 'Ada' },
            { id: id('people', 'ada-2'), name: 'Ada again' },
          ],
        },
      ],
    });
  });

  it.each([
    ['an invalid cursor', '/duplicates?cursor=no', 400],
    ['a cursor of another list', `/duplicates?cursor=${encodeCursor(['accounts', 'x'])}`, 400],
    ['a limit that is too large', '/duplicates?limit=1000', 422],
    ['no identifier', '', 422],
    ['an identifier that is too long', `?identifier=${'x'.repeat(501)}`, 422],
  ])('rejects %s in the lists of people for operators (rules/operations-api#people)', async (_what, path, status) => {
    const token = tokens['ben'] ?? '';
    expect((await platform.call('GET', `/api/ops/people${path}`, { token })).status).toBe(status);
  });

  it('allows the lists of people for operators to operators only', async () => {
    for (const path of ['?identifier=ada', '/duplicates'])
      expect((await platform.call('GET', `/api/ops/people${path}`, { token: tokens['ada'] ?? '' })).status).toBe(403);
  });

  it('lists in a dry run what a merge would move, and moves nothing', async () => {
    const before = [
      'conversations.all_conversations|participant_ids',
      'directory.accounts|person_id',
      'directory.memberships|person_id',
      'directory.memberships|responsible_person_id',
      'directory.person_notes|person_id',
      'directory.relationships|responsible_person_id',
      'events.subjects|people',
      'media.blobs|created_by_person_id',
      'room',
      'room',
      'transcripts.search_conversations|participant_ids',
      'transcripts.search_segments|person_id',
      'transcripts.speakers|person_id',
      'transcripts.transcript_rows|person_id',
      'conversations.notes|author_person_id',
    ].toSorted();
    await eventually(async () => expect(await findReferences(eda())).toEqual(before));
    expect(await platform.cli('people', 'merge', 'ada', 'eda@example.org')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^No terminal for the confirmation prompt; use --yes/),
    });
    expect(await platform.ask('people', 'merge', 'ada', 'eda@example.org', '--dry-run')).toEqual({
      outcome: 'would_merge',
      keep: { id: ada(), name: 'Ada' },
      gone: { id: eda(), name: 'Eda' },
      counts: {
        doubled_memberships: 1,
        memberships: 2,
        responsible_memberships: 1,
        responsible_relationships: 1,
        authored_notes: 0,
        notes: 1,
        accounts: 1,
      },
    });
    expect(await findReferences(eda())).toEqual(before);
  });

  it('moves every reference in every service to the surviving person', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const merged = await post(`/people/${eda()}/merge`, { into: ada() }, 'ben', key);
    expect([merged.status, merged.json]).toEqual([
      200,
      {
        person: {
          id: ada(),
          name: 'Ada',
          description: 'Writes.',
          photo_url: null,
          actor_kind: 'human',
          contact: { email: 'ada@example.org', phone: '+49 30 1' },
        },
        counts: expect.objectContaining({ doubled_memberships: 1, memberships: 2, accounts: 1 }),
      },
    ]);
    expect(await findReferences(eda())).toEqual([]);
    expect((await get(`/people/${eda()}`)).status).toBe(404);
    expect((await get('/people?q=eda')).json.items).toEqual([]);
    expect((await post(`/people/${eda()}/merge`, { into: ada() })).status).toBe(404);
    const again = await post(`/people/${eda()}/merge`, { into: ada() }, 'ben', key);
    expect([again.status, again.headers.get('idempotent-replayed'), again.text]).toEqual([200, 'true', merged.text]);
    expect(await platform.sql('select infos from directory.people where id = $1', [ada()])).toEqual([
      { infos: '{"hat": "L", "shoe": 41}' },
    ]);
  });

  it('finds people by one identifier for operators, merged people as the surviving one', async () => {
    const ada2 = id('people', 'ada-2');
    const expected: [string, unknown[]][] = [
      [String(ada()), [[ada(), 'id', null]]],
      ['ada-2', [[ada2, 'key', null]]],
      ['ADA@example.org', [ada(), ada2].map((person) => [person, 'email', null])],
      ['0049 (30) 1', [[ada(), 'phone', null]]],
      [' ÁDA  AGAIN ', [[ada2, 'name', null]]],
      [String(eda()), [[ada(), 'id', eda()]]],
      ['eda', [[ada(), 'key', eda()]]],
      ['eda@EXAMPLE.org', [[ada(), 'email', eda()]]],
      ['49301', []],
      ['Nora', []],
    ];
    for (const [identifier, items] of expected) {
      const { json } = await platform.call('GET', `/api/ops/people?identifier=${encodeURIComponent(identifier)}`, {
        token: tokens['ben'] ?? '',
      });
      expect([identifier, json.items.map((item: any) => [item.id, item.matched, item.merged_id])]).toEqual([
        identifier,
        items,
      ]);
    }
    expect((await platform.ask('people', 'show', '0049 (30) 1')).person.id).toBe(ada());
    expect(String(await platform.ask('people', 'show', 'ada@example.org').catch((error: unknown) => error))).toContain(
      `Several people have the email "ada@example.org": ${ada()}, ${ada2}. Use an id.`,
    );
    for (const command of ['export', 'erase'])
      expect(
        String(
          await platform
            .ask('people', command, String(eda()), ...(command === 'export' ? ['--out', 'x.zip'] : ['--yes']))
            .catch((error: unknown) => error),
        ),
      ).toContain(`Person ${eda()} was merged into person ${ada()}.`);
  });

  it('combines duplicate memberships to the lower id with its step, the later follow-up date, and all notes', async () => {
    const { items } = (await get(`/people/${ada()}/memberships`)).json;
    expect(
      items.map((item: any) => [
        item.holon.slug,
        item.step_slug,
        item.follow_up_after,
        item.responsible_person?.id ?? null,
      ]),
    ).toEqual([
      ['autumn', 'asked', null, null],
      ['spring', 'there', '2031-01-01', ben()],
    ]);
    expect((await get(`/people/${ada()}/notes`)).json.items.map(({ body }: { body: string }) => body)).toEqual([
      'Of Eda.',
    ]);
  });

  it('displays the surviving person in conversations, rooms and transcripts, and finds speech of the merged person', async () => {
    for (const key of ['shared', 'alone']) {
      const path = `/api/coherence/conversations/${await conversationId(key)}`;
      const token = tokens['ada'] ?? '';
      const shown = (await platform.call('GET', path, { token })).json;
      expect(JSON.stringify(shown)).not.toContain(`"personId":${eda()},`);
      expect(
        (await platform.call('GET', `${path}/transcript?format=json`, { token })).json.segments[0].speaker,
      ).toMatchObject({
        person_id: ada(),
        name: 'Ada',
      });
    }
    const search = (who: string) =>
      platform.call('GET', `/api/coherence/transcripts/search?q=heron&person_id=${ada()}`, {
        token: tokens[who] ?? '',
      });
    await eventually(async () => expect((await search('ada')).json.items).toHaveLength(2));
  });

  it('links the accounts of both people to the surviving person, and ends the sessions of the merged person', async () => {
    expect((await get('/auth/whoami', 'eda')).status).toBe(401);
    tokens['eda'] = await platform.login('eda@example.org', 'secret-of-eda');
    for (const who of ['eda', 'ada']) expect((await get('/auth/whoami', who)).json.person.id).toBe(ada());
  });

  it('finds the surviving person by the email of the merged person, for bookings and new people', async () => {
    const twin = await post('/people', { name: 'Eda', contact: { email: 'eda@EXAMPLE.org' } });
    expect([twin.status, twin.json.existing_person_ids]).toEqual([409, [ada()]]);
    const booking = {
      triggerEvent: 'BOOKING_CREATED',
      createdAt: '2026-04-01T10:00:00Z',
      payload: {
        uid: 'b-1',
        title: 'Talk with Eda',
        startTime: '2031-01-15T10:00:00Z',
        endTime: '2031-01-15T11:00:00Z',
        attendees: [{ name: 'Eda', email: 'eda@example.org' }],
        metadata: { videoCallUrl: 'https://meet.example.org/r?journey=open-circle' },
      },
    };
    await platform.call('POST', `/api/coherence/hook/booking/${ben()}`, {
      token: null,
      json: booking,
      headers: signBooking(JSON.stringify(booking)),
    });
    await eventually(async () => {
      const [row] = await platform.sql<{ participant_ids: number[] }>(
        `select participant_ids from conversations.all_conversations where start_at = '2031-01-15T10:00:00Z'`,
      );
      expect(row?.participant_ids.toSorted((left, right) => left - right)).toEqual(
        [ada(), ben()].toSorted((left, right) => left - right),
      );
    });
  });

  it('resolves the workspace file key of the merged person to the surviving person, whose values are preserved', async () => {
    const applied = await platform.apply({
      people: [{ key: 'eda', name: 'Eda of the file' }],
      memberships: [{ person: 'eda', holon: 'autumn', journey: 'joining', step: 'gone' }],
    });
    expect(applied.ids['people']).toEqual({ eda: ada() });
    expect((await get(`/people/${ada()}`)).json.name).toBe('Ada');
    expect((await get(`/people/${ada()}/memberships`)).json.items[0]).toMatchObject({
      holon: { slug: 'autumn' },
      step_slug: 'gone',
    });
    expect((await platform.apply(network)).created).toBe(0);
  });

  it('returns the same result when the merge is repeated, and completes pending work without a request', async () => {
    const place = `update conversations.all_conversations set participant_ids = array[$1::integer] where id = $2`;
    await platform.sql(place, [eda(), await conversationId('alone')]);
    const again = await platform.cli('people', 'merge', String(ada()), String(eda()));
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('Already merged')]);
    // Waits until the job is not running: a running job has already read its row and would overwrite the state.
    const runAgain = `update directory.jobs set state = 'queued', finished_at = null, run_at = clock_timestamp()
      where type = 'directory.finish-merge' and state <> 'running' returning id`;
    await eventually(async () => expect(await platform.sql(runAgain)).not.toEqual([]));
    await eventually(async () => expect(await findReferences(eda())).toEqual([]));
    expect((await platform.ask('people', 'merge', 'ada', 'eda')).outcome).toBe('done');
  });

  it('resolves later references to the merged person in a pending note and a booking webhook (I5)', async () => {
    const payload = {
      key: 'late',
      person_ids: [eda(), ada()],
      body: 'A late note.',
      note_type: 'booking',
      author_person_id: eda(),
    };
    await platform.sql(
      `insert into directory.jobs (id, type, payload, state) values (gen_random_uuid(), 'directory.note-add', $1::jsonb, 'queued')`,
      [JSON.stringify(payload)],
    );
    await eventually(async () => {
      const { items } = (await get(`/people/${ada()}/notes`)).json;
      expect(items.filter(({ body }: { body: string }) => body === 'A late note.')).toMatchObject([
        { author_person: { id: ada() } },
      ]);
    });
    const booking = {
      triggerEvent: 'BOOKING_CREATED',
      createdAt: '2026-04-02T10:00:00Z',
      payload: {
        uid: 'b-late',
        startTime: '2031-02-15T10:00:00Z',
        endTime: '2031-02-15T11:00:00Z',
        attendees: [],
        metadata: { videoCallUrl: 'https://meet.example.org/r?journey=open-circle' },
      },
    };
    const headers = signBooking(JSON.stringify(booking));
    for (const person of [eda(), 999_999])
      await platform.call('POST', `/api/coherence/hook/booking/${person}`, { token: null, json: booking, headers });
    await eventually(async () => {
      const rows = await platform.sql(
        `select participant_ids from conversations.all_conversations where start_at = '2031-02-15T10:00:00Z'`,
      );
      expect(rows).toEqual([{ participant_ids: [ada()] }]);
      const receipts = await platform.sql(
        `select person_id, outcome from conversations.webhook_receipts where trigger_event = 'BOOKING_CREATED' order by id desc limit 2`,
      );
      expect(receipts).toEqual(
        expect.arrayContaining([
          { person_id: String(eda()), outcome: 'applied' },
          { person_id: '999999', outcome: 'person_not_found' },
        ]),
      );
    });
  });

  it('compares all database columns that reference a person with the documented table (rules/people#what-names-a-person)', async () => {
    const columns = await platform.sql<{ place: string }>(
      `select format('%s.%s.%s', c.table_schema, c.table_name, c.column_name) as place
       from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
       where t.table_type = 'BASE TABLE' and c.table_schema in ${schemas}
         and (c.column_name ~ '(^|_)(person|people|participant)(_ids?)?$' or c.table_name = 'merged_people' and c.column_name ~ '_id$')`,
    );
    const keys = await platform.sql<{ place: string }>(
      `select format('%s.%s', k.conrelid::regclass, a.attname) as place
       from pg_constraint k join pg_attribute a on a.attrelid = k.conrelid and a.attnum = any(k.conkey)
       where k.contype = 'f' and k.confrelid = 'directory.people'::regclass`,
    );
    expect(await readTable()).toEqual([...new Set([...columns, ...keys].map(({ place }) => place))].toSorted());
  });

  it('resolves a chain of merges to the last surviving person', async () => {
    const result = await platform.ask('people', 'merge', 'ben', 'ada', '--yes');
    expect(result).toMatchObject({ outcome: 'merged', keep: { id: ben() }, gone: { id: ada() } });
    expect(await platform.sql('select distinct into_id from directory.merged_people')).toEqual([{ into_id: ben() }]);
    const twin = await post('/people', { name: 'Eda', contact: { email: 'eda@example.org' } });
    expect(twin.json.existing_person_ids).toEqual([ben()]);
  });

  it('writes an audit entry for a merge (A1)', async () => {
    const { items } = (await platform.call('GET', '/api/ops/audit?action=person.merge', { token: tokens['ben'] ?? '' }))
      .json;
    expect(items.map(({ actor, target, changes }: any) => [actor.kind, target, changes.into])).toEqual([
      ['account', { type: 'person', id: String(ada()) }, ben()],
      ['account', { type: 'person', id: String(eda()) }, ada()],
    ]);
  });
});
