/** Operations on journeys and their steps (rules/journeys#journeys, rules/steps#step-configuration). */
import {
  byUsers,
  type ErrorReasons,
  notAnOperator,
  nullable,
  rpc,
  type Static,
  Type,
  withoutActor,
} from '#libs/infrastructure/contract';
import {
  extend,
  idList,
  instant,
  jsonDocument,
  jsonObject,
  limitParameter,
  offsetParameter,
  page,
  rowId,
  searchText,
} from '../api-objects/contract.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const ConfigFlag = Type.Object(
  {
    key: Type.String(),
    value: Type.Unknown({ description: 'The effective value: stored or default.' }),
    is_set: Type.Boolean({ description: 'False if the default applies.' }),
  },
  { $id: 'ConfigFlag', description: 'A setting of a journey or step.' },
);

export const JourneyListItem = Type.Object(
  {
    id: rowId,
    slug: Type.String(),
    name: Type.String(),
    description: Type.String({ description: 'May be empty.' }),
    svc_app_slug: Type.String({ description: 'Slug of the owning application; may be empty.' }),
    applies_to_slug: nullable(Type.String({ description: 'Class to whose objects the journey applies.' })),
    applies_to_label: nullable(Type.String({ description: 'Label of that class.' })),
    object_kind: Type.String({ description: 'For example `holon`.' }),
    is_conversation: Type.Boolean(),
    public_visible: Type.Boolean(),
    config_flags: Type.Array(ConfigFlag, { description: '`bulk_add`: whether people can be added in bulk.' }),
    step_count: count('Steps that are not archived.'),
    usage: Type.Object(
      {
        holon_direct_count: count('Holons to which the journey is attached directly.'),
        membership_count: count('Memberships on the journey.'),
        relationship_count: count('Relationships on the journey.'),
      },
      { $id: 'JourneyUsage', description: 'Totals, including private holons.' },
    ),
  },
  { $id: 'JourneyListItem', description: 'A journey, in lists.' },
);

export const JourneyStepItem = Type.Object(
  {
    slug: Type.String(),
    order: Type.Integer({ description: 'Position in the journey.' }),
    title: Type.String(),
    goal: Type.String(),
    success_criteria: Type.String(),
    starter_message: Type.String(),
    is_archived: Type.Boolean({ description: 'Archived steps cannot be the target of a move.' }),
    config_flags: Type.Array(ConfigFlag, {
      description: '`pipeline_job`: the job that starts when the step is entered, or null.',
    }),
    usage: Type.Object(
      { membership_count: count('Memberships at the step.'), relationship_count: count('Relationships at the step.') },
      { $id: 'StepUsage', description: 'Totals, including private holons.' },
    ),
  },
  { $id: 'JourneyStepItem', description: 'A step of a journey.' },
);

export const Journey = extend(
  JourneyListItem,
  {
    texts: jsonDocument('Page texts, e.g. `welcome`, `enter`, `post`, `goodbyeURL`.'),
    steps: Type.Array(JourneyStepItem, { description: 'In order, including archived ones.' }),
  },
  { $id: 'Journey', description: 'A journey with its steps.' },
);

/** Default page size (rules/http#limits). */
export const journeysPerPage = 50;

export const journeyListQuery = Type.Object({
  svc_app: Type.Optional(Type.String({ description: 'Slug of the owning application.' })),
  object_kind: Type.Optional(Type.String({ description: 'For example `holon`.' })),
  applies_to: Type.Optional(Type.String({ description: 'Slug of the class to whose objects the journey applies.' })),
  is_conversation: Type.Optional(Type.Boolean()),
  q: Type.Optional(searchText('Part of the name or slug, ignoring case and accents.')),
  limit: limitParameter({ usual: journeysPerPage, most: 200 }),
  offset: offsetParameter,
});

const question = Type.Object({ id: rowId, text: Type.String(), order: Type.Integer({ minimum: 0 }) });

const archivedQuestion = Type.Object({ id: rowId, text: Type.String() });

const step = Type.Object({
  id: rowId,
  slug: Type.String(),
  title: Type.String(),
  order: Type.Integer(),
  is_archived: Type.Boolean(),
  pipeline_job: nullable(Type.String()),
});

const journey = Type.Object({
  id: rowId,
  slug: Type.String(),
  name: Type.String(),
  description: Type.String(),
  texts: jsonObject,
  is_conversation: Type.Boolean(),
  questions: Type.Array(question, { description: 'By `order`, from 0 (D4).' }),
  archived_questions: Type.Array(archivedQuestion, {
    description: 'Archived questions, which recorded changes can have (W5).',
  }),
  steps: Type.Array(step, { description: 'By (order, id), including archived ones.' }),
  owner_event_ids: Type.Array(rowId, {
    description: 'Conversation-event holons with the journey attached directly, ascending (D18d).',
  }),
});

export const journeyRpcs = {
  getJourneys: rpc({
    subject: 'directory.journeys.get-many',
    callers: { conversations: withoutActor, cli: withoutActor },
    summary: 'Returns journeys with questions, steps and owning events by id or slug; unknown ones are skipped.',
    request: Type.Object({
      ids: Type.Optional(idList),
      slugs: Type.Optional(Type.Array(Type.String(), { maxItems: 1_000 })),
    }),
    reply: Type.Object({ items: Type.Array(journey) }),
  }),
  listJourneys: rpc({
    subject: 'directory.journeys.list',
    callers: byUsers,
    summary: 'Lists journeys with usage counts (rules/journeys#journeys).',
    request: journeyListQuery,
    reply: page(JourneyListItem),
  }),
  getJourney: rpc({
    subject: 'directory.journeys.get',
    callers: byUsers,
    summary: 'Returns a journey with its steps (rules/journeys#journeys).',
    request: Type.Object({ slug: Type.String({ description: 'Slug of the journey.' }) }),
    reply: Journey,
  }),
} as const;

