/**
 * Every field of every object stands in the history with the origin of its change: the API, the CLI or the workspace
 * file (rules/history; W10).
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { routes } from '../../services/api-gateway/routes/index.ts';
import { startTestPlatform, type TestPlatform } from './test-platform.ts';

/** One of the two states between which every field changes. */
type State = 0 | 1;
type Values = Readonly<Record<string, (state: State) => unknown>>;

const text = (name: string) => (state: State) => `${name} ${state}`;
const either =
  <Value>(first: Value, second: Value) =>
  (state: State) =>
    state === 0 ? first : second;
const flag = either(true, false);

let platform: TestPlatform;
let token: string;
let ids: Record<string, Record<string, number>>;
const idOf = (list: string, key: string): number => ids[list]?.[key] ?? 0;

const classFields: Values = {
  parent: either(null, 'circle'),
  label: text('Label'),
  plural_label: text('Labels'),
  description: text('About'),
  sort_order: either(1, 2),
  is_system: flag,
  is_active: flag,
  icon_url: either('/icons/a.svg', '/icons/b.svg'),
  conversation_event: flag,
  private: flag,
  name_read_only: flag,
  allowed_children: either([], ['circle']),
  journeys: either([], ['joining']),
  config: (state) => ({ info_field_groups: [], hint: text('Hint')(state) }),
};
const journeyFields: Values = {
  name: text('Name'),
  description: text('About'),
  svc_app: either('coherence', 'network'),
  object_kind: either('holon', 'project'),
  applies_to: either(null, 'circle'),
  is_conversation: flag,
  public_visible: flag,
  bulk_add: flag,
  texts: (state) => ({ welcome: text('Welcome')(state) }),
};
const stepFields: Values = {
  title: text('Title'),
  goal: text('Goal'),
  success_criteria: text('Criteria'),
  starter_message: text('Hello'),
  is_archived: flag,
  pipeline_job: either(null, 'transcript_import'),
};
const personFields: Values = {
  name: text('Ada'),
  description: text('About'),
  photo_url: either('https://example.org/a.png', 'https://example.org/b.png'),
  contact: (state) => ({ email: `ada-${state}@example.org` }),
};
const agentFields: Values = {
  name: text('Helper'),
  prompt: text('Prompt'),
  infos: (state) => ({ greeting: text('Hello')(state) }),
  config: either({ messaging: { echo_channel: '@a' } }, { messaging: { echo_channel: '@b' } }),
};
const accountFields: Values = {
  active: flag,
  superuser: flag,
  global_editor: flag,
  groups: either(['coherence_users'], ['ops_viewers']),
};

const valuesOf = (fields: Values, state: State): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).map(([name, valueOf]) => [name, valueOf(state)]));

