/**
 * Shapes of the conversation surface (rules/conversations#conversationout). Field names are those of the documents; the
 * descriptions are the documentation of the API.
 */
import { line, Type } from '#libs/contract';
import type { ErrorReasons, Static, TSchema } from '#libs/contract';

/** Ids that a row can have. Larger, zero and negative integers are ids that nobody has (rules/http#ids). */
export const maxId = 2_147_483_647;
export const Id = Type.Integer({ minimum: 1, maximum: maxId });
/** Any integer: an id of a path or query before it is known whether anybody can have it. */
export const AnyId = Type.Integer({ description: 'A positive integer; ids are per instance.' });

export const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const Instant = (description: string) => Type.String({ format: 'date-time', description });
export const JsonDocument = (description: string) => Type.Object({}, { additionalProperties: true, description });

export const PersonOut = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    photo: nullable(Type.String({ description: 'Address of the photo.' })),
    contact: JsonDocument('Contact values by channel, possibly empty.'),
  },
  { $id: 'PersonOut', description: 'A participant.' },
);

export const ConnectedHolon = Type.Object(
  { id: Type.Integer(), name: Type.String(), type: Type.String({ description: 'Class slug of the holon.' }), slug: Type.String() },
  { $id: 'ConnectedHolon', description: 'A holon that the conversation is explicitly linked to.' },
);

export const Question = Type.Object(
  { id: Type.Integer(), text: Type.String(), order: Type.Integer({ minimum: 0, description: 'Position in the journey, from 0.' }) },
  { $id: 'Question', description: "A question of the conversation's journey." },
);

