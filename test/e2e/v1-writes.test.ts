/** Writes of the open API: statuses, envelopes, bodies. The rules are tested in test/integration/directory. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { startTestPlatform, type Applied, type TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let ids: Applied['ids'];
let editor: string;
let host: string;
beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url, {}, { services: ['api-gateway', 'directory', 'media'] });
  ({ ids } = await platform.apply({
    classes: [
      {
        slug: 'camp',
        allowed_children: ['workshop'],
        journeys: ['joining'],
        config: { info_field_groups: [{ key: 'g', fields: [{ key: 'theme', type: 'select', options: ['care'] }] }] },
      },
      { slug: 'experience' },
      { slug: 'workshop', parent: 'experience' },
    ],
    journeys: [{ slug: 'joining', name: 'Joining', steps: [{ slug: 'asked', title: 'Asked' }] }],
    people: [
      { key: 'ed', name: 'Ed' },
      { key: 'hana', name: 'Hana' },
    ],
    holons: [
      { slug: 'summer', name: 'Summer', class: 'camp' },
      { slug: 'winter', name: 'Winter', class: 'camp' },
      { slug: 'bread', name: 'Bread', class: 'workshop', parent: 'winter' },
    ],
    accounts: [
      { email: 'ed@example.org', person: 'ed', password: 'secret-of-ed', global_editor: true },
      { email: 'hana@example.org', person: 'hana', password: 'secret-of-hana', teams: [{ holon: 'summer' }] },
    ],
  }));
  editor = await platform.login('ed@example.org', 'secret-of-ed');
  host = await platform.login('hana@example.org', 'secret-of-hana');
});
afterAll(() => platform.stop());

const id = (list: string, key: string): number => ids[list]?.[key] ?? 0;
const denied = { code: 'permission_denied', message: expect.any(String), retryable: false };
const invalid = { code: 'validation_error', message: expect.any(String), retryable: false };
const post = (path: string, json: unknown, token = editor) => platform.call('POST', `/api/v1${path}`, { token, json });

describe('POST /people (rules/people#create-a-person; D43, D44)', () => {
  const body = {
    name: 'Ada Lovelace',
    contact: { email: 'ada@example.org', linkedin: 'https://www.linkedin.com/in/ada' },
  };

  it('returns 201 with the created person, membership and note', async () => {
    const membership = { holon_id: id('holons', 'summer'), journey_slug: 'joining' };
    const answer = await post('/people', { ...body, membership, note: 'Met at the lake.' });
    expect([answer.status, answer.json]).toEqual([
      201,
      {
        person: {
          id: expect.any(Number),
          name: 'Ada Lovelace',
          description: '',
          photo_url: null,
          actor_kind: 'human',
          contact: body.contact,
        },
        membership: expect.objectContaining({
          step_slug: 'asked',
          person: expect.anything(),
          holon: expect.anything(),
        }),
        note: expect.objectContaining({ body: 'Met at the lake.', note_type: 'note' }),
      },
    ]);
    const read = await platform.call('GET', `/api/v1/people/${answer.json.person.id}`, { token: host });
    expect(read.headers.get('etag')).toBe(answer.headers.get('etag'));
    expect(read.json).toEqual(answer.json.person);
  });

  it('returns 409 with the matching fields and existing people', async () => {
    const answer = await post('/people', { name: 'Other', contact: { email: ' ADA@example.org' } });
    expect([answer.status, answer.json]).toEqual([
      409,
      {
        code: 'duplicate_person',
        message: expect.any(String),
        retryable: false,
        match_field: 'contact.email',
        match_value: ' ADA@example.org',
        existing_person_ids: [expect.any(Number)],
      },
    ]);
  });

  it('returns 403 without global edit access, 400 for rejected values, 422 for a malformed body, 401 without a token', async () => {
    const refused = await post('/people', { name: 'Nobody' }, host);
    expect([refused.status, refused.json]).toEqual([403, denied]);
    const blank = await post('/people', { name: ' ' });
    expect([blank.status, blank.json]).toEqual([400, invalid]);
    const shapeless = await post('/people', { contact: { email: 5, phone: [] }, membership: { holon_id: 'x' } });
    expect([shapeless.status, shapeless.json.detail.map(({ loc }: { loc: unknown }) => loc)]).toEqual([
      422,
      expect.arrayContaining([
        ['body', 'payload', 'name'],
        ['body', 'payload', 'contact', 'email'],
        ['body', 'payload', 'contact', 'phone'],
        ['body', 'payload', 'membership', 'holon_id'],
        ['body', 'payload', 'membership', 'journey_slug'],
      ]),
    ]);
    for (const token of [null, platform.sharedToken])
      expect((await platform.call('POST', '/api/v1/people', { token, json: body })).status).toBe(401);
  });

  it('creates one person for 50 concurrent identical requests', async () => {
    const calls = Array.from({ length: 50 }, () =>
      post('/people', { name: 'Race', contact: { email: 'race@example.org' } }),
    );
    const statuses = (await Promise.all(calls)).map(({ status }) => status).toSorted((left, right) => left - right);
    expect(statuses).toEqual([201, ...Array.from({ length: 49 }, () => 409)]);
    expect((await platform.call('GET', '/api/v1/people?q=Race', { token: host })).json.count).toBe(1);
  });
});

describe('POST /holons/{holon_id}/update (rules/holons#update-a-holon; D46a)', () => {
  const path = (slug: string) => `/holons/${id('holons', slug)}/update`;

  it('returns 200 with the updated holon and the changes', async () => {
    const update = {
      name: 'High summer',
      description: '<p onclick="x">Hi</p>',
      locations: ['de'],
      info_fields: { theme: ['care', 'zzz'] },
    };
    const answer = await post(path('summer'), update, host);
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        holon: expect.objectContaining({ id: id('holons', 'summer'), name: 'High summer', description: '<p>Hi</p>' }),
        changes: {
          name: { old: 'Summer', new: 'High summer' },
          description: { old: '', new: '<p>Hi</p>' },
          locations: { old: [], new: ['DE'] },
          info_fields: { old: {}, new: { theme: ['care'] } },
        },
      },
    ]);
  });

  it('returns 403, 404, 400 and 422 for a holon update in the documented envelopes', async () => {
    for (const refused of [await post(path('winter'), {}, host), await post(path('summer'), { journey_ids: [] }, host)])
      expect([refused.status, refused.json]).toEqual([403, denied]);
    const absent = await post('/holons/999999/update', {});
    expect([absent.status, absent.json]).toEqual([
      404,
      { code: 'not_found', message: expect.any(String), retryable: false },
    ]);
    const bad = await post(path('summer'), { locations: ['XX'] }, host);
    expect([bad.status, bad.json]).toEqual([400, invalid]);
    const shapeless = await post(path('summer'), { links: { a: 1 }, spheres: ['x'], name: null }, host);
    expect([shapeless.status, shapeless.json.detail.length]).toEqual([422, 3]);
  });
});

describe('POST /experiences and …/logo (rules/holons#experiences, rules/media#logo; D51, D51a)', () => {
  let experience: number;
  const logo = (bytes: Uint8Array, token = host, target = experience) => {
    const body = new FormData();
    body.append('logo', new Blob([new Uint8Array(bytes)]), 'logo.bin');
    return platform.call('POST', `/api/v1/experiences/${target}/logo`, { token, body });
  };

  it('returns 201 with the created experience', async () => {
    const answer = await post(
      '/experiences',
      { parent_id: id('holons', 'summer'), name: 'Night walk', description: 'Dark.' },
      host,
    );
    expect([answer.status, answer.json]).toEqual([
      201,
      {
        experience: expect.objectContaining({
          slug: 'night-walk',
          type: 'workshop',
          parent_id: id('holons', 'summer'),
          logo_url: null,
        }),
      },
    ]);
    experience = answer.json.experience.id;
    const listed = await platform.call('GET', '/api/v1/holons?class=experience&q=night', { token: host });
    expect(listed.json.items).toMatchObject([{ id: experience }]);
  });

  it('returns 403, 404, 400 and 422 for a new experience in the documented envelopes', async () => {
    const body = { parent_id: id('holons', 'winter'), name: 'N', description: 'D' };
    expect((await post('/experiences', body, host)).json).toEqual(denied);
    expect((await post('/experiences', { ...body, parent_id: 999_999 })).status).toBe(404);
    const disallowed = await post('/experiences', { ...body, svc_class: 'experience' });
    expect([disallowed.status, disallowed.json]).toEqual([400, invalid]);
    expect((await post('/experiences', { name: 'N' })).status).toBe(422);
  });

  it('stores a logo, serves it without a token, and returns its URL with the holon', async () => {
    const picture = await sharp({ create: { width: 9, height: 7, channels: 3, background: '#204060' } })
      .webp()
      .toBuffer();
    const answer = await logo(picture);
    expect([answer.status, answer.json]).toEqual([
      200,
      { experience: expect.objectContaining({ id: experience, logo_url: expect.any(String) }) },
    ]);
    const url = answer.json.experience.logo_url as string;
    const file = await fetch(`${platform.baseUrl}${url}`);
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'image/webp']);
    expect(await sharp(await file.arrayBuffer()).metadata()).toMatchObject({ width: 9, height: 7 });
    expect((await platform.call('GET', `/api/v1/holons/${experience}`, { token: host })).json.logo_url).toBe(url);
  });

  it('rejects invalid logos in the documented envelopes', async () => {
    for (const bytes of [Buffer.from('no picture'), Buffer.alloc(5_242_881), Buffer.alloc(9_000_000)]) {
      const answer = await logo(bytes);
      expect([answer.status, answer.json]).toEqual([400, invalid]);
    }
    expect((await logo(Buffer.from('x'), host, id('holons', 'bread'))).json).toEqual(denied);
    const absent = { code: 'not_found', message: 'Not Found', retryable: false };
    for (const target of [id('holons', 'summer'), 999_999])
      expect((await logo(Buffer.from('x'), editor, target)).json).toEqual(absent);
    const text = new FormData();
    text.append('logo', 'https://example.org/logo.png');
    const answer = await platform.call('POST', `/api/v1/experiences/${experience}/logo`, { token: host, body: text });
    expect([answer.status, answer.json]).toEqual([
      422,
      { detail: [{ type: 'missing', loc: ['file', 'logo'], msg: 'Field required' }] },
    ]);
  });
});
