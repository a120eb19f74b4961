/** Contract for reading, finding and changing a conversation, for its audio, and for look-ups by other services. */
import {
  anyActor,
  byClients,
  byUsers,
  type ErrorReasons,
  event,
  job,
  nullable,
  rpc,
  type Static,
  Type,
  withoutActor,
} from '#libs/infrastructure/contract';
import { windowErrors } from '../room/contract.ts';
import {
  AnyId,
  dataErrors,
  ExpectedUpdatedAt,
  Id,
  Instant,
  JsonDocument,
  JsonStore,
  optionalInstant,
  PersonOut,
} from '../schemas.ts';

const guardErrors: ErrorReasons = {
  stale_conversation: {
    code: 'conflict',
    when: '`expected_updated_at` is not the current `updated_at`; carries `updated_at`.',
  },
};

export const storeErrors: ErrorReasons = {
  ...guardErrors,
  ...dataErrors,
  invalid_namespace_placement: {
    code: 'bad_request',
    when: 'A key of `infos` or `config` belongs to another writer or the other field.',
  },
};

export const ConnectedHolon = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    type: Type.String({ description: 'Class slug of the holon.' }),
    slug: Type.String(),
  },
  { $id: 'ConnectedHolon', description: 'A holon that the conversation is explicitly linked to.' },
);

export const Question = Type.Object(
  {
    id: Type.Integer(),
    text: Type.String(),
    order: Type.Integer({ minimum: 0, description: 'Position in the journey, from 0.' }),
  },
  { $id: 'Question', description: "A question of the conversation's journey." },
);

export const QuestionState = Type.Object(
  {
    active_question_id: nullable(
      Type.Integer({ description: 'Question of the latest change; null before the first one.' }),
    ),
    changes: Type.Array(
      Type.Object(
        {
          question_id: Type.Integer(),
          occurred_at: Instant('When the question was displayed.'),
          duration_seconds: nullable(
            Type.Number({ description: 'Seconds until the next change; null for the active question.' }),
          ),
        },
        { $id: 'QuestionStateChange', description: 'A displayed question.' },
      ),
      { description: 'Recorded changes in order of `occurred_at`, then of arrival.' },
    ),
  },
  { $id: 'QuestionState', description: 'Derived from the recorded question changes.' },
);

export const ConversationOut = Type.Object(
  {
    id: Type.Integer(),
    participants: Type.Array(PersonOut, { description: 'In the order in which they joined.' }),
    connected: Type.Array(ConnectedHolon, {
      description: 'Explicitly linked holons; the owning event is not among them.',
    }),
    infos: JsonDocument('Public and display metadata; publishing artefacts live under `infos.publishing`.'),
    config: JsonDocument(
      'Operational metadata: `booking`, the room state `enter-coherence`, pipeline state and what clients store.',
    ),
    start: nullable(Instant('Scheduled or actual start.')),
    finish: nullable(Instant('Scheduled or actual end; null = open-ended.')),
    journey_slug: Type.String({ description: 'Empty when no journey is set.' }),
    journey_name: Type.String({ description: 'Empty when no journey is set.' }),
    journey_description: nullable(Type.String({ description: 'Null when no journey is set.' })),
    step_slug: Type.String({ description: 'Empty when no step is set.' }),
    step_title: Type.String({ description: 'Empty when no step is set.' }),
    texts: JsonDocument('Texts of the journey: welcome, enter, post, goodbyeURL; `{}` when not configured.'),
    questions: Type.Array(Question, { description: "Questions in the order of the journey's sequence." }),
    updated_at: Instant('Increases strictly with every write that changes the conversation; microsecond precision.'),
    question_state: QuestionState,
  },
  { $id: 'ConversationOut', description: 'A conversation, as the operational endpoints return it.' },
);

export type ConversationOut = Static<typeof ConversationOut>;

export const Infos = Type.Object(
  { infos: JsonDocument('Public and display metadata; `{}` when nothing is stored.') },
  { $id: 'ConversationInfos' },
);

