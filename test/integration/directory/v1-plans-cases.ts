/** The requests by which `v1-plans.test.ts` reads and changes a large directory: cases of every operation. */
import type { Rpc } from '#libs/infrastructure/contract';
import { directory } from '#services/directory';
import {
  personTarget,
  plantedPair,
  plantedWord,
  responsibleTarget,
  targetHolonId,
} from '../../../lab/scale/network-sql.ts';

const { rpcs } = directory;
export const sizes = { people: 20_000, holons: 10_000 };
/** A holon with 50 members, a holon with few members, and an id without a holon. */
export const places = [{ holon_id: targetHolonId(sizes, 1) }, { holon_id: 9_000 }, { holon_id: 2_147_483_647 }];
export const person = { person_id: personTarget(sizes, 1) };

/** Kinds of objects with a history, by the operation that lists it. */
export const histories = {
  listPersonHistory: 'people',
  listHolonHistory: 'holons',
  listMembershipHistory: 'memberships',
  listRelationshipHistory: 'relationships',
  listJourneyHistory: 'journeys',
  listAccountHistory: 'accounts',
  listClassHistory: 'classes',
} as const;

export interface Case {
  readonly operation: string;
  readonly rpc: Rpc;
  readonly requests: readonly object[];
}
const ask = (operation: keyof typeof rpcs, ...requests: object[]): Case => ({
  operation,
  rpc: rpcs[operation],
  requests,
});

/** Returns the id of the object of `kind` whose history the tests list. */
export const historyOf = (kind: string): string =>
  ({ holons: '7', journeys: 'journey-1', classes: 'holon/place' })[kind] ?? '1';
function pagesOfHistory(kind: (typeof histories)[keyof typeof histories]): object[] {
  return [{}, { limit: 200 }, { cursor: '5000' }].map((page) => ({ kind, id: historyOf(kind), ...page }));
}

export const word = (kind: 'name' | 'description' | 'channel'): string => plantedWord(kind, 1).toLowerCase();
const texts = [
  word('name'),
  word('description'),
  word('channel'),
  plantedPair(1),
  `ada ${word('name')}`,
  'nobody of that name',
  '%_',
];
/** Match a large share of all rows; the empty text matches every name. */
const frequentTexts = ['', 'carla', 'meadow'];
const sorts = ['name', 'latest', 'updated'];
const sorted = [word('name'), ...frequentTexts].flatMap((q) => sorts.map((sort) => ({ q, sort })));
const after = { created_after: '2020-01-01T00:00:00Z', updated_after: '2020-01-01T00:00:00Z' };

export const reads: readonly Case[] = [
  ask(
    'searchDirectory',
    ...[...texts, 'an', 'carla', 'example.org', '+4930123456', 'ann@b\u00fccher.example'].flatMap((q) => [
      { q },
      { q, types: 'holon', limit_per_type: 50 },
    ]),
  ),
  ask('listPeople', ...sorted, ...texts.map((q) => ({ q })), { q: word('name'), ...after }),
  ask('getPerson', { person_id: 77 }),
  ask(
    'listHolons',
    ...sorted,
    ...texts.map((q) => ({ q })),
    ...['place', 'circle', 'closed-circle'].flatMap((slug) => sorts.map((sort) => ({ class: slug, sort }))),
    ...texts.map((q) => ({ q, class: 'circle', parent: 60 })),
    { q: '', parent: 60, ...after },
  ),
  ask('getHolon', { holon_id: 77 }),
  ask('getHolonBySlug', { slug: 'holon-77' }),
  ask('listClasses', {}, { object_kind: 'holon' }),
  ask('getClass', { object_kind: 'holon', slug: 'place' }),
  ask(
    'listJourneys',
    {},
    { q: 'journey 7' },
    { q: 'j', limit: 200 },
    { applies_to: 'place', is_conversation: true, svc_app: 'x' },
  ),
  ask('getJourney', { slug: 'journey-1' }),
  ask('listPersonMemberships', person, { ...person, limit: 200, offset: 1 }),
  ask(
    'listHolonMemberships',
    ...places.flatMap((place) => [
      ...['name', '-name', 'follow_up_after', '-follow_up_after', 'person_created', '-person_created'].map((sort) => ({
        ...place,
        sort,
      })),
      ...['ada', 'a', 'person77'].map((q) => ({ ...place, q })),
      { ...place, journey: 'journey-2', step_slug: 'step-1', responsible_person_id: 7, follow_up: 'overdue' },
      { ...place, follow_up: 'none', limit: 200 },
    ]),
  ),
  ask('listHolonRelationships', ...places),
  ask('listNotesOfPerson', person, { person_id: 2_147_483_647 }),
  ask('listNotesOfHolon', ...places),
  ask(
    'listResponsible',
    ...[{}, { responsible: responsibleTarget(1) }].flatMap((responsible) =>
      [
        {},
        { type: 'person' },
        { type: 'closed-circle' },
        { type: 'place,person', when: 'overdue' },
        { when: 'today,future', offset: 50 },
      ].map((more) => ({ ...responsible, ...more })),
    ),
  ),
  ask('listSpheres', {}, { limit: 200 }),
  ask('listKeys', {}),
  ask('getKey', { key_id: 'nobodys' }),
  ...(['people', 'holons', 'memberships', 'relationships', 'classes'] as const).map((kind) =>
    ask('listHistory', ...pagesOfHistory(kind)),
  ),
];

