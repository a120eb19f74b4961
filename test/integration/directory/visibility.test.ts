/** Holon visibility: every caller with every holon of a tree, through every operation that returns holons. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Actor } from '#libs/infrastructure/contract';
import { directory } from '#services/directory';
import { startDirectoryFixture, type DirectoryFixture } from './fixture.ts';

const { holonSubtree, visibleHolons, listConversationEvents, listEventJourneys, browseHolon, lookUpHolons } =
  directory.rpcs;

const classes = [
  { slug: 'open', label: 'Open' },
  { slug: 'open-event', label: 'Open event', conversation_event: true },
  { slug: 'closed', label: 'Closed', private: true },
  { slug: 'closed-event', label: 'Closed event', conversation_event: true, parent: 'closed' }, // private, because the parent class is private
] as const;

/** slug → [class, parent] */
const tree = {
  top: ['open', null],
  'top-event': ['open-event', 'top'],
  vault: ['closed', 'top'],
  'vault-event': ['closed-event', 'vault'],
  'vault-open-event': ['open-event', 'vault'],
  'vault-inner': ['closed', 'vault'],
  'vault-inner-event': ['closed-event', 'vault-inner'],
  beside: ['closed', 'top'],
  'beside-event': ['closed-event', 'beside'],
  apart: ['closed-event', null],
} as const satisfies Record<string, readonly [string, string | null]>;
type Slug = keyof typeof tree;
const slugs = Object.keys(tree) as Slug[];

/** Callers by the rights of their account; the value is the root of their team authority. */
const callers = {
  'shared token': { authority: [] },
  stranger: { authority: [] },
  'inactive authority': { authority: [] },
  'authority above': { authority: ['top'] },
  'authority at it': { authority: ['vault'] },
  'authority below': { authority: ['vault-inner'] },
  'authority beside': { authority: ['beside'] },
  'authority twice': { authority: ['vault-inner', 'beside'] },
  'global editor': { authority: 'all' },
  superuser: { authority: 'all' },
} as const satisfies Record<string, { authority: readonly Slug[] | 'all' }>;
type Caller = keyof typeof callers;
const names = Object.keys(callers) as Caller[];

const isPrivate = (slug: Slug): boolean => tree[slug][0].startsWith('closed');
const isEvent = (slug: Slug): boolean => tree[slug][0].endsWith('event');
function lineage(slug: Slug): Slug[] {
  const parent = tree[slug][1];
  return parent === null ? [slug] : [slug, ...lineage(parent)];
}
/** Returns whether the caller may see the holon (D18f, D48, D49). */
function sees(caller: Caller, slug: Slug): boolean {
  const authority: readonly Slug[] | 'all' = callers[caller].authority;
  return !isPrivate(slug) || authority === 'all' || lineage(slug).some((holon) => authority.includes(holon));
}

let fixture: DirectoryFixture;
const actors = new Map<Caller, Actor>();
/** Returns whether the actor is a user. Some operations belong to routes that accept only a per-user token. */
const isPerson = (actor: Actor | undefined): boolean => actor?.kind === 'user';
const accountOf = (actor: Actor | undefined): number | null => (actor?.kind === 'user' ? actor.accountId : null);
const ids = new Map<string, number>();
const idOf = (slug: string): number => ids.get(slug) ?? 0;

beforeAll(async () => {
  fixture = await startDirectoryFixture(import.meta.url);
  const teams: Partial<Record<Caller, { holon: string; active?: boolean }[]>> = {
    'inactive authority': [{ holon: 'vault', active: false }],
  };
  const accounts = names.map((name) => {
    const { authority } = callers[name];
    const given = authority === 'all' ? [] : authority.map((holon) => ({ holon }));
    const flags = { superuser: name === 'superuser', global_editor: name === 'global editor' };
    return { email: `${name.replaceAll(' ', '-')}@example.org`, teams: teams[name] ?? given, ...flags };
  });
  const applied = await fixture.apply({
    classes,
    journeys: [
      { slug: 'talk', name: 'Talk', is_conversation: true, steps: [{ slug: 'a' }, { slug: 'b', is_archived: true }] },
      { slug: 'hosting', name: 'Hosting' },
    ],
    holons: slugs.map((slug) => {
      const [objectClass, parent] = tree[slug];
      return {
        slug,
        name: `Name of ${slug}`,
        class: objectClass,
        parent,
        journeys: isEvent(slug) ? ['hosting', 'talk'] : [],
      };
    }),
    accounts,
  });
  for (const [slug, id] of Object.entries(applied.ids['holons'] ?? {})) ids.set(slug, id);
  for (const [index, name] of names.entries()) {
    const accountId = applied.ids['accounts']?.[accounts[index]?.email ?? ''] ?? 0;
    const user = {
      kind: 'user',
      accountId,
      personId: null,
      superuser: false,
      globalEditor: false,
      coherenceAccess: true,
    } as const;
    actors.set(name, { ...user, superuser: name === 'superuser', globalEditor: name === 'global editor' });
  }
  actors.set('shared token', { kind: 'shared' });
});
afterAll(() => fixture.stop());

const matrix = names.flatMap((caller) => slugs.map((slug) => ({ caller, slug, visible: sees(caller, slug) })));
const sorted = (list: readonly string[]): string[] => list.toSorted();

