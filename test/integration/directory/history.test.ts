/** History of objects: what the workspace file changes, who may read it, pages (W10). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Actor } from '#libs/infrastructure/contract';
import { directory } from '#services/directory';
import { type DirectoryFixture, startDirectoryFixture } from './fixture.ts';

let fixture: DirectoryFixture;
let ids: Record<string, Record<string, number>>;

beforeAll(async () => {
  fixture = await startDirectoryFixture(import.meta.url);
  ({ ids } = await fixture.apply(file({ title: 'Welcome', name: 'Ada' })));
});
afterAll(() => fixture.stop());

const file = ({ title, name }: { title: string; name: string }) => ({
  classes: [{ slug: 'group', label: 'Group' }],
  journeys: [
    { slug: 'join', name: 'Join', steps: [{ slug: 'welcome', title, config: { api_key: `key of ${title}` } }] },
  ],
  people: [{ key: 'ada', name, contact: { email: 'ada@example.org' } }],
  holons: [{ slug: 'circle', name: 'Circle', class: 'group' }],
  accounts: [{ email: 'ada@example.org', person: 'ada' }],
  memberships: [{ person: 'ada', holon: 'circle', journey: 'join' }],
});

const { listHistory } = directory.rpcs;
const idOf = (list: string, key: string): string => String(ids[list]?.[key]);
const user = (rights: Partial<Extract<Actor, { kind: 'user' }>> = {}): Actor => ({
  kind: 'user',
  accountId: 1,
  personId: null,
  superuser: false,
  globalEditor: false,
  coherenceAccess: false,
  ...rights,
});

describe('history of the workspace file (W10)', () => {
  it('has an entry for each created object, with null as every old value', async () => {
    const { items, next } = await fixture.call(listHistory, { kind: 'people', id: idOf('people', 'ada') });
    expect(items).toEqual([
      {
        at: expect.any(String),
        actor: { kind: 'cli', name: null, account_id: null, key_id: null },
        via: 'file',
        changes: {
          name: { old: null, new: 'Ada' },
          description: { old: null, new: '' },
          actor_kind: { old: null, new: 'human' },
          contact: { old: null, new: { email: 'ada@example.org' } },
          infos: { old: null, new: {} },
        },
      },
    ]);
    expect(next).toBeNull();
  });

  it('has an entry with the changed fields only, newest first, and none for unchanged objects', async () => {
    await fixture.apply(file({ title: 'Hello', name: 'Ada Okafor' }));
    const person = await fixture.call(listHistory, { kind: 'people', id: idOf('people', 'ada') });
    expect(person.items.map(({ changes }) => Object.keys(changes))).toEqual([['name'], expect.any(Array)]);
    expect(person.items[0]?.changes).toEqual({ name: { old: 'Ada', new: 'Ada Okafor' } });
    const holon = await fixture.call(listHistory, { kind: 'holons', id: idOf('holons', 'circle') });
    expect(holon.items).toHaveLength(1);
  });

  it('finds a journey by slug and by id, and shows no value of a secret', async () => {
    const bySlug = await fixture.call(listHistory, { kind: 'journeys', id: 'join' });
    expect(await fixture.call(listHistory, { kind: 'journeys', id: idOf('journeys', 'join') })).toEqual(bySlug);
    expect(bySlug.items[0]?.changes).toEqual({
      'steps.welcome.title': { old: 'Welcome', new: 'Hello' },
      'steps.welcome.config': { old: { api_key: { changed: true } }, new: { api_key: { changed: true } } },
    });
    expect(JSON.stringify(bySlug)).not.toContain('key of');
  });

  it('continues after the cursor and rejects one that is not from a page', async () => {
    const request = { kind: 'people' as const, id: idOf('people', 'ada'), limit: 1 };
    const first = await fixture.call(listHistory, request);
    const second = await fixture.call(listHistory, { ...request, cursor: first.next ?? '' });
    expect([first.items.length, second.items.length, second.next]).toEqual([1, 1, null]);
    expect(second.items[0]?.changes).toMatchObject({ name: { old: null, new: 'Ada' } });
    expect(await fixture.refusal(listHistory, { ...request, cursor: 'x' })).toMatchObject({ code: 'bad_request' });
  });
});

describe('access to a history (W10, W17)', () => {
  const ask = (
    kind: 'people' | 'holons' | 'journeys' | 'classes' | 'accounts' | 'memberships',
    id: string,
    actor: Actor,
  ) =>
    fixture.call(listHistory, { kind, id }, actor).then(
      () => 'ok',
      (error: { code: string }) => error.code,
    );

  it('is given to callers that may edit the object', async () => {
    const person = idOf('people', 'ada');
    expect(await ask('people', person, user({ personId: Number(person) }))).toBe('ok');
    expect(await ask('people', person, user({ globalEditor: true }))).toBe('ok');
    expect(await ask('people', person, user())).toBe('permission_denied');
    expect(await ask('holons', idOf('holons', 'circle'), user())).toBe('permission_denied');
    expect(await ask('journeys', 'join', user({ workspaceEditor: true }))).toBe('ok');
    expect(await ask('journeys', 'join', user({ globalEditor: true }))).toBe('permission_denied');
    expect(await ask('classes', 'holon/group', user({ workspaceEditor: true }))).toBe('ok');
    expect(await ask('accounts', idOf('accounts', 'ada@example.org'), user({ superuser: true }))).toBe('ok');
    expect(await ask('accounts', '999', user({ workspaceEditor: true }))).toBe('permission_denied');
  });

  it('is not_found for objects that do not exist', async () => {
    expect(await ask('people', '999999', user({ superuser: true }))).toBe('not_found');
    expect(await ask('journeys', 'absent', user({ superuser: true }))).toBe('not_found');
    expect(await ask('accounts', '99999999999', user({ superuser: true }))).toBe('not_found');
  });
});

describe('ids of hidden holons in a history (W10, D48)', () => {
  const document = (parent: string) => ({
    classes: [
      { slug: 'house', label: 'House' },
      { slug: 'vault', label: 'Vault', private: true },
    ],
    people: [{ key: 'kim', name: 'Kim' }],
    holons: [
      { slug: 'vault-a', name: 'Vault A', class: 'vault' },
      { slug: 'vault-b', name: 'Vault B', class: 'vault' },
      { slug: 'street', name: 'Street', class: 'house' },
      { slug: 'house', name: 'House', class: 'house', parent },
    ],
    accounts: [{ email: 'kim@example.org', person: 'kim', teams: [{ holon: 'house', active: true }] }],
    journeys: [{ slug: 'stay', name: 'Stay', steps: [{ slug: 'asked', title: 'Asked' }] }],
    memberships: [{ person: 'kim', holon: 'house', journey: 'stay' }],
    relationships: [{ from: 'house', to: 'street', journey: 'stay' }],
  });
  let known: Record<string, Record<string, number>>;
  const id = (list: string, key: string): number => known[list]?.[key] ?? 0;
  const kim = (): Actor => user({ accountId: id('accounts', 'kim@example.org'), personId: id('people', 'kim') });
  const parentsFor = async (actor: Actor): Promise<unknown[]> => {
    const { items } = await fixture.call(listHistory, { kind: 'holons', id: String(id('holons', 'house')) }, actor);
    return items.map(({ changes }) => changes['parent_id']);
  };
  beforeAll(async () => {
    for (const parent of ['vault-a', 'vault-b', 'street']) ({ ids: known } = await fixture.apply(document(parent)));
  });

  it('are null for an editor of the holon that cannot see its former parents', async () => {
    expect(await parentsFor(kim())).toEqual([
      { old: null, new: id('holons', 'street') },
      { old: null, new: null },
      { old: null, new: null },
    ]);
  });

  it('are shown to callers that see all holons, and to an editor with authority over the parent', async () => {
    const [first, second, street] = ['vault-a', 'vault-b', 'street'].map((slug) => id('holons', slug));
    const all = [
      { old: second, new: street },
      { old: first, new: second },
      { old: null, new: first },
    ];
    for (const rights of [{ superuser: true }, { globalEditor: true }])
      expect(await parentsFor(user(rights))).toEqual(all);
    const teams = ['house', 'vault-b'].map((holon) => ({ holon, active: true }));
    await fixture.apply({ accounts: [{ email: 'kim@example.org', person: 'kim', teams }] });
    expect(await parentsFor(kim())).toEqual([
      { old: second, new: street },
      { old: null, new: second },
      { old: null, new: null },
    ]);
  });

  it('are null for an id of a holon that no longer exists', async () => {
    await fixture.env.sql('update directory.history set changes = $1 where object_kind = $2 and object_id = $3', [
      JSON.stringify({
        parent_id: { old: 2_000_000_000, new: id('holons', 'street') },
        name: { old: 'Old', new: 'House' },
      }),
      'holons',
      id('holons', 'house'),
    ]);
    const { items } = await fixture.call(listHistory, { kind: 'holons', id: String(id('holons', 'house')) }, kim());
    expect(items[0]?.changes).toEqual({
      parent_id: { old: null, new: id('holons', 'street') },
      name: { old: 'Old', new: 'House' },
    });
  });

  it('are null in memberships and relationships too, whose visible holons and other fields are shown', async () => {
    const cases = [
      ['memberships', ['holon_id']],
      ['relationships', ['from_holon_id', 'to_holon_id']],
    ] as const;
    for (const [kind, fields] of cases) {
      const object = id(kind, Object.keys(known[kind] ?? {}).find((key) => key.includes('house')) ?? '');
      const read = async () =>
        (await fixture.call(listHistory, { kind, id: String(object) }, kim())).items[0]?.changes ?? {};
      const shown = await read();
      expect(shown['journey_slug']).toEqual({ old: null, new: 'stay' });
      for (const field of fields) expect(shown[field]).toEqual({ old: null, new: expect.any(Number) });
      for (const field of fields) {
        await fixture.env.sql(
          `update directory.history set changes = jsonb_set(changes::jsonb, $1::text[], $2::jsonb)::json where object_kind = $3 and object_id = $4`,
          [[field, 'old'], String(id('holons', 'vault-a')), kind, object],
        );
      }
      expect(await read()).toEqual(shown);
    }
  });
});
