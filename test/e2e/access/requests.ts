/** Requests to every operation of `/api/v1/`: reads, and writes that are rejected or change nothing. */
import { membershipKey, memberships, people, relationshipKey, relationships, type Slug, tree } from './network.ts';

/** Returns the id of an object by list and key; unknown keys return an unused id. */
export type IdOf = (list: 'people' | 'holons' | 'memberships' | 'relationships', key: string) => number;
export const nobodysId = 2_147_483_647;
export const nobodysSlug = 'nothing-of-that-name';

export interface Read {
  readonly operation: string;
  /** Relative to `/api/v1`. */
  readonly path: string;
  /** The holon that is read or that owns the list. Callers without access to it get 404. */
  readonly holon?: Slug;
  /** The holon whose children are listed. Callers without access to it get an empty list. */
  readonly parent?: Slug;
  /** Whether the list is paginated by offset. */
  readonly paged?: boolean;
}

const inHolon = [
  '',
  '&q=person',
  '&journey=join',
  '&step_slug=asked',
  '&follow_up=overdue',
  '&follow_up=none',
  '&sort=-name',
];
const sorts = ['name', 'latest', 'updated'];

/** Returns reads of holon lists and related objects. Each list fits on one page. */
export function listReads(idOf: IdOf, holons: readonly Slug[]): Read[] {
  const paged = true;
  const query = (text: string): string => encodeURIComponent(text);
  const texts = ['place', 'secret', 'open', 'https', ...Object.keys(tree)];
  return [
    ...texts.map((text) => ({ operation: 'searchDirectory', path: `/search?limit_per_type=50&q=${query(text)}` })),
    ...['holon', 'person', 'holon,person'].map((types) => ({
      operation: 'searchDirectory',
      path: `/search?limit_per_type=50&q=pl&types=${types}`,
    })),
    ...[...texts, 'pl', ''].flatMap((text) =>
      sorts.map((sort) => ({
        operation: 'listHolons',
        path: `/holons?limit=100&sort=${sort}&q=${query(text)}`,
        paged,
      })),
    ),
    ...['group', 'closed', 'inner', 'experience', 'hushed'].flatMap((objectClass) => [
      { operation: 'listHolons', path: `/holons?limit=100&class=${objectClass}`, paged },
      {
        operation: 'listHolons',
        path: `/holons?limit=100&class=${objectClass}&q=place&created_after=2020-01-01T00:00:00Z`,
        paged,
      },
    ]),
    ...holons.flatMap((parent) =>
      ['q=', 'class=group', 'class=closed', 'q=place&updated_after=2020-01-01T00:00:00Z'].map((filter) => ({
        operation: 'listHolons',
        path: `/holons?limit=100&${filter}&parent=${idOf('holons', parent)}`,
        parent,
        paged,
      })),
    ),
    ...people.flatMap((person) => [
      { operation: 'listPersonMemberships', path: `/people/${idOf('people', person)}/memberships?limit=200`, paged },
      { operation: 'listNotesOfPerson', path: `/people/${idOf('people', person)}/notes?limit=200` },
    ]),
    ...holons.flatMap((holon) => [
      ...inHolon.map((more) => ({
        operation: 'listHolonMemberships',
        path: `/holons/${idOf('holons', holon)}/memberships?limit=200${more}`,
        holon,
        paged,
      })),
      { operation: 'listHolonRelationships', path: `/holons/${idOf('holons', holon)}/relationships?limit=200`, holon },
      { operation: 'listNotesOfHolon', path: `/holons/${idOf('holons', holon)}/notes?limit=200`, holon },
    ]),
    ...['', `&responsible=${idOf('people', 'at')}`].flatMap((responsible) =>
      [
        '',
        '&type=person',
        '&type=closed',
        '&type=group',
        '&type=hushed,person',
        '&when=overdue',
        '&when=overdue,future&type=inner',
      ].map((more) => ({ operation: 'listResponsible', path: `/responsible?limit=100${responsible}${more}`, paged })),
    ),
  ];
}

/** Returns reads of single holons. */
export const holonReads = (idOf: IdOf, holons: readonly Slug[]): Read[] =>
  holons.flatMap((holon) => [
    { operation: 'getHolon', path: `/holons/${idOf('holons', holon)}`, holon },
    { operation: 'getHolonBySlug', path: `/holons/by-slug/${holon}`, holon },
  ]);

/**
 * Returns reads whose responses are the same for all callers: people, classes, and journeys with overall totals (D48).
 */