describe('visibility of holons (D18f, D48, D49)', () => {
  it('covers visible and hidden holons in the visibility matrix', () => {
    expect(matrix.filter(({ visible }) => visible).length).toBeGreaterThan(50);
    expect(matrix.filter(({ visible }) => !visible).length).toBeGreaterThan(30);
    expect([...ids.keys()].toSorted()).toEqual(sorted(slugs));
  });

  it.each(matrix)('$slug is visible to $caller: $visible', async ({ caller, slug, visible }) => {
    const actor = actors.get(caller);
    const id = idOf(slug);
    const below = slugs.filter((other) => lineage(other).includes(slug) && sees(caller, other));
    const subtree = await fixture.call(holonSubtree, { slug }, actor);
    expect(subtree).toEqual(
      visible
        ? { found: true, holon_id: id, ids: below.map(idOf).toSorted((left, right) => left - right) }
        : { found: false, holon_id: null, ids: [] },
    );
    expect(await fixture.call(visibleHolons, { account_id: accountOf(actor), ids: [id] })).toEqual({
      items: visible ? [{ id, slug }] : [],
    });
    expect((await fixture.call(lookUpHolons, { ids: [id] }, actor)).map((holon) => holon.slug)).toEqual(
      visible ? [slug] : [],
    );

    if (!visible) {
      expect(await fixture.refusal(browseHolon, { holon_slug: slug }, actor)).toMatchObject({ code: 'not_found' });
      if (!isPerson(actor)) return;
      expect(await fixture.refusal(listConversationEvents, { holon_slug: slug }, actor)).toMatchObject({
        code: 'not_found',
      });
      expect(await fixture.refusal(listEventJourneys, { event_slug: slug }, actor)).toMatchObject({
        code: 'not_found',
      });
      return;
    }
    const browsed = await fixture.call(browseHolon, { holon_slug: slug }, actor);
    expect(browsed.holon).toEqual({ id, slug, name: `Name of ${slug}`, type: tree[slug][0] });
    const children = slugs.filter((other) => tree[other][1] === slug && isEvent(other) && sees(caller, other));
    expect(browsed.events.map((event) => event.slug)).toEqual(sorted(children));
    if (!isPerson(actor)) return;
    const events = await fixture.call(listConversationEvents, { holon_slug: slug }, actor);
    expect(events.map((event) => event.slug)).toEqual(sorted(below.filter(isEvent)));
    for (const event of events) {
      const parent = tree[event.slug as Slug][1];
      const shown = parent !== null && sees(caller, parent);
      expect([event.parent_id, event.parent_slug]).toEqual(shown ? [idOf(parent), parent] : [null, null]);
    }
    const journeys = isEvent(slug)
      ? await fixture.call(listEventJourneys, { event_slug: slug }, actor)
      : await fixture.refusal(listEventJourneys, { event_slug: slug }, actor);
    expect(journeys).toMatchObject(isEvent(slug) ? [{ slug: 'talk', step_count: 1 }] : { code: 'not_found' });
  });

  it.each(names)('lists exactly the visible holons to %s', async (caller) => {
    const actor = actors.get(caller);
    const visible = slugs.filter((slug) => sees(caller, slug));
    const byId = visible.map((slug) => ({ id: idOf(slug), slug })).toSorted((left, right) => left.id - right.id);
    const all = [...slugs.map(idOf), 0, -1, 2_000_000_000];
    expect((await fixture.call(visibleHolons, { account_id: accountOf(actor), ids: all })).items).toEqual(byId);
    expect(
      (await fixture.call(visibleHolons, { account_id: accountOf(actor), slugs: [...slugs, 'unknown'], ids: all }))
        .items,
    ).toEqual(byId);
    expect((await fixture.call(lookUpHolons, { ids: all }, actor)).map((holon) => holon.slug).toSorted()).toEqual(
      sorted(visible),
    );
    if (!isPerson(actor)) return;
    const events = await fixture.call(listConversationEvents, {}, actor);
    expect(events.map((event) => event.slug)).toEqual(sorted(visible.filter(isEvent)));
  });

  it('rejects a call without an actor instead of granting full access', async () => {
    const refusals = [
      await fixture.refusal(holonSubtree, { slug: 'vault' }, null),
      await fixture.refusal(listConversationEvents, {}, null),
      await fixture.refusal(browseHolon, { holon_slug: 'vault' }, null),
      await fixture.refusal(lookUpHolons, { ids: [idOf('vault')] }, null),
    ];
    for (const refusal of refusals)
      expect(refusal).toMatchObject({ code: 'internal', message: 'The caller cannot be verified' });
  });

  it('applies a changed visibility when a class becomes private or team authority ends', async () => {
    const team = actors.get('authority beside');
    expect(
      (await fixture.call(visibleHolons, { account_id: accountOf(team), slugs: ['beside-event'] })).items,
    ).toHaveLength(1);
    await fixture.apply({
      accounts: [{ email: 'authority-beside@example.org', teams: [{ holon: 'beside', active: false }] }],
    });
    expect((await fixture.call(visibleHolons, { account_id: accountOf(team), slugs: ['beside-event'] })).items).toEqual(
      [],
    );
    await fixture.apply({ classes: [{ slug: 'open-event', private: true }] });
    expect((await fixture.call(listConversationEvents, {}, actors.get('stranger'))).map((event) => event.slug)).toEqual(
      [],
    );
  });
});
