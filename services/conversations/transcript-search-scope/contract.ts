/** Contract of filters and permissions for the search in transcripts (rules/transcripts#search; T2, T6). */
import { nullable, rpc, Type, withoutActor } from '#libs/infrastructure/contract';
import { Instant } from '../schemas.ts';

const ids = Type.Array(Type.Integer(), { minItems: 1, maxItems: 1_000 });
const found = Type.Array(Type.Integer());

/** Permissions of an account that makes no request itself, as the directory reports them. */
export const readerFacts = Type.Object({
  account_id: Type.Integer(),
  person_id: nullable(Type.Integer()),
  superuser: Type.Boolean(),
  global_editor: Type.Boolean(),
  coherence_access: Type.Boolean(),
});

const readable = {
  scope: Type.Union([Type.Object({ person_id: nullable(Type.Integer()), event_ids: found }), Type.Null()], {
    description:
      'Conversations that the caller can read (D69): conversations of the person and of these events; null = all.',
  }),
  hidden_event_ids: Type.Array(Type.Integer(), {
    description: 'Events whose conversations the caller cannot see (D18f).',
  }),
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
  resolveTranscriptFilters: rpc({
    subject: 'conversations.spoken.resolve-filters',
    callers: { events: ['user'], transcripts: ['user'] },
    summary:
      "Resolves the filters of a search in transcripts to ids, with the caller's permissions. 404 when the target of a filter does not exist.",
    ...filters,
  }),
  citeConversations: rpc({
    subject: 'conversations.spoken.cite',
    callers: { events: ['user'], transcripts: ['user'] },
    summary: 'Title and start of the given conversations that the caller can read (D18f, D69).',
    ...citation,
  }),
  resolveReaderFilters: rpc({
    subject: 'conversations.spoken.resolve-reader',
    callers: { events: withoutActor },
    summary: 'Current permissions of an account without a request of its own, for deliveries to its endpoints (V7).',
    request: Type.Object({ reader: readerFacts }),
    reply: Type.Object(readable),
  }),
  listReadable: rpc({
    subject: 'conversations.spoken.list-readable',
    callers: { events: withoutActor },
    summary: 'The given conversations that an account can read now, without a request of its own (D18f, D69).',
    request: Type.Object({ reader: readerFacts, ids }),
    reply: Type.Object({ items: Type.Array(Type.Object({ id: Type.Integer() })) }),
  }),
  listAccessFacts: rpc({
    subject: 'conversations.spoken.list-facts',
    callers: { events: withoutActor, transcripts: withoutActor },
    summary: 'Facts for access checks and filters of the given conversations. Absent ones are left out.',
    request: Type.Object({ ids }),
    reply: Type.Object({
      items: Type.Array(
        Type.Object({
          id: Type.Integer(),
          start: nullable(Instant('Start.')),
          event_id: nullable(Type.Integer()),
          journey_id: nullable(Type.Integer()),
          participant_ids: found,
          updated_at: Instant('Increases with every change.'),
        }),
      ),
    }),
  }),
} as const;