export const StepItem = Type.Object(
  {
    id: Type.Integer(),
    slug: Type.String(),
    order: Type.Integer({ description: 'Position in the pipeline.' }),
    title: Type.String(),
    goal: Type.String(),
    success_criteria: Type.String(),
    starter_message: Type.String(),
    is_archived: Type.Boolean(),
    pipeline_job: nullable(Type.String({ description: 'Name of the registered pipeline job of the step.' })),
    updated_at: instant('Changes only with the configuration.'),
  },
  { $id: 'StepItem', description: 'A step of a journey, without its configuration.' },
);

export const StepConfig = Type.Object(
  {
    config: jsonDocument(
      "Fields visible by the field policy, with the model's defaults; without a registered job all fields.",
    ),
    updated_at: instant('Changes only with the configuration.'),
  },
  { $id: 'StepConfig', description: "The configuration of a journey step's pipeline job." },
);

export const StepConfigWrite = Type.Object(
  {
    config: jsonDocument('Merged recursively: objects key by key, scalars and lists replace, null deletes the key.'),
    expected_updated_at: Type.Optional(
      nullable(
        Type.String({
          format: 'date-time-offset',
          description: 'The write is rejected with 409 unless this is the current `updated_at`. Null counts as absent.',
        }),
      ),
    ),
  },
  { $id: 'StepConfigWrite' },
);
export type StepConfigWrite = Static<typeof StepConfigWrite>;

const stepConfigErrors: ErrorReasons = {
  stale_config: {
    code: 'conflict',
    when: '`expected_updated_at` is not the current `updated_at`, which `updated_at` contains.',
  },
  config_keys_not_writable: {
    code: 'bad_request',
    when: 'A key is not writable; `fields` maps its dotted path to the reason.',
  },
  invalid_step_config: {
    code: 'bad_request',
    when: "The merged configuration does not fit the job's model; `fields` maps dotted paths to messages.",
  },
};

/** Default number of changes in the reply of `listConfigAudit`. */
export const usualConfigAudit = 100;

const configAuditEntry = Type.Object(
  {
    id: rowId,
    changed_at: instant('Time of the change.'),
    source: Type.String({ description: '`api` or `workspace`.' }),
    account: nullable(
      Type.Object({ id: rowId, email: Type.String() }, { description: 'Null for the workspace file.' }),
    ),
    paths: Type.Array(Type.String(), { description: 'Changed dotted paths.' }),
  },
  { $id: 'StepConfigChange' },
);

const stepRef = {
  journey_slug: Type.String({ description: 'Slug of the journey.' }),
  step_slug: Type.String({ description: 'Slug of the step.' }),
};

export const stepRpcs = {
  getStepConfig: rpc({
    subject: 'directory.steps.get-config',
    callers: { agents: withoutActor, media: withoutActor, transcripts: withoutActor },
    summary:
      'Returns the validated configuration of a step with defaults, for the worker of its job (rules/steps#pipeline-jobs).',
    request: Type.Object({ step_id: rowId }),
    reply: Type.Object({ pipeline_job: nullable(Type.String()), config: jsonObject }),
    errors: {
      invalid_step_config: {
        code: 'bad_request',
        when: "The stored configuration does not fit the job's model; see `fields`.",
      },
    },
  }),
  findSteps: rpc({
    subject: 'directory.steps.find',
    callers: { conversations: withoutActor },
    summary: 'Finds steps of all journeys by slug.',
    request: Type.Object({ slug: stepRef.step_slug }),
    reply: Type.Object({ ids: Type.Array(rowId, { description: 'Ascending.' }) }),
  }),
  listSteps: rpc({
    subject: 'directory.steps.list',
    callers: byUsers,
    summary:
      'Lists the steps of a journey in pipeline order, including archived ones (rules/steps#step-configuration).',
    request: Type.Object({ journey_slug: stepRef.journey_slug }),
    reply: Type.Array(StepItem),
  }),
  readStepConfig: rpc({
    subject: 'directory.steps.read-config',
    callers: byUsers,
    summary: 'Returns the configuration of a step as visible by its field policy (rules/steps#step-configuration).',
    request: Type.Object(stepRef),
    reply: StepConfig,
  }),
  patchStepConfig: rpc({
    subject: 'directory.steps.patch-config',
    callers: byUsers,
    audit: 'step-config.update',
    summary: 'Updates the configuration of a step by merge patch (rules/steps#step-configuration; D16b).',
    request: Type.Object({ ...stepRef, write: StepConfigWrite }),
    reply: StepConfig,
    errors: stepConfigErrors,
  }),
  listConfigAudit: rpc({
    subject: 'directory.steps.list-config-audit',
    callers: byUsers,
    summary: 'Lists changes of the configuration of a step, newest first, for operators (D16b).',
    request: Type.Object({ ...stepRef, limit: limitParameter({ usual: usualConfigAudit, most: 1_000 }) }),
    reply: Type.Object({ items: Type.Array(configAuditEntry) }),
    errors: notAnOperator,
  }),
} as const;
