/**
 * What the directory answers on the conversation surface (rules/discovery#conversation-events): conversation events, journey steps and their configuration, browse and
 * look-ups, and what the conversations service asks about holons that not everybody may see (D18f, D48). The caller is the actor of
 * the call's context: hand it on as it is.
 */
import { anyActor, byClients, byOperators, byUsers, ownAccount, rpc, Type } from '#libs/contract';
import type { ErrorReasons, Static, TSchema } from '#libs/contract';

const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const jsonDocument = (description: string) => Type.Object({}, { additionalProperties: true, description });
const rowId = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });
const instant = (description: string) => Type.String({ format: 'date-time', description });
const pathText = (description: string) => Type.String({ description });

/** Ids of one look-up request; more are refused (rules/http#limits). */
export const maxLookupIds = 50;
/** `ids` of a look-up: ids that nobody has are skipped (D18). */
export const LookupIds = Type.Array(Type.Integer(), { maxItems: maxLookupIds, description: 'Comma-separated ids, at most 50.' });

export const HolonRef = Type.Object(
  { id: Type.Integer(), slug: Type.String(), name: Type.String(), type: Type.String({ description: 'Class slug of the holon.' }) },
  { $id: 'HolonRef', description: 'A holon in short.' },
);

export const PublicPerson = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    photo: nullable(Type.String({ description: 'Address of the photo.' })),
    contact: jsonDocument('Contact values by channel, possibly empty.'),
  },
  { $id: 'PublicPerson', description: 'A person.' },
);

export const PublicHolon = Type.Object(
  {
    id: Type.Integer(),
    slug: Type.String(),
    name: Type.String(),
    type: Type.String({ description: 'Class slug of the holon.' }),
    description: Type.String({ description: 'May be empty.' }),
    logo: nullable(Type.String({ description: 'Address of the logo.' })),
    links: jsonDocument('Link values by channel, possibly empty.'),
    infos: jsonDocument("The custom fields that the holon's class declares, `locations` and `spheres`."),
  },
  { $id: 'PublicHolon', description: 'A holon as anybody with a token may see it.' },
);

export const ConversationEvent = Type.Object(
  {
    id: Type.Integer(),
    slug: Type.String(),
    name: Type.String(),
    type: Type.String({ description: 'Class slug of the event.' }),
    parent_id: nullable(Type.Integer({ description: 'Null at the top of the tree, and when the caller may not see the parent.' })),
    parent_slug: nullable(Type.String({ description: 'As `parent_id`.' })),
  },
  { $id: 'ConversationEvent', description: 'A holon whose class is a conversation event.' },
);

export const EventJourney = Type.Object(
  {
    id: Type.Integer(),
    slug: Type.String(),
    name: Type.String(),
    description: Type.String({ description: 'May be empty.' }),
    step_count: Type.Integer({ minimum: 0, description: 'Steps that are not archived.' }),
  },
  { $id: 'EventJourney', description: 'A conversation journey that the event owns.' },
);

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

const AttachedJourney = Type.Object(
  {
    id: Type.Integer(),
    slug: Type.String(),
    name: Type.String(),
    description: Type.String({ description: 'May be empty.' }),
    source: Type.Literal('direct'),
  },
  { $id: 'AttachedJourney', description: 'A conversation journey of an event.' },
);

const AttachedJourneys = Type.Object(
  {
    scope: Type.Literal('direct', { description: 'Only journeys attached to the event itself.' }),
    items: Type.Array(AttachedJourney, { description: 'Conversation journeys in the order in which they are attached.' }),
  },
  { $id: 'AttachedJourneys', description: 'Conversation journeys of an event.' },
);

const ChildEvent = Type.Object(
  {
    id: Type.Integer(),
    slug: Type.String(),
    name: Type.String(),
    type: Type.String({ description: 'Class slug of the event.' }),
    journeys: AttachedJourneys,
  },
  { $id: 'ChildEvent', description: 'A conversation event below a holon.' },
);

export const BrowsedHolon = Type.Object(
  {
    holon: HolonRef,
    events: Type.Array(ChildEvent, { description: 'Immediate children that are conversation events, by name and id.' }),
  },
  { $id: 'BrowsedHolon', description: 'A holon with its immediate conversation events.' },
);

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
  journey_slug: pathText('Slug of the journey.'),
  step_slug: pathText('Slug of the step.'),
};