/** Reads that are denied to other accounts before the first statement. */
export const readsOfSuperusers: readonly Case[] = [
  ask('listQuestions', { journey_slug: 'journey-1' }, { journey_slug: 'journey-1', limit: 1_000 }),
  ask('listHistory', ...pagesOfHistory('journeys')),
  ask('listHistory', ...pagesOfHistory('accounts')),
  ask(
    'searchAccounts',
    {},
    { q: 'example' },
    { limit: 200, active: true, superuser: false, group: 'workspace_editors' },
  ),
  ask('getAccount', { account_id: 2 }),
  ask('listIdentities', { account_id: 2 }),
  ask('exportPerson', person),
  ask('getErasure', person, { person_id: 2_147_483_647 }),
];

export const writes: readonly Case[] = [
  ask(
    'createPerson',
    { name: 'New', contact: { email: 'new@example.org', linkedin: 'https://linkedin.com/in/new' }, note: 'x' },
    { name: 'New', membership: { ...places[0], journey_slug: 'journey-1', responsible_person_id: 2 }, note: 'x' },
  ),
  ask('updateHolon', {
    holon_id: 60,
    name: 'Other',
    links: { a: 'https://example.org' },
    journey_ids: [1, 2],
    locations: ['DE'],
  }),
  ask('updateHolon', { holon_id: 61, parent_id: null, slug: 'other-slug' }, { holon_id: 60, parent_id: 61 }),
  ask('createHolon', { name: 'Holon 77', class: 'place', parent_id: 60, journey_ids: [1], spheres: [1] }),
  ask('createHolon', { name: 'New place', class: 'place', parent_id: 60 }),
  ask('deleteHolon', { holon_id: 62 }),
  ask('createSphere', { name: 'New sphere' }),
  ask('updateSphere', { sphere_id: 1, name: 'Other' }),
  ask('createExperience', { parent_id: 60, name: 'Walk', description: 'Out' }),
  ask('bulkAddMemberships', {
    ...places[1],
    journey_slug: 'journey-1',
    memberships: Array.from({ length: 300 }, (_, index) => ({ person_id: index + 1, responsible_person_id: 2 })),
  }),
  ask('updateMembership', {
    membership_id: 77,
    note: 'x',
    advance_step: true,
    follow_up_after: '2026-05-01',
    responsible_person_id: 2,
  }),
  ask('updateMembership', { membership_id: 78, note: 'x', journey_slug: 'journey-3', step_slug: 'step-2' }),
  ask('updateRelationship', { relationship_id: 77, note: 'x', advance_step: true }),
  ask('createMembership', {
    person_id: 90,
    ...places[1],
    journey_slug: 'journey-1',
    responsible_person_id: 2,
    note: 'x',
  }),
  ask('createRelationship', { from_holon_id: 60, to_holon_id: 61, journey_slug: 'journey-1', note: 'x' }),
  ask('createPersonNote', { person_id: 90, holon_id: 60, body: 'x' }),
  ask('createHolonNote', { holon_id: 60, body: 'x' }),
  ask('updateNote', { note_id: 77, body: 'y' }),
  ask('deleteNote', { note_id: 77 }),
  ask('deleteMembership', { membership_id: 79 }),
  ask('deleteRelationship', { relationship_id: 79 }),
  ask('checkExperienceLogo', { experience_id: 77 }),
  ask('createKey', { name: 'x', scopes: ['*'] }),
  ask('rotateKey', { key_id: 'nobodys' }),
  ask('revokeKey', { key_id: 'nobodys' }),
  ask('mergePerson', { person_id: 90, into: 91, dry_run: true }, { person_id: 90, into: 91 }),
  ask('updatePerson', { person_id: 91, name: 'Renamed', contact: { email: 'renamed@example.org', website: null } }),
  ask(
    'createClass',
    { slug: 'hall', parent: 'place', allowed_children: ['circle'], journeys: ['journey-1'] },
    { slug: 'place' },
  ),
  ask('updateClass', { object_kind: 'holon', slug: 'guild', label: 'Club', journeys: ['journey-2'], private: true }),
  ask('deleteClass', { object_kind: 'holon', slug: 'hall' }, { object_kind: 'holon', slug: 'circle' }),
  ask('createJourney', { slug: 'new', name: 'New', steps: [{ slug: 'one' }], questions: [{ text: 'Why?' }] }),
  ask('updateJourney', { journey_slug: 'journey-4', name: 'Other', applies_to: 'place', texts: { welcome: 'Hi' } }),
  ask('createStep', { journey_slug: 'new', slug: 'two', title: 'Two', position: 0 }),
  ask('updateStep', { journey_slug: 'journey-4', step_slug: 'step-2', title: 'Other', position: 0 }),
  ask('deleteStep', { journey_slug: 'new', step_slug: 'two' }, { journey_slug: 'journey-4', step_slug: 'step-2' }),
  ask('createQuestion', { journey_slug: 'journey-1', text: 'How?', position: 3 }),
  ask('updateQuestion', { journey_slug: 'journey-1', question_id: 7, text: 'When?', position: 0, is_archived: true }),
  ask('deleteJourney', { journey_slug: 'new' }, { journey_slug: 'journey-4' }),
  ask('inviteAccount', {
    email: 'new-account@example.org',
    person_id: 93,
    groups: ['workspace_editors'],
    teams: [{ holon_id: 60 }],
    seed: 'seed',
    token_sha256: 'a'.repeat(43),
  }),
  ask('updateAccount', { account_id: 1, person_id: 94, teams: [{ holon_id: 61 }], superuser: true, active: false }),
  ask('linkIdentity', { account_id: 2, issuer: 'https://id.example.org', subject: 'of 2' }),
  ask('unlinkIdentity', { account_id: 2, issuer: 'https://id.example.org', subject: 'of 2' }),
  ask('deleteAccount', { account_id: 4 }),
  ask('resetAccountPassword', { account_id: 2, seed: 'seed', token_sha256: 'b'.repeat(43) }),
];