export const QuestionState = Type.Object(
  {
    active_question_id: nullable(Type.Integer({ description: 'Question of the latest change; null before the first one.' })),
    changes: Type.Array(
      Type.Object(
        {
          question_id: Type.Integer(),
          occurred_at: Instant('When the question was displayed.'),
          duration_seconds: nullable(Type.Number({ description: 'Seconds until the next change; null for the active question.' })),
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
    connected: Type.Array(ConnectedHolon, { description: 'Explicitly linked holons; the owning event is not among them.' }),
    infos: JsonDocument('Public and display metadata; publishing artefacts live under `infos.publishing`.'),
    config: JsonDocument('Operational metadata: `booking`, the room state `enter-coherence`, pipeline state and what clients store.'),
    start: nullable(Instant('Scheduled or actual start.')),
    finish: nullable(Instant('Scheduled or actual end; null = open-ended.')),
    journey_slug: Type.String({ description: 'Empty when no journey is set.' }),
    journey_name: Type.String({ description: 'Empty when no journey is set.' }),
    journey_description: nullable(Type.String({ description: 'Null when no journey is set.' })),
    step_slug: Type.String({ description: 'Empty when no step is set.' }),
    step_title: Type.String({ description: 'Empty when no step is set.' }),
    texts: JsonDocument('Texts of the journey: welcome, enter, post, goodbyeURL; `{}` when not configured.'),
    questions: Type.Array(Question, { description: "Questions in the order of the journey's sequence." }),
    updated_at: Instant('Moves strictly forward with every write that changes the conversation, microseconds included.'),
    question_state: QuestionState,
  },
  { $id: 'ConversationOut', description: 'A conversation, as the operational endpoints return it.' },
);
export type ConversationOut = Static<typeof ConversationOut>;

/** A field of a JSON store in a request; numbers keep their digits (rules/http#numbers-and-keys). */
/** Answer of every write that a conversation has no room for (D63). */
export const dataErrors: ErrorReasons = Object.freeze({
  conversation_data_too_large: {
    code: 'payload_too_large',
    when: '`infos`, `config` with the state of the room, or `question_state` would be larger than 1 MiB of JSON text as a read shows it. Nothing is changed.',
  },
});

export const JsonStore = (description: string) => JsonDocument(description);

/** Value of `expected_updated_at` (D9, D9a): null counts as absent, a value without an offset is refused. */
export const ExpectedUpdatedAt = nullable(
  Type.String({
    format: 'date-time-offset',
    description: 'Refuse the write with 409 unless this is the present `updated_at`. Null counts as absent.',
  }),
);

const optionalText = (description: string, options: Record<string, unknown> = {}) =>
  Type.Optional(nullable(Type.String({ ...options, description })));
const optionalInstant = (description: string) => Type.Optional(nullable(Instant(description)));
/** Integers that JSON readers agree on. */
const SafeInteger = (description: string) =>
  Type.Integer({ minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER, description });

export const RoomParticipant = Type.Object(
  {
    customParticipantId: Type.String({
      minLength: 1,
      description: 'Our id of the participant at the meeting provider; the key of the entry.',
    }),
    browserSessionId: optionalText('Browser that joined.'),
    personId: Type.Optional(nullable(SafeInteger('Person behind the participant, when known.'))),
    displayName: Type.Optional(nullable(line({ description: 'Name shown in the room.' }))),
    mediaParticipantId: optionalText("The provider's id of the participant."),
    assignedAt: optionalInstant('When the id was assigned; the first stored value stays.'),
    lastCredentialIssuedAt: optionalInstant('When a credential was last issued.'),
  },
  { $id: 'RoomParticipant', description: 'Upserted by `customParticipantId`; an omitted or null field stays as it is stored.' },
);

const Claim = Type.Object(
  { personId: SafeInteger('Person who claims the name.'), claimedAt: Instant('When it was claimed.') },
  { $id: 'RoomClaim' },
);

/** Body of POST enter-coherence (rules/room#room-state; D8, D23, D26b). Null counts as omitted. */
export const RoomWrite = Type.Object(
  {
    phase: optionalText('Free-standing live value of 1 to 64 characters; the latest wins.', { minLength: 1, maxLength: 64 }),
    version: Type.Optional(nullable(SafeInteger('The latest provided value wins.'))),
    expectedVersion: Type.Optional(
      nullable(SafeInteger('Refuse the write with 409 unless this is the stored version; a first write is always accepted.')),
    ),
    claims: Type.Optional(
      nullable(
        Type.Unsafe<Record<string, Static<typeof Claim>>>({
          type: 'object',
          additionalProperties: Claim,
          propertyNames: line(),
          description: 'Claims by display name; merged per name.',
        }),
      ),
    ),
    meetingId: optionalText("The provider's meeting; write-once.", { minLength: 1 }),
    recordingId: optionalText("The provider's recording; an omitted or null value erases nothing."),
    recordingEndedAt: optionalInstant('When the recording ended; an omitted or null value erases nothing.'),
    participants: Type.Optional(nullable(Type.Array(RoomParticipant))),
    conversationStartedAt: optionalInstant('Start of the transcript window; write-once, with an offset.'),
    captureEndedAt: optionalInstant('End of the transcript window; write-once, with an offset, strictly after the start.'),
    sessionId: Type.Optional(
      Type.Unknown({ description: 'Accepted and ignored; the session is derived by the server.', deprecated: true }),
    ),
  },
  { $id: 'RoomWrite', description: 'Every field is optional; send only what changed.' },
);
export type RoomWrite = Static<typeof RoomWrite>;

export const RoomWriteReply = Type.Object(
  {
    ok: Type.Literal(true),
    conversationId: Type.Integer(),
    meetingId: nullable(Type.String()),
    version: nullable(Type.Integer()),
    phase: nullable(Type.String()),
    participantCount: Type.Integer({ minimum: 0 }),
    conversationStartedAt: Type.Optional(nullable(Instant('Present when the request carried a boundary.'))),
    captureEndedAt: Type.Optional(nullable(Instant('Present when the request carried a boundary.'))),
    transcriptWindowComplete: Type.Optional(Type.Boolean({ description: 'Present when the request carried a boundary: both are stored.' })),
  },
  { $id: 'RoomWritten' },
);

export const RoomState = Type.Object(
  {
    meetingId: nullable(Type.String()),
    recordingId: nullable(Type.String()),
    version: nullable(Type.Number()),
    phase: nullable(Type.String()),
    claims: JsonDocument('Claims by display name; empty when nothing is written.'),
    participants: Type.Array(Type.Unknown(), { description: 'Stored participants; empty when nothing is written.' }),
    conversationStartedAt: nullable(Instant('Start of the transcript window.')),
    captureEndedAt: nullable(Instant('End of the transcript window.')),
    transcriptWindowComplete: Type.Boolean({ description: 'True once both boundaries are stored.' }),
  },
  { $id: 'RoomState', description: 'Stored room state with the transcript window.' },
);

/** Body of POST /conversations/{id}/recorded (rules/conversations#recorded; D9, D21, D22). */
export const RecordedWrite = Type.Object(
  {
    infos: Type.Optional(JsonStore('Top-level keys replace whole values.')),
    config: Type.Optional(JsonStore('Top-level keys replace whole values.')),
    captureEndedAt: optionalInstant('End of the transcript window; the same write-once boundary as on enter-coherence.'),
    capture_ended_at: Type.Optional(
      nullable(Type.String({ format: 'date-time', description: 'Older name of `captureEndedAt`.', deprecated: true })),
    ),
    expected_updated_at: Type.Optional(ExpectedUpdatedAt),
  },
  { $id: 'RecordedWrite', description: 'All fields are optional.' },
);
export type RecordedWrite = Static<typeof RecordedWrite>;

/** Note item (rules/memberships#notes): the author is null for notes of the system. */
export const Note = Type.Object({
  id: Type.Integer(),
  body: Type.String(),
  note_type: Type.String({ description: '`recorded`, `booking`, `booking_error`, `audio`, `step_change`, …; an open list.' }),
  created_at: Instant('When it was written.'),
  author_person: nullable(JsonDocument('The person who wrote it; null for the system.')),
});

/** A webhook as it was received, and what became of it (D20). */
/** Every outcome of a booking or meeting webhook. */
export const bookingOutcomes = [
  'pending',
  'applied',
  'stale',
  'waiting',
  'ignored',
  'journey_error',
  'person_not_found',
  'refused_data_too_large',
  'refused_too_many_attendees',
  'rejected_signature',
  'rejected_too_large',
  'rejected_unidentified',
  'rejected_unreadable',
  'rejected_unsigned',
  'rejected_unverified',
] as const;
export type BookingOutcome = (typeof bookingOutcomes)[number];

export const Receipt = Type.Object({
  id: Type.Integer(),
  source: Type.Enum(['booking', 'meeting']),
  received_at: Instant('When the gateway took it.'),
  person_id: nullable(Type.String({ description: "The path's person, as it was written." })),
  trigger_event: nullable(Type.String()),
  outcome: Type.String({
    description: '`pending`, `applied`, `stale`, `waiting`, `ignored`, `journey_error`, `person_not_found`, `refused_…` or `rejected_…`.',
  }),
  message: nullable(Type.String({ description: 'What was done, or why nothing was.' })),
  conversation_id: nullable(Type.Integer()),
  deliveries: Type.Integer({ minimum: 1, description: 'Times that the same request arrived.' }),
  processed_at: nullable(Instant('When it was worked last.')),
  body_digest: nullable(Type.String({ description: 'SHA-256 of the body as it came, in hex; null when it was too large to be read.' })),
  body_size: nullable(Type.Integer({ minimum: 0, description: 'Bytes of the body as it came; null when it was too large to be read.' })),
});