export const sharedReads = (idOf: IdOf): Read[] => [
  ...sorts.map((sort) => ({ operation: 'listPeople', path: `/people?q=person&sort=${sort}` })),
  ...people.map((person) => ({ operation: 'getPerson', path: `/people/${idOf('people', person)}` })),
  { operation: 'listClasses', path: '/classes' },
  { operation: 'listSpheres', path: '/spheres' },
  ...['group', 'closed', 'inner'].map((slug) => ({ operation: 'getClass', path: `/classes/holon/${slug}` })),
  ...['', '?q=jo', '?applies_to=closed'].map((query) => ({ operation: 'listJourneys', path: `/journeys${query}` })),
  ...['join', 'steward', 'hosting'].map((slug) => ({ operation: 'getJourney', path: `/journeys/${slug}` })),
];

export interface Write {
  readonly operation: string;
  readonly path: string;
  /** Default: POST. */
  readonly method?: 'POST' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** A file to upload; the request is then a form instead of JSON. */
  readonly file?: string;
  /** Holons that the caller must all see; otherwise the status is `hidden`. */
  readonly seen: readonly Slug[];
  /** Default: 404; 400 for holons in the body. */
  readonly hidden?: 400 | 404;
  /**
   * Holons of which the caller must be able to edit at least one; otherwise the status is 403. If empty, seeing the
   * holons is enough.
   */
  readonly edited: readonly Slug[];
  /** Whether the global editor right is also required. */
  readonly globalEditor?: boolean;
  /** The status for callers with the rights. */
  readonly allowed: number;
}

/** Returns the same request for a missing object. */
export function toNowhere({ path, json }: Write): Pick<Write, 'path' | 'json'> {
  const values = typeof json === 'object' && json !== null ? json : {};
  const inBody = ['parent_id', 'holon_id', 'from_holon_id'].filter((name) => name in values);
  return {
    path: inBody.length > 0 ? path : path.replace(/\/\d+(?=\/|$)/, `/${nobodysId}`),
    json: inBody.length > 0 ? { ...values, ...Object.fromEntries(inBody.map((name) => [name, nobodysId])) } : json,
  };
}

/** Headers of a deletion that changes nothing. */
const ofNoVersion = { 'if-match': '"none"' };

/** Requests that are rejected or change nothing even with all rights. */
export function writes(idOf: IdOf, holons: readonly Slug[]): Write[] {
  const all = (ends: readonly Slug[]): boolean => ends.every((slug) => holons.includes(slug));
  const notes = [{ note: ' ' }, { note: 'x', follow_up_after: 'soon' }, { note: 'x', step_slug: 'nowhere' }];
  return [
    ...holons.flatMap((slug) => ofHolon(slug, idOf('holons', slug), idOf('people', 'pat'))),
    ...memberships
      .filter(([, holon]) => all([holon]))
      .flatMap((membership) =>
        [
          ...notes,
          { note: 'x', journey_slug: 'nowhere', step_slug: 'asked' },
          { note: 'x', responsible_person_id: nobodysId },
        ].map((json) => ({
          operation: 'updateMembership',
          path: `/memberships/${idOf('memberships', membershipKey(membership))}/update`,
          json,
          seen: [membership[1]],
          edited: [membership[1]],
          allowed: 400,
        })),
      ),
    ...memberships
      .filter(([, holon]) => all([holon]))
      .map((membership) => ({
        operation: 'deleteMembership',
        method: 'DELETE' as const,
        path: `/memberships/${idOf('memberships', membershipKey(membership))}`,
        headers: ofNoVersion,
        seen: [membership[1]],
        edited: [membership[1]],
        allowed: 412,
      })),
    ...relationships
      .filter((ends) => all(ends))
      .flatMap((ends) =>
        notes.map((json) => ({
          operation: 'updateRelationship',
          path: `/relationships/${idOf('relationships', relationshipKey(ends))}/update`,
          json,
          seen: ends,
          edited: ends,
          allowed: 400,
        })),
      ),
    ...relationships
      .filter((ends) => all(ends))
      .flatMap((ends): Write[] => {
        const [from, to] = ends;
        const ids = { from_holon_id: idOf('holons', from), to_holon_id: idOf('holons', to) };
        const target = { seen: ends, edited: ends };
        return [
          {
            operation: 'createRelationship',
            path: '/relationships',
            json: { ...ids, journey_slug: 'nowhere' },
            ...target,
            hidden: 400,
            allowed: 400,
          },
          {
            operation: 'deleteRelationship',
            method: 'DELETE',
            path: `/relationships/${idOf('relationships', relationshipKey(ends))}`,
            headers: ofNoVersion,
            ...target,
            allowed: 412,
          },
        ];
      }),
    ...(['/update', ''] as const).map((end): Write => ({
      ...(end === ''
        ? { operation: 'deleteNote', method: 'DELETE' }
        : { operation: 'updateNote', json: { body: 'x' } }),
      path: `/notes/${nobodysId}${end}`,
      seen: [],
      edited: [],
      allowed: 404,
    })),
  ];
}