/** Returns a workspace file in which every field has the value of the state. */
function fileOf(state: State): Record<string, object[]> {
  const workflow = {
    journey: either('joining', 'other')(state),
    step: either('asked', 'one')(state),
    follow_up_after: either('2031-01-01', '2031-02-02')(state),
    responsible: either('ada', 'ben')(state),
  };
  const steps = (...slugs: string[]) => slugs.map((slug) => ({ slug, title: slug }));
  return {
    spheres: [
      { key: 'music', name: 'Music' },
      { key: 'craft', name: 'Craft' },
    ],
    classes: [
      { slug: 'village', allowed_children: ['group'] },
      {
        slug: 'group',
        journeys: ['joining', 'other'],
        config: { info_field_groups: [{ key: 'about', fields: [{ key: 'theme', type: 'text' }] }] },
      },
      { slug: 'circle' },
      { slug: 'subject', ...valuesOf(classFields, state) },
    ],
    journeys: [
      { slug: 'joining', name: 'Joining', steps: steps('asked', 'welcomed', 'done') },
      { slug: 'other', name: 'Other', steps: steps('one', 'two', 'three', 'four', 'five') },
      {
        slug: 'subject',
        ...valuesOf(journeyFields, state),
        questions: [{ text: text('Why')(state), is_archived: flag(state) }],
        steps: [{ slug: 'first', ...valuesOf(stepFields, state) }, ...steps('last')],
      },
    ],
    people: [
      { key: 'ada', ...valuesOf(personFields, state), actor_kind: either('human', 'agent')(state), infos: { state } },
      { key: 'ben', name: 'Ben' },
      { key: 'root', name: 'Root' },
      { key: 'cleo', name: 'Cleo' },
    ],
    holons: [
      { slug: 'north', name: 'North', class: 'village' },
      { slug: 'south', name: 'South', class: 'village' },
      {
        slug: 'choir',
        name: text('Choir')(state),
        class: 'group',
        parent: either('north', 'south')(state),
        description: text('About')(state),
        links: { site: `https://example.org/${state}` },
        locations: either(['DE'], ['FR'])(state),
        spheres: either(['music'], ['craft'])(state),
        infos: { theme: text('Theme')(state) },
        journeys: either(['joining'], ['other'])(state),
      },
    ],
    accounts: [
      { email: 'root@example.org', person: 'root', password: 'the password of root', superuser: true },
      { email: 'cleo@example.org', person: 'cleo', password: 'the password of cleo' },
      {
        email: 'subject@example.org',
        person: either('ada', 'ben')(state),
        ...valuesOf(accountFields, state),
        teams: [{ holon: 'north', active: flag(state) }],
      },
    ],
    memberships: [{ key: 'member', person: 'ben', holon: 'choir', ...workflow }],
    relationships: [{ key: 'near', from: 'choir', to: 'north', ...workflow }],
    agents: [{ slug: 'helper', ...valuesOf(agentFields, state) }],
  };
}

beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url);
  ({ ids } = await platform.apply(fileOf(0)));
  await platform.apply(fileOf(1));
  token = await platform.login('root@example.org', 'the password of root');
});
afterAll(() => platform.stop());

async function newestEntry(path: string): Promise<{ via: string; changes: Record<string, unknown> }> {
  const { json } = await platform.call('GET', `/api/v1/${path}/history?limit=1`, { token });
  return json.items[0];
}

const paths = {
  people: () => `people/${idOf('people', 'ada')}`,
  holons: () => `holons/${idOf('holons', 'choir')}`,
  memberships: () => `memberships/${idOf('memberships', 'member')}`,
  relationships: () => `relationships/${idOf('relationships', 'near')}`,
  journeys: () => 'journeys/subject',
  classes: () => 'classes/holon/subject',
  agents: () => 'agents/helper',
  accounts: () => `accounts/${idOf('accounts', 'subject@example.org')}`,
};
type Kind = keyof typeof paths;

const workflowChanges = ['journey_slug', 'step_slug', 'follow_up_after', 'responsible_person_id'];
const changedByFile: Readonly<Record<Kind, readonly string[]>> = {
  people: [...Object.keys(personFields), 'actor_kind', 'infos'],
  holons: ['name', 'parent_id', 'description', 'links', 'locations', 'spheres', 'info_fields', 'journey_ids'],
  memberships: workflowChanges,
  relationships: workflowChanges,
  journeys: [
    ...Object.keys(journeyFields),
    'questions',
    ...Object.keys(stepFields).map((name) => `steps.first.${name}`),
  ],
  classes: Object.keys(classFields),
  agents: Object.keys(agentFields),
  accounts: ['person_id', ...Object.keys(accountFields), 'teams'],
};

interface Update {
  readonly kind: Kind;
  readonly operation: string;
  /** Path after that of the object. */
  readonly path?: () => string;
  readonly fields: Values;
  /** Names in the history that differ from the field. */
  readonly recordedAs?: (field: string) => string;
  /** Required fields that are not of the object. */
  readonly others?: Readonly<Record<string, unknown>>;
  /** Fields that a field requires. */
  readonly requires?: Readonly<Record<string, Values>>;
}

