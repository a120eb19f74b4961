/** Contract: filters and permissions for the search in transcripts (rules/transcripts#search; T2, T6). */
import { nullable, rpc, Type, withoutActor } from '#libs/contract';
import { Instant } from '../schemas.ts';

const ids = Type.Array(Type.Integer(), { minItems: 1, maxItems: 1_000 });
const found = Type.Array(Type.Integer());

/** Permissions of an account without a request of its own, as the directory reports them. */
export const readerFacts = Type.Object({
  account_id: Type.Integer(),
  person_id: nullable(Type.Integer()),
  superuser: Type.Boolean(),
  global_editor: Type.Boolean(),
  coherence_access: Type.Boolean(),
});

const readable = {
  scope: Type.Union([Type.Object({ person_id: nullable(Type.Integer()), event_ids: found }), Type.Null()], {
    description: 'What the caller may read (D69): where the person takes part, and of these events; null = every conversation.',
  }),
  hidden_event_ids: Type.Array(Type.Integer(), { description: 'Events with conversations that the caller does not see (D18f).' }),
};

const filters = {
  request: Type.Object({
    person_id: Type.Optional(Type.Integer()),
    holon_slug: Type.Optional(Type.String()),
    journey: Type.Optional(Type.String()),
  }),
  reply: Type.Object({ event_ids: nullable(found), journey_id: nullable(Type.Integer()), ...readable }),
};
const citation = {
  request: Type.Object({ ids }),
  reply: Type.Object({
    items: Type.Array(Type.Object({ id: Type.Integer(), title: Type.String(), start: nullable(Instant('Start.')) })),
  }),
};

export const transcriptSearchScopeRpcs = {
  resolveSpokenFilters: rpc({
    subject: 'conversations.spoken.resolve-filters',
    callers: { events: ['user'], transcripts: ['user'] },
    summary: 'Filters of a search in transcripts by id, and what the caller may read. 404 when the target of a filter is not there.',
    ...filters,
  }),
  resolveOperatorFilters: rpc({
    subject: 'conversations.spoken.resolve-operator-filters',
    callers: { transcripts: withoutActor },
    summary: 'The same for the admin CLI, which may read every conversation.',
    ...filters,
  }),
  citeConversations: rpc({
    subject: 'conversations.spoken.cite',
    callers: { events: ['user'], transcripts: ['user'] },
    summary: 'Title and start of those of these conversations that the caller may read now (D18f, D69).',
    ...citation,
  }),
  citeForOperators: rpc({
    subject: 'conversations.spoken.cite-for-operators',
    callers: { transcripts: withoutActor },
    summary: 'Title and start of these conversations, for the admin CLI. Those that are absent are left out.',
    ...citation,
  }),
  resolveReaderFilters: rpc({
    subject: 'conversations.spoken.resolve-reader',
    callers: { events: withoutActor },
    summary: 'What an account may read at this moment, when nobody calls for it: of what is sent to its endpoints (V7).',
    request: Type.Object({ reader: readerFacts }),
    reply: Type.Object(readable),
  }),
  listReadable: rpc({
    subject: 'conversations.spoken.list-readable',
    callers: { events: withoutActor },
    summary: 'Those of these conversations that an account may read now, when nobody calls for it (D18f, D69).',
    request: Type.Object({ reader: readerFacts, ids }),
    reply: Type.Object({ items: Type.Array(Type.Object({ id: Type.Integer() })) }),
  }),
  listAccessFacts: rpc({
    subject: 'conversations.spoken.list-facts',
    callers: { events: withoutActor, transcripts: withoutActor },
    summary: 'What decides who may read these conversations, and how they are narrowed down. Those that are absent are left out.',
    request: Type.Object({ ids }),
    reply: Type.Object({
      items: Type.Array(
        Type.Object({
          id: Type.Integer(),
          start: nullable(Instant('Start.')),
          event_id: nullable(Type.Integer()),
          journey_id: nullable(Type.Integer()),
          participant_ids: found,
          updated_at: Instant('Moves forward with every change.'),
        }),
      ),
    }),
  }),
} as const;