/** Schema of the body of POST /conversations/{id}/recorded (rules/conversations#recorded; D9, D21, D22). */
export const RecordedWrite = Type.Object(
  {
    infos: Type.Optional(JsonStore('Top-level keys replace whole values.')),
    config: Type.Optional(JsonStore('Top-level keys replace whole values.')),
    captureEndedAt: optionalInstant(
      'End of the transcript window; the same write-once boundary as on enter-coherence. `capture_ended_at` is its older name (deprecated).',
    ),
    capture_ended_at: Type.Optional(
      nullable(Type.String({ format: 'date-time', description: 'Older name of `captureEndedAt`.' })),
    ),
    expected_updated_at: Type.Optional(ExpectedUpdatedAt),
  },
  { $id: 'RecordedWrite', description: 'All fields are optional.' },
);

export type RecordedWrite = Static<typeof RecordedWrite>;

export const AudioMetadata = Type.Object(
  {
    path: Type.String(),
    name: Type.String(),
    content_type: Type.String(),
    size_bytes: Type.Integer({ minimum: 0 }),
    source: Type.String(),
    created_at: Type.String(),
  },
  { description: 'Value of `infos.audio` (rules/media#audio-upload).' },
);

export const AudioAttachment = Type.Object({
  conversation_id: Id,
  blob_id: Type.Integer({
    minimum: 1,
    description: 'Increases with every upload; an older upload never replaces a newer one.',
  }),
  audio: AudioMetadata,
  actor_account_id: nullable(Type.Integer()),
  actor_person_id: nullable(Type.Integer({ description: 'Author of the note.' })),
  note: Type.Optional(Type.Boolean({ description: 'False = no note, for files of a bulk import. Default true.' })),
});

