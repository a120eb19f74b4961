/** Steps of journeys and their configuration (rules/steps#step-configuration; D16b). */
import { byOperators, byUsers, nullable, withoutActor, rpc, Type, type Static, type ErrorReasons } from '#libs/contract';
import { instant, jsonDocument, jsonObject, rowId } from '../fields.ts';

export const StepItem = Type.Object(
  {
    id: Type.Integer(),
    slug: Type.String(),
    order: Type.Integer({ description: 'Place in the pipeline.' }),
    title: Type.String(),
    goal: Type.String(),
    success_criteria: Type.String(),
    starter_message: Type.String(),
    is_archived: Type.Boolean(),
    pipeline_job: nullable(Type.String({ description: 'Name of the registered pipeline job of the step.' })),
    updated_at: instant('Moves when the configuration changes, and with nothing else.'),
  },
  { $id: 'StepItem', description: 'A step of a journey, without its configuration.' },
);

export const StepConfig = Type.Object(
  {
    config: jsonDocument("What the field policy shows, with the model's defaults; of a step without a registered job everything."),
    updated_at: instant('Moves when the configuration changes, and with nothing else.'),
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
          description: 'Refuse the write with 409 unless this is the present `updated_at`. Null counts as absent.',
        }),
      ),
    ),
  },
  { $id: 'StepConfigWrite' },
);
export type StepConfigWrite = Static<typeof StepConfigWrite>;

const stepConfigErrors: ErrorReasons = {
  stale_config: { code: 'conflict', when: '`expected_updated_at` is not the present `updated_at`; carries `updated_at`.' },
  config_keys_not_writable: { code: 'bad_request', when: 'A key may not be written; `fields` maps its dotted path to the reason.' },
  invalid_step_config: {
    code: 'bad_request',
    when: "The merged configuration does not fit the job's model; `fields` maps dotted paths to messages.",
  },
};

const configAuditEntry = Type.Object({
  id: rowId,
  changed_at: instant('When it was changed.'),
  source: Type.String({ description: '`api` or `workspace`.' }),
  account: nullable(Type.Object({ id: rowId, email: Type.String() }, { description: 'Null for the workspace file.' })),
  paths: Type.Array(Type.String(), { description: 'Dotted paths touched.' }),
});

const stepPlace = {
  journey_slug: Type.String({ description: 'Slug of the journey.' }),
  step_slug: Type.String({ description: 'Slug of the step.' }),
};

/** To be spread into the contract of the directory. */
export const stepRpcs = {
  getStepConfig: rpc({
    subject: 'directory.steps.get-config',
    callers: { agents: withoutActor, media: withoutActor, transcripts: withoutActor },
    summary: "Validated configuration of a step with the job model's defaults, for the job's worker (rules/steps#pipeline-jobs).",
    request: Type.Object({ step_id: rowId }),
    reply: Type.Object({ pipeline_job: nullable(Type.String()), config: jsonObject }),
    errors: {
      invalid_step_config: { code: 'bad_request', when: "The stored configuration does not fit the job's model; see `fields`." },
    },
  }),
  findSteps: rpc({
    subject: 'directory.steps.find',
    callers: { conversations: withoutActor },
    summary: 'Ids of the steps with a slug, of every journey.',
    request: Type.Object({ slug: stepPlace.step_slug }),
    reply: Type.Object({ ids: Type.Array(rowId, { description: 'Ascending.' }) }),
  }),
  listSteps: rpc({
    subject: 'directory.steps.list',
    callers: byUsers,
    summary: 'Steps of a journey in pipeline order, archived ones included (rules/steps#step-configuration).',
    request: Type.Object({ journey_slug: stepPlace.journey_slug }),
    reply: Type.Array(StepItem),
  }),
  readStepConfig: rpc({
    subject: 'directory.steps.read-config',
    callers: byUsers,
    summary: 'Configuration of a step as its field policy shows it (rules/steps#step-configuration).',
    request: Type.Object(stepPlace),
    reply: StepConfig,
  }),
  patchStepConfig: rpc({
    subject: 'directory.steps.patch-config',
    callers: byUsers,
    audit: 'step-config.update',
    summary: 'Merges into the configuration of a step (rules/steps#step-configuration; D16b).',
    request: Type.Object({ ...stepPlace, write: StepConfigWrite }),
    reply: StepConfig,
    errors: stepConfigErrors,
  }),
  listConfigAudit: rpc({
    subject: 'admin.directory.steps.list-config-audit',
    callers: byOperators,
    summary: "A step's audit history, newest first; for the admin CLI.",
    request: Type.Object({ ...stepPlace, limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })) }),
    reply: Type.Object({ items: Type.Array(configAuditEntry) }),
  }),
} as const;
