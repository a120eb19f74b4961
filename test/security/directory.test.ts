/**
 * Limits on texts that an editor stores for others (OWASP API3, API4, API8:2023; D72, D74): no executable links, no
 * names that hide or forge adjacent text, no texts that overload the database. A rejected write changes nothing.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { applyDemo, createConversation, type Answer, type Demo, type TestPlatform } from '../e2e/test-platform.ts';
import { startTarget } from './attacker.ts';

const fields = [
  { key: 'home', type: 'url' },
  { key: 'film', type: 'video' },
  { key: 'story', type: 'rich_text' },
];
const document = {
  classes: [
    { slug: 'place', allowed_children: ['experience'], config: { info_field_groups: [{ key: 'about', fields }] } },
    { slug: 'experience' },
  ],
  journeys: [{ slug: 'joining', name: 'Joining', bulk_add: true, steps: [{ slug: 'asked' }] }],
  people: [{ key: 'ed', name: 'Ed' }],
  accounts: [{ email: 'ed@example.org', person: 'ed', password: 'secret-of-ed-editor', global_editor: true }],
  holons: [{ slug: 'plaza', name: 'Plaza', class: 'place' }],
};

let platform: TestPlatform;
let demo: Demo;
let token = '';
let plaza = 0;
let ed = 0;
let conversation = 0;
beforeAll(async () => {
  platform = await startTarget(import.meta.url);
  demo = await applyDemo(platform, 'ink');
  const { ids } = await platform.apply(document);
  plaza = ids['holons']?.['plaza'] ?? 0;
  ed = ids['people']?.['ed'] ?? 0;
  token = await platform.login('ed@example.org', 'secret-of-ed-editor');
  conversation = (await createConversation(platform, demo)).id;
});
afterAll(() => platform.stop());

const post = (path: string, json: unknown): Promise<Answer> => platform.call('POST', `/api/v1${path}`, { token, json });
const update = (json: unknown): Promise<Answer> => post(`/holons/${plaza}/update`, json);
const shown = ({ status, json }: Answer): unknown => [status, json?.code];
const validationError = [400, 'validation_error'];
const peopleAndHolons = () =>
  platform.sql(
    `select name, contact::text as links, description from directory.people union all select name, links::text, description from directory.holons order by 1`,
  );

describe('links that run code in a browser (D72)', () => {
  const evil = [
    'javascript:alert(document.cookie)',
    ' JaVaScript:alert(1)',
    'java\tscript:alert(1)',
    'java\r\nscript:alert(1)',
    '\u0001javascript:alert(1)',
    'java\u200bscript:alert(1)',
    'data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==',
    'vbscript:msgbox(1)',
    'blob:https://example.org/1',
    'file:///etc/passwd',
    'ftp://example.org/x',
  ];

  it.each(evil)('rejects the link %j in every field that can contain a URL', async (address) => {
    const before = await peopleAndHolons();
    const answers = [
      await update({ links: { website: address } }),
      await update({ links: { good: 'https://example.org', '': address } }),
      await update({ info_fields: { home: address } }),
      await update({ info_fields: { film: address } }),
      await post('/people', { name: 'Mallory', contact: { website: address } }),
      await post('/people', { name: 'Mallory', photo_url: address }),
    ];
    expect(answers.map(shown)).toEqual(answers.map(() => validationError));
    expect(await peopleAndHolons()).toEqual(before);
  });

  it('rejects a workspace file with links that run code, and names the line of each link', async () => {
    const before = await peopleAndHolons();
    const file = {
      holons: evil.map((website, index) => ({ slug: `new-${index}`, name: 'New', class: 'place', links: { website } })),
      people: evil.map((website, index) => ({
        key: `new-${index}`,
        name: 'New',
        contact: { website },
        photo_url: website,
      })),
    };
    const failure = await platform.apply(file).catch(String);
    for (const index of evil.keys()) {
      for (const place of [
        `holons[${index}].links.website`,
        `people[${index}].contact.website`,
        `people[${index}].photo_url`,
      ])
        expect(failure).toContain(`:1: ${place}: must `);
    }
    await expect(platform.apply({ holons: [{ slug: 'plaza', infos: { home: evil[0] } }] })).rejects.toThrow(
      'holons[0].infos.home: must be',
    );
    expect(await peopleAndHolons()).toEqual(before);
  });

  it('accepts text that only resembles such a link without a scheme in contact data, and rejects it in links', async () => {
    expect(shown(await update({ links: { website: '//evil.example.org' } }))).toEqual(validationError);
    expect(shown(await update({ links: { website: 'javascript&#58;alert(1)' } }))).toEqual(validationError);
    const { status, json } = await post('/people', {
      name: 'Plain',
      contact: { nick: '@ada', phone: '+49 30 1', site: 'mailto:a@example.org' },
    });
    expect([status, json.person.contact]).toEqual([
      201,
      { nick: '@ada', phone: '+49 30 1', site: 'mailto:a@example.org' },
    ]);
  });

  it('removes scripts and links that run code from rich text, however they are nested', async () => {
    const html =
      '<p onclick=x>a<a href="jAvA&Tab;script:alert(1)">b</a><a href="https://example.org" target=_top>c</a></p>' +
      '<scr<script>ipt>alert(1)</scr</script>ipt><svg><a xlink:href="javascript:x">d</a></svg><math><mtext></p><img src=x onerror=alert(1)>';
    const { json } = await update({ description: html, info_fields: { story: html } });
    const stored = JSON.stringify([json.holon.description, json.changes.info_fields.new.story]);
    expect(stored).not.toMatch(/script:|<script|onerror|onclick|<svg|<img|<math|target/i);
    expect(json.holon.description).toContain('<a href="https://example.org" rel="noopener noreferrer nofollow">c</a>');
  });
});

describe('deceptive characters in names (D74)', () => {
  const characters = [
    '\u0000',
    '\u0007',
    '\n',
    '\r',
    '\t',
    '\u001b[2J',
    '\u007f',
    '\u0085',
    '\u009b31m',
    '\u202e',
    '\u2066',
    '\u200b',
    '\u{e0041}',
    ' \u200d',
  ];

  it.each(characters)('rejects %j in every name, title and slug of a body', async (character) => {
    const before = await peopleAndHolons();
    const bad = `A${character}B`;
    const room = (json: unknown): Promise<Answer> =>
      platform.call('POST', `/api/coherence/conversations/${conversation}/enter-coherence`, { json });
    const answers: [string, Answer][] = [
      ['name', await post('/people', { name: bad })],
      ['actor_kind', await post('/people', { name: 'X', actor_kind: bad })],
      [bad, await post('/people', { name: 'X', contact: { [bad]: 'x' } })],
      ['journey_slug', await post('/people', { name: 'X', membership: { holon_id: plaza, journey_slug: bad } })],
      ['name', await update({ name: bad })],
      [bad, await update({ links: { [bad]: 'https://example.org' } })],
      ['name', await post('/experiences', { parent_id: plaza, name: bad, description: 'x' })],
      ['svc_class', await post('/experiences', { parent_id: plaza, name: 'X', description: 'x', svc_class: bad })],
      [
        'journey_slug',
        await post(`/holons/${plaza}/memberships:bulk-add`, { memberships: [{ person_id: ed }], journey_slug: bad }),
      ],
      [
        'step_slug',
        await post(`/holons/${plaza}/memberships:bulk-add`, { memberships: [{ person_id: ed, step_slug: bad }] }),
      ],
      ['step_slug', await post('/memberships/1/update', { note: 'x', step_slug: bad })],
      ['displayName', await room({ participants: [{ customParticipantId: 'c', displayName: bad }] })],
      [bad, await room({ claims: { [bad]: { personId: demo.ada, claimedAt: '2026-05-01T10:00:00Z' } } })],
    ];
    for (const [field, { status, json }] of answers) {
      const locations = (json.detail as { type: string; loc: unknown[] }[]).map(({ loc }) => loc.at(-1));
      expect([field, status, locations]).toEqual([field, 422, locations.map(() => field)]);
      for (const { type } of json.detail) expect(['string_pattern_mismatch', 'string_unicode']).toContain(type);
    }
    expect(await peopleAndHolons()).toEqual(before);
  });

  it.each(['%00', '%07', '%0A', '%1B', '%7F', '%C2%85', '%C2%9B', '%E2%80%AE', '%E2%80%8B', '%F3%A0%81%81'])(
    'returns 404 for a slug with %s in a path',
    async (character) => {
      const paths = [
        `/holons/by-slug/plaza${character}`,
        `/classes/holon/place${character}`,
        `/journeys/joining${character}`,
      ];
      for (const path of paths)
        expect([path, (await platform.call('GET', `/api/v1${path}`, { token })).status]).toEqual([path, 404]);
      expect((await platform.call('GET', `/api/agents/guide${character}/`)).status).toBe(404);
      expect((await platform.call('GET', `/api/coherence/browse/holons/plaza${character}`)).status).toBe(404);
    },
  );

  it('keeps joiners within a word, and rejects names without a visible character as blank', async () => {
    const name = '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645';
    expect(await post('/people', { name })).toMatchObject({ status: 201, json: { person: { name } } });
    for (const blank of ['\u3164', ' \u2800 ', '\u115f\ufe0f']) {
      const answers = [
        await post('/people', { name: blank }),
        await update({ name: blank }),
        await post('/experiences', { parent_id: plaza, name: blank, description: 'x' }),
        await post('/people', { name: 'X', note: `\u200b${blank}` }),
      ];
      expect(answers.map(({ status, json }) => [status, json.code])).toEqual(
        answers.map(() => [400, 'validation_error']),
      );
    }
  });

  it('rejects deceptive characters in names of a workspace file, with the line of each', async () => {
    const file = { people: [{ key: 'ed', name: 'E\u001b[31md' }], holons: [{ slug: 'plaza', name: 'P\n' }] };
    await expect(platform.apply(file)).rejects.toThrow(
      /people\[0\]\.name: must have no control characters[^]*holons\[0\]\.name: must have no control/,
    );
  });

  it('preserves the line breaks of multi-line texts', async () => {
    const description = '<p>One</p>\n\t<p>Two</p>';
    expect((await update({ description })).json.holon.description).toBe(description);
  });
});

describe('texts that are expensive for the database', () => {
  const dear: Readonly<Record<string, string>> = {
    'one letter': 'a'.repeat(100_000),
    'different characters': Array.from({ length: 100_000 }, (_value, index) =>
      String.fromCodePoint(0x4e00 + ((index * 7_919) % 20_000)),
    ).join(''),
    'signs that become eighteen letters': '\ufdfa'.repeat(100_000),
    'marks that are out of order': `a${'\u0591'.repeat(50_000)}${'\u05b0'.repeat(49_999)}`,
  };

  it.each(Object.entries(dear))(
    'stores a description of maximum length with %s without delaying other requests',
    async (_name, description) => {
      const stored = Promise.all([update({ description }), post('/people', { name: 'Long', description })]);
      for (let round = 0; round < 3; round += 1)
        expect((await platform.call('GET', `/api/v1/holons/${plaza}`, { token })).status).toBe(200);
      expect((await stored).map(({ status }) => status)).toEqual([200, 201]);
    },
  );

  it('rejects a description that is one character too long', async () => {
    const description = 'a'.repeat(100_001);
    for (const answer of [await update({ description }), await post('/people', { name: 'Long', description })]) {
      expect([answer.status, answer.json.detail[0].type, answer.text.length < 1_000]).toEqual([
        422,
        'string_too_long',
        true,
      ]);
    }
  });
});