export const conversationRpcs = {
  findActive: rpc({
    subject: 'conversations.conversations.find-active',
    callers: byClients,
    summary: 'Active conversations of a person and journey at a time; creates an unscheduled one when none exists.',
    request: Type.Object({
      person_id: AnyId,
      journey: Type.String({ description: 'Slug of a conversation journey.' }),
      time: Type.String({ format: 'date-time', description: "The caller's time; UTC without an offset." }),
    }),
    reply: Type.Array(ConversationOut),
    errors: {
      person_not_found: { code: 'not_found', when: 'No such person on this instance.' },
      journey_not_found: { code: 'not_found', when: 'No conversation journey has that slug.' },
      journey_ownership_ambiguous: {
        code: 'conflict',
        when: 'A conversation must be created and the journey is not owned by exactly one event.',
      },
    },
  }),
  get: rpc({
    subject: 'conversations.conversations.get',
    callers: { ...byClients, agents: withoutActor, media: withoutActor },
    summary: 'One conversation.',
    request: Type.Object({ conversation_id: AnyId }),
    reply: ConversationOut,
  }),
  patch: rpc({
    subject: 'conversations.conversations.patch',
    callers: byClients,
    summary: 'Shallow merge of `infos` and `config`, with optional preconditions.',
    request: Type.Object({
      conversation_id: AnyId,
      infos: Type.Optional(JsonStore('Top-level keys replace whole values.')),
      config: Type.Optional(JsonStore('Top-level keys replace whole values.')),
      expected_updated_at: Type.Optional(ExpectedUpdatedAt),
      if_match: Type.Optional(nullable(Type.String({ description: 'The header If-Match.' }))),
    }),
    reply: ConversationOut,
    errors: {
      ...storeErrors,
      precondition_failed: {
        code: 'precondition_failed',
        when: 'If-Match names another representation; carries `updated_at`.',
      },
    },
  }),
  describe: rpc({
    subject: 'conversations.conversations.describe',
    callers: { media: withoutActor, transcripts: [...anyActor, ...withoutActor] },
    summary: 'Title, journey, event, bounds and participants, for files and reports. 404 when absent.',
    request: Type.Object({ id: Type.Integer() }),
    reply: Type.Object({
      id: Type.Integer(),
      title: Type.String(),
      journey_slug: Type.String(),
      journey_name: Type.String(),
      event: nullable(Type.Object({ id: Type.Integer(), slug: Type.String(), name: Type.String() })),
      start: nullable(Type.String()),
      finish: nullable(Type.String()),
      participants: Type.Array(Type.Object({ id: Type.Integer(), name: Type.String() })),
    }),
  }),
  exists: rpc({
    subject: 'conversations.conversations.exists',
    callers: { media: [...anyActor, ...withoutActor], transcripts: [...anyActor, ...withoutActor] },
    summary: 'Returns the id, or 404.',
    request: Type.Object({ id: Type.Integer() }),
    reply: Type.Object({ id: Type.Integer() }),
  }),
  getTranscriptSource: rpc({
    subject: 'conversations.transcript-source.get',
    callers: { media: withoutActor, transcripts: withoutActor },
    summary: 'Meeting, window and participants, for importers of transcripts and recordings. 404 when absent.',
    request: Type.Object({ conversation_id: Type.Integer() }),
    reply: Type.Object({
      conversation_id: Type.Integer(),
      meeting_id: nullable(Type.String()),
      recording_id: nullable(Type.String({ description: "The provider's recording, if the room has one." })),
      window: Type.Object(
        { conversation_started_at: nullable(Type.String()), capture_ended_at: nullable(Type.String()) },
        { description: 'As stored. Bulk-imported text may not be a datetime.' },
      ),
      participants: Type.Array(
        Type.Object({
          customParticipantId: Type.String(),
          personId: nullable(Type.Integer()),
          displayName: nullable(Type.String()),
        }),
      ),
      current_step_id: nullable(Type.Integer()),
    }),
  }),
  readInfos: rpc({
    subject: 'conversations.infos.get',
    callers: byUsers,
    summary: 'The `infos` of a conversation.',
    request: Type.Object({ conversation_id: AnyId }),
    reply: Infos,
  }),
  patchInfos: rpc({
    subject: 'conversations.infos.patch',
    callers: byUsers,
    summary: 'Shallow merge of `infos` alone, without preconditions (D9a).',
    request: Type.Object({ conversation_id: AnyId, infos: JsonStore('Top-level keys replace whole values.') }),
    reply: Infos,
    errors: {
      invalid_namespace_placement: { code: 'bad_request', when: 'A key of `infos` belongs to another writer.' },
      ...dataErrors,
    },
  }),
  recorded: rpc({
    subject: 'conversations.conversations.recorded',
    callers: byClients,
    summary: 'Advances the step, adds a note and merges the body; once per idempotency key.',
    request: Type.Object({
      conversation_id: AnyId,
      idempotency_key: nullable(Type.String({ minLength: 1, maxLength: 255 })),
      write: RecordedWrite,
    }),
    reply: ConversationOut,
    errors: { ...storeErrors, ...windowErrors },
  }),
  attachAudio: rpc({
    subject: 'conversations.audio.attach',
    callers: { media: withoutActor },
    summary: 'Sets `infos.audio` and adds a note, once per blob. 404 when the conversation is absent.',
    request: AudioAttachment,
    reply: Type.Object({ audio: AudioMetadata }),
    errors: dataErrors,
  }),
  checkAudio: rpc({
    subject: 'conversations.audio.check',
    callers: { media: withoutActor },
    summary:
      'Checks whether the value fits into `infos.audio`, before an upload is attached. 404 when the conversation is absent.',
    request: Type.Object({ conversation_id: Id, audio: AudioMetadata }),
    reply: Type.Object({ ok: Type.Literal(true) }),
    errors: dataErrors,
  }),
} as const;

export const conversationEvents = {
  changed: event({
    subject: 'events.conversations.conversation.changed',
    summary:
      'Bounds, step, participants or links of a conversation changed. Room writes and merges of `infos` and `config` are not published.',
    payload: Type.Object({ id: Type.Integer() }),
  }),
} as const;

export const conversationJobs = {
  attachAudio: job({
    type: 'conversations.attach-audio',
    startedBy: ['media'],
    summary: 'Attaches audio when the operation was unreachable.',
    payload: AudioAttachment,
    policy: { maxAttempts: 20, timeoutMs: 30_000, concurrency: 2 },
  }),
} as const;
