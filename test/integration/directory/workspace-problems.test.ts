import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { directory } from '#services/directory';
import { document, snapshot } from './workspace-document.ts';
import { startDirectoryFixture, type DirectoryFixture } from './fixture.ts';

let fixture: DirectoryFixture;
beforeAll(async () => {
  fixture = await startDirectoryFixture(import.meta.url);
  await fixture.apply(document);
});
afterAll(() => fixture.stop());

async function problemsOf(document: unknown): Promise<unknown> {
  const before = await snapshot(fixture);
  const error = await fixture.refusal(directory.rpcs.applyWorkspace, { document, dry_run: false });
  expect(error).toMatchObject({ code: 'bad_request', reason: 'invalid_workspace' });
  expect(await snapshot(fixture)).toEqual(before);
  return error.details['problems'];
}

describe('workspace apply: bad input changes nothing and lists every problem', () => {
  it('rejects classes and holons that would be their own ancestor', async () => {
    await expect(problemsOf({ holons: [{ slug: 'host', parent: 'spring' }] })).resolves.toEqual([
      { path: ['holons', 0, 'parent'], message: '"host" would be its own ancestor' },
    ]);
    await expect(
      problemsOf({
        classes: [
          { slug: 'a', parent: 'b' },
          { slug: 'b', parent: 'c' },
          { slug: 'c', parent: 'a' },
        ],
      }),
    ).resolves.toHaveLength(3);
  });

  it('reports missing fields of new items', async () => {
    await expect(problemsOf({ holons: [{ slug: 'fresh' }], people: [{ key: 'fresh' }] })).resolves.toEqual([
      { path: ['people', 0], message: 'requires "name", because the person "fresh" does not exist yet' },
      { path: ['holons', 0], message: 'requires "name", because the holon "fresh" does not exist yet' },
      { path: ['holons', 0], message: 'requires "class", because the holon "fresh" does not exist yet' },
    ]);
  });

  it('rejects duplicate items of a workspace file', async () => {
    await expect(
      problemsOf({
        people: [
          { key: 'x', name: 'X' },
          { key: 'x', name: 'X' },
        ],
        accounts: [{ email: 'x@y.z' }, { email: ' X@Y.Z ' }],
        memberships: [
          { person: 'ada', holon: 'spring', journey: 'open-circle' },
          { key: 'k', person: 'ada', holon: 'spring', journey: 'open-circle' },
        ],
      }),
    ).resolves.toEqual([
      { path: ['people', 1, 'key'], message: 'repeats people[0]' },
      { path: ['accounts', 1, 'email'], message: 'repeats accounts[0]' },
      { path: ['memberships', 1], message: 'is the same membership as memberships[0]' },
    ]);
  });

  it.each([
    ['a text', 'people'],
    ['a list', []],
    ['a number', 5],
    ['a list that is an object', { people: {} }],
    ['an item that is no object', { people: ['ada'] }],
    ['U+0000', { people: [{ key: 'n', name: 'a\u0000b' }] }],
    ['a key __proto__', JSON.parse('{"__proto__": []}')],
    ['a number as a flag', { accounts: [{ email: 'a@b.c', superuser: 1 }] }],
    ['a password that is an object', { accounts: [{ email: 'a@b.c', password: { env: 'X' } }] }],
    ['an impossible date', { memberships: [{ person: 'ada', holon: 'spring', follow_up_after: '2026-02-30' }] }],
    ['a step without a journey', { memberships: [{ person: 'ada', holon: 'spring', step: 'held' }] }],
    ['a blank name', { people: [{ key: 'n', name: '  ' }] }],
    ['a slug with a slash', { holons: [{ slug: 'a/b', name: 'N', class: 'event' }] }],
    [
      'an unknown type of a custom field',
      {
        classes: [
          { slug: 'event', config: { info_field_groups: [{ key: 'g', fields: [{ key: 'f', type: 'colour' }] }] } },
        ],
      },
    ],
    ['conversations', { conversations: [] }],
    ['a link that a browser runs', { holons: [{ slug: 'spring', links: { site: 'javascript:x' } }] }],
  ])('rejects a workspace file with %s', async (_what, document) => {
    const problems = (await problemsOf(document)) as unknown[];
    expect(problems.length).toBeGreaterThan(0);
  });
});

describe('workspace apply: addresses in info fields (rules/workspace#info-fields; D72)', () => {
  const fields = [
    { key: 'home', type: 'url' },
    { key: 'film', type: 'video' },
    { key: 'pictures', type: 'slideshow' },
    { key: 'motto', type: 'text' },
  ];
  const place = {
    classes: [
      { slug: 'with-fields', config: { info_field_groups: [{ key: 'g', fields }] } },
      { slug: 'below', parent: 'with-fields' },
    ],
  };
  const holon = (infos: unknown) => ({ slug: 'shown', name: 'Shown', class: 'below', infos });

  it('accepts only http and https in address fields that the class or an ancestor declares', async () => {
    const infos = {
      home: 'javascript:x',
      film: 'youtube',
      pictures: [{ url: 'https://a.org/1.png', caption: 'Note: this' }, { url: 'data:image/png,x' }],
      motto: 'Motto: be kind',
    };
    await expect(problemsOf({ ...place, holons: [holon(infos)] })).resolves.toEqual([
      { path: ['holons', 0, 'infos', 'home'], message: 'must be an http or https address' },
      { path: ['holons', 0, 'infos', 'film'], message: 'must be an http or https address' },
      { path: ['holons', 0, 'infos', 'pictures', 1, 'url'], message: expect.stringContaining('scheme') },
    ]);
    expect(await fixture.env.sql(`select 1 from directory.holons where slug = 'shown'`)).toEqual([]);
  });

  it('checks addresses in fields of an existing class, and removes an address by null', async () => {
    const good = { home: 'https://a.org', film: 'https://v.org/1', pictures: [], motto: 'x' };
    await fixture.apply({ ...place, holons: [holon(good)] });
    await expect(problemsOf({ holons: [{ slug: 'shown', infos: { home: 'tel:1' } }] })).resolves.toHaveLength(1);
    await fixture.apply({ holons: [{ slug: 'shown', infos: { home: null } }] });
  });
});