function ofHolon(slug: Slug, id: number, personId: number): Write[] {
  const target = { seen: [slug], edited: [slug] };
  const isExperience = slug === 'stroll' || slug === 'whisper';
  const update = (json: unknown, more: Partial<Write>): Write => ({
    operation: 'updateHolon',
    path: `/holons/${id}/update`,
    json,
    ...target,
    allowed: 400,
    ...more,
  });
  const create = (json: object): Write => ({
    operation: 'createExperience',
    path: '/experiences',
    json: { parent_id: id, ...json },
    ...target,
    allowed: 400,
  });
  return [
    update({ name: ' ' }, {}),
    update({ info_fields: { unknown: 1 } }, {}),
    update({}, { allowed: 200 }),
    update({ journey_ids: [nobodysId] }, { globalEditor: true }),
    create({ name: ' ', description: 'x' }),
    create({ name: 'x', description: 'x', svc_class: 'nowhere' }),
    { operation: 'createHolonNote', path: `/holons/${id}/notes`, json: { body: ' ' }, ...target, allowed: 400 },
    {
      operation: 'createPersonNote',
      path: `/people/${personId}/notes`,
      json: { holon_id: id, body: ' ' },
      ...target,
      hidden: 400,
      allowed: 400,
    },
    {
      operation: 'createMembership',
      path: '/memberships',
      json: { person_id: nobodysId, holon_id: id, journey_slug: 'join' },
      ...target,
      hidden: 400,
      allowed: 400,
    },
    ...[{ journey_slug: 'join' }, { journey_slug: 'nowhere' }, {}].map((more) => ({
      operation: 'bulkAddMemberships',
      path: `/holons/${id}/memberships:bulk-add`,
      ...target,
      allowed: 200,
      json: { memberships: [{ person_id: nobodysId }], ...more },
    })),
    // A holon that is not an experience has no logo, for any caller (D51).
    {
      operation: 'uploadExperienceLogo',
      path: `/experiences/${id}/logo`,
      file: 'no picture',
      ...target,
      allowed: 400,
      ...(isExperience ? {} : { edited: [], allowed: 404 }),
    },
  ];
}

/**
 * Requests of set-up that only superusers may send: they are rejected or change nothing. Callers without the right get
 * 403 for objects that they can see, else 404 (W5, W17).
 */
export const setupRequests: readonly {
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly json?: unknown;
  readonly allowed: number;
}[] = [
  { operation: 'createClass', method: 'POST', path: '/classes', json: { slug: 'closed' }, allowed: 409 },
  { operation: 'updateClass', method: 'POST', path: '/classes/holon/closed/update', json: {}, allowed: 200 },
  { operation: 'deleteClass', method: 'DELETE', path: '/classes/holon/closed', allowed: 409 },
  { operation: 'createJourney', method: 'POST', path: '/journeys', json: { slug: 'join', name: 'x' }, allowed: 409 },
  { operation: 'updateJourney', method: 'POST', path: '/journeys/join/update', json: {}, allowed: 200 },
  {
    operation: 'createStep',
    method: 'POST',
    path: '/journeys/join/steps',
    json: { slug: 'asked', title: 'x' },
    allowed: 409,
  },
  { operation: 'updateStep', method: 'POST', path: '/journeys/join/steps/asked/update', json: {}, allowed: 200 },
  { operation: 'listQuestions', method: 'GET', path: '/journeys/join/questions', allowed: 200 },
  { operation: 'createQuestion', method: 'POST', path: '/journeys/join/questions', json: { text: ' ' }, allowed: 400 },
  { operation: 'listJourneyHistory', method: 'GET', path: '/journeys/join/history', allowed: 200 },
  { operation: 'listClassHistory', method: 'GET', path: '/classes/holon/closed/history', allowed: 200 },
];
/** The same for objects that do not exist: 404 for every caller. */
export const missingSetup = [
  { operation: 'deleteJourney', method: 'DELETE', path: `/journeys/${nobodysSlug}` },
  { operation: 'deleteStep', method: 'DELETE', path: `/journeys/join/steps/${nobodysSlug}` },
  { operation: 'updateQuestion', method: 'POST', path: `/journeys/${nobodysSlug}/questions/1/update`, json: {} },
] as const;

/** Returns invalid bodies for POST /people: one has a membership without a journey of the holon, one has no name. */
export const newPeople = (holonId: number): unknown[] => [
  { name: 'New', membership: { holon_id: holonId, journey_slug: 'join', step_slug: 'nowhere' } },
  { name: 'New', membership: { holon_id: holonId, journey_slug: 'nowhere' }, note: 'x' },
  { name: ' ' },
];
