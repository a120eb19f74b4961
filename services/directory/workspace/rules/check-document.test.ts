import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { checkDocument, identityOf } from './check-document.ts';
import { namesIn, resolveItems } from './resolve.ts';
import type { Stored } from './rows.ts';
import { type ListName, listNames, vocabulary } from './vocabulary.ts';

function emptyStored(): Stored {
  const ids = Object.fromEntries(listNames.map((name) => [name, new Map()])) as Record<ListName, Map<string, number>>;
  return {
    ids,
    steps: new Map(),
    formerKeys: new Set(),
    mergedIds: new Set(),
    edges: { memberships: [], relationships: [] },
  };
}

describe('checkDocument (rules/workspace#workspace-file)', () => {
  it('accepts every field of a workspace file', () => {
    const { lists, problems } = checkDocument({
      spheres: [{ key: 'health', name: 'Health', is_active: false }],
      classes: [
        {
          slug: 'event',
          object_kind: 'holon',
          parent: null,
          label: 'Event',
          plural_label: 'Events',
          conversation_event: true,
          private: false,
          name_read_only: true,
          is_active: true,
          allowed_children: [],
          journeys: ['open-circle'],
          config: {
            info_field_groups: [
              {
                key: 'about',
                label: 'About',
                fields: [{ key: 'theme', type: 'select', label: 'T', options: ['a', 'b'] }],
              },
            ],
          },
        },
      ],
      journeys: [
        {
          slug: 'open-circle',
          name: 'Open circle',
          description: '',
          svc_app: 'coherence',
          object_kind: 'holon',
          applies_to: 'event',
          is_conversation: true,
          public_visible: true,
          bulk_add: true,
          texts: { welcome: '', enter: '', post: '', goodbyeURL: '' },
          questions: [{ text: 'What matters now?' }, { text: 'What matters now?' }],
          steps: [
            {
              slug: 'import',
              title: 'I',
              goal: '',
              success_criteria: '',
              starter_message: '',
              is_archived: true,
              pipeline_job: 'transcript_import',
              config: {},
            },
          ],
        },
      ],
      people: [
        {
          key: 'ada',
          name: 'Ada',
          description: '',
          photo_url: null,
          contact: { email: 'a@b.c' },
          actor_kind: 'human',
          infos: {},
        },
      ],
      accounts: [
        {
          email: 'a@b.c',
          person: 'ada',
          password: 'x',
          superuser: false,
          global_editor: false,
          groups: ['g'],
          teams: [{ holon: 'h', active: true }],
        },
      ],
      holons: [
        {
          slug: 'h',
          name: 'H',
          description: '',
          class: 'event',
          parent: null,
          links: { a: 'https://b.org' },
          locations: ['de'],
          spheres: ['health'],
          infos: {},
          journeys: [],
        },
      ],
      memberships: [
        {
          key: 'k',
          person: 'ada',
          holon: 'h',
          journey: 'open-circle',
          step: null,
          follow_up_after: '2026-06-01',
          responsible: 'ada',
        },
      ],
      relationships: [{ from: 'h', to: 'h', journey: null }],
    });
    expect(problems).toEqual([]);
    expect(lists.holons[0]?.value['locations']).toEqual(['DE']);
  });

  it('converts null to empty text in text fields, and rejects null for other types', () => {
    const { lists, problems } = checkDocument({
      people: [{ key: 'a', description: null, infos: null, name: null }],
      holons: null,
    });
    expect(lists.people).toEqual([]);
    expect(problems).toEqual([{ path: ['people', 0, 'name'], message: 'must not be null' }]);
    expect(checkDocument({ people: [{ key: 'a', description: null, infos: null }] }).lists.people[0]?.value).toEqual({
      key: 'a',
      description: '',
    });
  });

  it('reports all problems of an item', () => {
    const { problems } = checkDocument({ people: [{ name: 1, contact: [], logo: 'x', surprise: true }] });
    expect(problems.map(({ path, message }) => [path.join('.'), message])).toEqual([
      ['people.0.name', 'must be text'],
      ['people.0.contact', 'must be an object'],
      ['people.0.logo', 'is not supported: this version stores no logos'],
      ['people.0.surprise', 'is not a known field'],
      ['people.0', 'needs "key"'],
    ]);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'reports the unknown list or field %s',
    (name) => {
      const document = JSON.parse(
        `{"${name}": [], "people": [{"key": "a", "name": "A", "${name}": {"x": 1}}]}`,
      ) as unknown;
      expect(checkDocument(document).problems).toEqual([
        { path: [name], message: expect.stringMatching(/^is not a list of the workspace file\. Lists: spheres, /) },
        { path: ['people', 0, name], message: 'is not a known field' },
      ]);
    },
  );

  it.each<[string, Record<string, unknown>, unknown]>([
    ['people.0.name', { people: [{ key: 'a', name: 'A\u0007' }] }, 'must have no control characters'],
    ['people.0.key', { people: [{ key: 'a\u0085', name: 'A' }] }, 'must have no control characters'],
    ['people.0.name', { people: [{ key: 'a', name: 'A\u202eB' }] }, 'must have no control characters'],
    ['people.0.name', { people: [{ key: 'a', name: '\u3164' }] }, 'must not be blank'],
    [
      'journeys.0.steps.0.title',
      { journeys: [{ slug: 'j', steps: [{ slug: 's', title: 'T\n' }] }] },
      'must have no control characters',
    ],
    ['journeys.0.svc_app', { journeys: [{ slug: 'j', svc_app: 'a\tb' }] }, 'must have no control characters'],
    [
      'accounts.0.groups.1',
      { accounts: [{ email: 'a@b.c', groups: ['g', 'h\u001b'] }] },
      'must have no control characters',
    ],
    ['accounts.0.email', { accounts: [{ email: 'a@b.c\u0001' }] }, 'must have no control characters'],
    [
      'holons.0.links.site',
      { holons: [{ slug: 'h', links: { site: 'example.org' } }] },
      expect.stringContaining('http, https, mailto or tel'),
    ],
    [
      'holons.0.links.x',
      { holons: [{ slug: 'h', links: { x: ' JaVaScript:alert(1)' } }] },
      expect.stringContaining('scheme'),
    ],
    [
      'holons.0.links.a\u0000',
      { holons: [{ slug: 'h', links: { 'a\u0000': 'https://a.org' } }] },
      expect.stringContaining('U+0000'),
    ],
    [
      'holons.0.links.a\u0007',
      { holons: [{ slug: 'h', links: { 'a\u0007': 'https://a.org' } }] },
      'must have no control characters',
    ],
    [
      'people.0.contact.web',
      { people: [{ key: 'a', contact: { web: 'data:text/html,x' } }] },
      expect.stringContaining('scheme'),
    ],
    [
      'people.0.contact.all.1',
      { people: [{ key: 'a', contact: { all: ['x', 'vbscript:x'] } }] },
      expect.stringContaining('scheme'),
    ],
    ['people.0.photo_url', { people: [{ key: 'a', photo_url: 'mailto:a@b.c' }] }, 'must be an http or https address'],
    ['classes.0.icon_url', { classes: [{ slug: 'c', icon_url: 'javascript:x' }] }, expect.stringContaining('scheme')],
    [
      'journeys.0.texts.goodbyeURL',
      { journeys: [{ slug: 'j', texts: { goodbyeURL: 'javascript:x' } }] },
      expect.stringContaining('scheme'),
    ],
    [
      'people.0.description',
      { people: [{ key: 'a', description: 'x'.repeat(100_001) }] },
      'is longer than 100000 characters',
    ],
  ])('rejects %s (D72, D74)', (place, document, message) => {
    expect(checkDocument(document).problems.map(({ path, message: said }) => [path.join('.'), said])).toEqual([
      [place, message],
    ]);
  });

  it('accepts multi-line text, textual contact values, icon paths and empty values', () => {
    const { problems } = checkDocument({
      people: [
        {
          key: 'a',
          description: 'x'.repeat(100_000),
          contact: { address: 'Street 1\nCity', phone: 49, web: null, nick: '' },
          photo_url: '',
        },
      ],
      holons: [{ slug: 'h', description: 'One\n\ttwo', links: { site: null, old: '' } }],
      classes: [{ slug: 'c', icon_url: '/icons/c.svg' }],
      journeys: [
        {
          slug: 'j',
          texts: { welcome: 'Note: hello\nyou', goodbyeURL: '/bye' },
          questions: [{ text: 'What\nmatters?\n' }, 'A text alone'],
        },
      ],
    });
    expect(problems).toEqual([]);
  });

  it.each(['2026-02-30', '2026-13-01', '26-01-01', '2026-01-01T00:00:00Z', '0000-01-01'])(
    'rejects the date %s',
    (date) => {
      expect(
        checkDocument({ memberships: [{ person: 'a', holon: 'h', follow_up_after: date }] }).problems,
      ).toHaveLength(1);
    },
  );

  it.each(['a b', 'a/b', '', '.', '..', 'ä', 'a'.repeat(201)])('rejects the slug %j', (slug) => {
    expect(checkDocument({ holons: [{ slug }] }).problems).toHaveLength(1);
  });

  it('accepts any document without throwing or modifying it', () => {
    const anything = fc.oneof(
      fc.anything({ withBigInt: false, maxDepth: 6 }),
      fc.record(Object.fromEntries(listNames.map((name) => [name, fc.array(itemLike(name), { maxLength: 3 })])), {
        requiredKeys: [],
      }),
    );
    fc.assert(
      fc.property(anything, (value) => {
        const document: unknown = JSON.parse(JSON.stringify(value ?? null));
        const before = JSON.stringify(document);
        const { lists, problems } = checkDocument(document);
        resolveItems(lists, namesIn(document), emptyStored());
        expect(JSON.stringify(document)).toBe(before);
        for (const { path, message } of problems) {
          expect(Array.isArray(path)).toBe(true);
          expect(message).not.toBe('');
        }
      }),
      { numRuns: 300 },
    );
  });
});

function itemLike(list: ListName): fc.Arbitrary<unknown> {
  const value = fc.oneof(
    fc.constantFrom(null, true, 1, '', 'a', 'b', [], {}, ['a', 'a'], '2026-01-01'),
    fc.jsonValue({ maxDepth: 2 }),
  );
  return fc.record(Object.fromEntries(Object.keys(vocabulary[list]).map((field) => [field, value])), {
    requiredKeys: [],
  });
}

describe('identityOf', () => {
  it('ignores case and white space of emails, and identifies a membership without a key by person and holon', () => {
    expect(identityOf('accounts', { email: ' Ada@Example.org ' })).toBe('ada@example.org');
    expect(identityOf('memberships', { person: 'a', holon: 'h', journey: null })).toBe(
      identityOf('memberships', { person: 'a', holon: 'h' }),
    );
    expect(identityOf('memberships', { key: 'k', person: 'a', holon: 'h' })).toBe('k');
  });
});

describe('resolveItems', () => {
  it('resolves a reference to an invalid person item without a second problem', () => {
    const document = { people: [{ key: 'ada', name: 5 }], accounts: [{ email: 'a@b.c', person: 'ada' }] };
    const { lists, problems } = checkDocument(document);
    expect(problems).toHaveLength(1);
    expect(resolveItems(lists, namesIn(document), emptyStored()).problems).toEqual([]);
  });
});