let question = 0;
const updates: readonly Update[] = [
  { kind: 'people', operation: 'updatePerson', fields: personFields },
  {
    kind: 'holons',
    operation: 'updateHolon',
    fields: {
      name: text('Choir'),
      description: text('About'),
      links: (state) => ({ site: `https://example.org/${state}` }),
      locations: either(['DE'], ['FR']),
      spheres: (state) => [idOf('spheres', either('music', 'craft')(state))],
      info_fields: (state) => ({ theme: text('Theme')(state) }),
      journey_ids: (state) => [idOf('journeys', either('joining', 'other')(state))],
      slug: either('choir-0', 'choir-1'),
      parent_id: (state) => idOf('holons', either('north', 'south')(state)),
    },
  },
  {
    kind: 'memberships',
    operation: 'updateMembership',
    fields: {
      journey_slug: either('joining', 'other'),
      step_slug: either('two', 'three'),
      advance_step: () => true,
      follow_up_after: either('2031-01-01', '2031-02-02'),
      responsible_person_id: (state) => idOf('people', either('root', 'cleo')(state)),
    },
    recordedAs: (field) => (field === 'advance_step' ? 'step_slug' : field),
    others: { note: 'Noted' },
    requires: { journey_slug: { step_slug: either('asked', 'one') } },
  },
  {
    kind: 'relationships',
    operation: 'updateRelationship',
    fields: {
      step_slug: either('two', 'three'),
      advance_step: () => true,
      follow_up_after: either('2031-01-01', '2031-02-02'),
    },
    recordedAs: (field) => (field === 'advance_step' ? 'step_slug' : field),
    others: { note: 'Noted' },
  },
  { kind: 'classes', operation: 'updateClass', fields: classFields },
  { kind: 'journeys', operation: 'updateJourney', fields: journeyFields },
  {
    kind: 'journeys',
    operation: 'updateStep',
    path: () => '/steps/first',
    fields: { ...stepFields, position: either(1, 0) },
    recordedAs: (field) => `steps.first.${field}`,
  },
  {
    kind: 'journeys',
    operation: 'updateQuestion',
    path: () => `/questions/${question}`,
    fields: { text: text('Who'), position: either(0, 1), is_archived: flag },
    recordedAs: () => 'questions',
  },
  { kind: 'agents', operation: 'updateAgent', fields: agentFields },
  {
    kind: 'accounts',
    operation: 'updateAccount',
    fields: {
      ...accountFields,
      person_id: (state) => idOf('people', either('ada', 'ben')(state)),
      teams: (state) => [{ holon_id: idOf('holons', 'north'), active: flag(state) }],
    },
  },
];

describe('the history of changes by the workspace file (W10)', () => {
  it.each(Object.keys(paths) as Kind[])('has every field of %s', async (kind) => {
    const { via, changes } = await newestEntry(paths[kind]());
    expect([via, Object.keys(changes).toSorted()]).toEqual(['file', changedByFile[kind].toSorted()]);
  });
});

describe('the history of changes over HTTP (W10)', () => {
  beforeAll(async () => {
    const { json } = await platform.call('POST', '/api/v1/journeys/subject/questions', {
      token,
      json: { text: 'Who?' },
    });
    question = json.question.id;
  });

  it.each(updates)('covers every field of $operation', ({ operation, fields, others = {} }) => {
    const { body } = routes.find(({ operationId }) => operationId === operation) as { body: { schema: object } };
    const { properties } = body.schema as unknown as { properties: object };
    expect([...Object.keys(fields), ...Object.keys(others)].toSorted()).toEqual(Object.keys(properties).toSorted());
  });

  it.each(
    updates.flatMap((update) =>
      Object.keys(update.fields).flatMap((field) =>
        (['api', 'cli'] as const).map((via) => ({ ...update, field, via })),
      ),
    ),
  )('has $field of $operation via $via', async ({ kind, path, fields, recordedAs, others, requires, field, via }) => {
    const state = via === 'api' ? 0 : 1;
    const answer = await platform.call('POST', `/api/v1/${paths[kind]()}${path?.() ?? ''}/update`, {
      token,
      json: { ...others, ...valuesOf(requires?.[field] ?? {}, state), [field]: fields[field]?.(state) },
      headers: via === 'cli' ? { 'user-agent': 'coherence-cli/0.0.0' } : {},
    });
    expect([answer.status, answer.json]).toEqual([200, expect.any(Object)]);
    const entry = await newestEntry(paths[kind]());
    expect([entry.via, Object.keys(entry.changes)]).toEqual([
      via,
      expect.arrayContaining([recordedAs?.(field) ?? field]),
    ]);
  });
});