/** To be spread into the contract of the directory. */
export const conversationSurfaceRpcs = {
  holonSubtree: rpc({
    subject: 'directory.holons.subtree',
    callers: { conversations: anyActor },
    summary: 'A holon and its descendants as far as the caller may see them (D18f); for filters by ownership and participation.',
    request: Type.Object({ slug: Type.String() }),
    reply: Type.Object({
      found: Type.Boolean({ description: 'False when no holon has the slug or the caller may not see it: answer 404 in both cases.' }),
      holon_id: nullable(rowId),
      ids: Type.Array(rowId, {
        description: 'Visible ones, the holon itself included, ascending. Not only events: class and owner may change.',
      }),
    }),
  }),
  visibleHolons: rpc({
    subject: 'directory.holons.visible',
    callers: { conversations: ownAccount },
    summary:
      'Which of these holons exist and may be seen by an account, or by the shared token (D18f, D48). Asked all along a streamed answer, which may take longer than what vouches for its reader lives.',
    request: Type.Object({
      account_id: nullable(Type.Integer({ description: 'Whose eyes; null = the shared token.' })),
      ids: Type.Optional(Type.Array(Type.Integer(), { maxItems: 20_000 })),
      slugs: Type.Optional(Type.Array(Type.String(), { maxItems: 1_000 })),
    }),
    reply: Type.Object({ items: Type.Array(Type.Object({ id: rowId, slug: Type.String() }), { description: 'By id, once each.' }) }),
  }),
  coveredHolons: rpc({
    subject: 'directory.holons.covered',
    callers: { conversations: ownAccount },
    summary:
      "Holons that an account's active team authority covers (D49), of those named or of all. What a global editor has besides is not among them.",
    request: Type.Object({ account_id: rowId, ids: Type.Optional(Type.Array(rowId, { maxItems: 20_000 })) }),
    reply: Type.Object({ ids: Type.Array(rowId, { description: 'Ascending.' }) }),
  }),
  listConversationEvents: rpc({
    subject: 'directory.events.list',
    callers: byUsers,
    summary: 'Conversation events, of one holon and its descendants or all (rules/discovery#conversation-events; D10).',
    request: Type.Object({ holon_slug: Type.Optional(Type.String()) }),
    reply: Type.Array(ConversationEvent),
  }),
  listEventJourneys: rpc({
    subject: 'directory.events.list-journeys',
    callers: byUsers,
    summary: 'Conversation journeys attached to an event (rules/discovery#conversation-events; D11).',
    request: Type.Object({ event_slug: Type.String() }),
    reply: Type.Array(EventJourney),
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
    summary: 'Merges into the configuration of a step (rules/steps#step-configuration; D16b).',
    request: Type.Object({ ...stepPlace, write: StepConfigWrite }),
    reply: StepConfig,
    errors: stepConfigErrors,
    idempotent: false,
  }),
  listConfigAudit: rpc({
    subject: 'admin.directory.steps.list-config-audit',
    callers: byOperators,
    summary: "A step's audit history, newest first; for the admin CLI.",
    request: Type.Object({ ...stepPlace, limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })) }),
    reply: Type.Object({ items: Type.Array(configAuditEntry) }),
  }),
  browseHolon: rpc({
    subject: 'directory.browse.holon',
    callers: { ...byClients, conversations: anyActor },
    summary: 'A holon with its immediate conversation events and their journeys (rules/discovery#browse).',
    request: Type.Object({ holon_slug: Type.String() }),
    reply: BrowsedHolon,
  }),
  lookUpPeople: rpc({
    subject: 'directory.people.look-up',
    callers: byClients,
    summary: 'People by id; unknown ones are absent (rules/discovery#browse; D18).',
    request: Type.Object({ ids: LookupIds }),
    reply: Type.Array(PublicPerson),
  }),
  lookUpHolons: rpc({
    subject: 'directory.holons.look-up',
    callers: byClients,
    summary: 'Holons by id; unknown and invisible ones are absent (rules/discovery#browse; D18, D18e, D18f).',
    request: Type.Object({ ids: LookupIds }),
    reply: Type.Array(PublicHolon),
  }),
} as const;
