/**
 * A tree of public and private holons with related objects, callers with every kind of authority, and what each may see
 * and edit by policy (D48, D49), derived from the tree alone.
 */

/** slug → [class, parent]. Holons of the classes `closed`, `inner` (inherits the privacy) and `hushed` are private. */
export const tree = {
  hub: ['group', null],
  camp: ['group', 'hub'],
  stroll: ['walk', 'hub'],
  vault: ['closed', 'hub'],
  cell: ['inner', 'vault'],
  whisper: ['hushed', 'vault'],
  den: ['closed', 'camp'],
  solo: ['closed', null],
  annex: ['group', 'vault'], // public, below a private holon
} as const satisfies Record<string, readonly [string, string | null]>;
export type Slug = keyof typeof tree;
export const slugs = Object.keys(tree) as Slug[];
const privateClasses: readonly string[] = ['closed', 'inner', 'hushed'];
export const isPrivate = (slug: Slug): boolean => privateClasses.includes(tree[slug][0]);

/** The holons over which the team of each caller has authority. */
export const callers = {
  stranger: [],
  ended: ['stroll'], // also has authority over the vault, which is no longer active
  beside: ['camp'],
  above: ['hub'],
  at: ['vault'],
  below: ['cell'],
  editor: 'all',
  superuser: 'all',
} as const satisfies Record<string, readonly Slug[] | 'all'>;
export type Caller = keyof typeof callers;
export const callerNames = Object.keys(callers) as Caller[];
/** Callers without access to any holon of the second stage. */
export const outsiders = ['stranger', 'ended'] as const;

function lineage(slug: Slug): Slug[] {
  const parent = tree[slug][1];
  return parent === null ? [slug] : [slug, ...lineage(parent)];
}
export function edits(caller: Caller, slug: Slug): boolean {
  const authority: readonly Slug[] | 'all' = callers[caller];
  return authority === 'all' || lineage(slug).some((holon) => authority.includes(holon));
}
export const sees = (caller: Caller, slug: Slug): boolean => !isPrivate(slug) || edits(caller, slug);

export const memberships = [
  ['pat', 'hub', 'join'],
  ['pat', 'camp', 'join'],
  ['pat', 'camp', 'steward'],
  ['quin', 'hub', 'steward'],
  ['pat', 'vault', 'join'],
  ['pat', 'cell', 'join'],
  ['pat', 'den', 'steward'],
  ['pat', 'solo', 'join'],
  ['quin', 'vault', 'steward'],
  ['rae', 'vault', 'join'],
  ['rae', 'whisper', 'join'],
  ['pat', 'annex', 'join'],
] as const satisfies readonly (readonly [string, Slug, string])[];
export const relationships = [
  ['hub', 'camp'],
  ['camp', 'hub'],
  ['hub', 'vault'],
  ['vault', 'cell'],
  ['den', 'hub'],
  ['den', 'vault'],
  ['solo', 'camp'],
  ['annex', 'camp'],
  ['annex', 'cell'],
] as const satisfies readonly (readonly [Slug, Slug])[];
export const people = ['pat', 'quin', 'rae'] as const;

export const membershipKey = ([person, holon, journey]: readonly string[]): string => `${person}-${holon}-${journey}`;
export const relationshipKey = ([from, to]: readonly string[]): string => `${from}-${to}`;

/** Added in order: public holons, private ones, and public ones below a private holon. */
export const stages: readonly (readonly Slug[])[] = [
  ['hub', 'camp', 'stroll'],
  ['vault', 'cell', 'whisper', 'den', 'solo'],
  ['annex'],
];

const classes = [
  { slug: 'group', label: 'Group', journeys: ['join', 'steward'], allowed_children: ['walk'] },
  { slug: 'closed', label: 'Closed', parent: 'group', private: true, allowed_children: ['walk', 'hushed'] },
  { slug: 'inner', label: 'Inner', parent: 'closed', allowed_children: ['walk'] },
  { slug: 'experience', label: 'Experience', journeys: ['join'] },
  { slug: 'walk', label: 'Walk', parent: 'experience' },
  { slug: 'hushed', label: 'Hushed', parent: 'experience', private: true },
];
const steps = [
  { slug: 'asked', title: 'Asked' },
  { slug: 'joined', title: 'Joined' },
];
const journeys = [
  { slug: 'join', name: 'Join', bulk_add: true, steps },
  { slug: 'steward', name: 'Steward', steps },
  { slug: 'hosting', name: 'Hosting', steps },
];

/** Returns the workspace file of a stage. It changes nothing of earlier stages except the callers' authority. */
export function describeStage(stage: number): Record<string, unknown> {
  const present: readonly Slug[] = stages.slice(0, stage + 1).flat();
  const added = stages[stage] ?? [];
  const isNew = (ends: readonly Slug[]): boolean =>
    ends.every((slug) => present.includes(slug)) && ends.some((slug) => added.includes(slug));
  const dates = ['2020-01-01', '2020-01-02', null];
  return {
    ...(stage === 0
      ? { classes, journeys, people: [...people, ...callerNames].map((key) => ({ key, name: `Person ${key}` })) }
      : {}),
    accounts: callerNames.map((caller) => describeAccount(caller, present)),
    holons: added.map((slug) => ({
      slug,
      name: `Place ${slug}`,
      class: tree[slug][0],
      parent: tree[slug][1],
      description: `About ${isPrivate(slug) ? 'secret' : 'open'} things`,
      links: { site: `https://${slug}.example.org` },
      journeys: ['hosting'],
    })),
    memberships: memberships
      .filter(([, holon]) => isNew([holon]))
      .map(([person, holon, journey], index) => ({
        key: membershipKey([person, holon, journey]),
        person,
        holon,
        journey,
        step: 'asked',
        follow_up_after: dates[index % 3],
        responsible: 'at',
      })),
    relationships: relationships
      .filter((ends) => isNew(ends))
      .map(([from, to], index) => ({
        key: relationshipKey([from, to]),
        from,
        to,
        journey: 'hosting',
        step: 'asked',
        follow_up_after: dates[(index + 1) % 3],
        responsible: 'at',
      })),
  };
}

function describeAccount(caller: Caller, present: readonly Slug[]): Record<string, unknown> {
  const authority: readonly Slug[] | 'all' = callers[caller];
  const held =
    authority === 'all' ? [] : authority.filter((slug) => present.includes(slug)).map((holon) => ({ holon }));
  return {
    email: `${caller}@example.org`,
    person: caller,
    password: `secret-of-${caller}`,
    global_editor: caller === 'editor',
    superuser: caller === 'superuser',
    teams: caller === 'ended' && present.includes('vault') ? [...held, { holon: 'vault', active: false }] : held,
  };
}
