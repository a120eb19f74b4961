/** Contract of the room of a conversation (rules/room#room-state). */
import {
  byClients,
  type ErrorReasons,
  singleLine,
  nullable,
  rpc,
  type Static,
  Type,
} from '#libs/infrastructure/contract';
import { AnyId, dataErrors, Instant, JsonDocument, optionalInstant } from '../schemas.ts';

export const windowErrors: ErrorReasons = {
  transcript_boundary_conflict: {
    code: 'conflict',
    when: 'A different boundary is stored; carries `currentConversationStartedAt` and/or `currentCaptureEndedAt`.',
  },
  invalid_transcript_window: {
    code: 'bad_request',
    when: 'A boundary has no offset, or the end is not strictly after the start.',
  },
};

const optionalText = (description: string, options: Record<string, unknown> = {}) =>
  Type.Optional(nullable(Type.String({ ...options, description })));

/** Schema of integers that JSON readers parse without precision loss. */
const SafeInteger = (description: string) =>
  Type.Integer({ minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER, description });

export const RoomParticipant = Type.Object(
  {
    customParticipantId: Type.String({
      minLength: 1,
      description: 'Id of the participant at the meeting provider; key of the entry.',
    }),
    browserSessionId: optionalText('Browser that joined.'),
    personId: Type.Optional(nullable(SafeInteger('Person behind the participant, when known.'))),
    displayName: Type.Optional(nullable(singleLine({ description: 'Name shown in the room.' }))),
    mediaParticipantId: optionalText("The provider's id of the participant."),
    assignedAt: optionalInstant('When the id was assigned; write-once.'),
    lastCredentialIssuedAt: optionalInstant('When a credential was last issued.'),
  },
  {
    $id: 'RoomParticipant',
    description: 'Upserted by `customParticipantId`; omitted and null fields keep their stored values.',
  },
);

const Claim = Type.Object(
  { personId: SafeInteger('Person who claims the name.'), claimedAt: Instant('When it was claimed.') },
  { $id: 'RoomClaim' },
);

/**
 * Body of POST enter-coherence (rules/room#room-state; D8, D23, D26b). A null value is treated like an omitted value.
 */
export const RoomWrite = Type.Object(
  {
    phase: optionalText('Phase of the room, 1 to 64 characters; the latest value wins.', {
      minLength: 1,
      maxLength: 64,
    }),
    version: Type.Optional(nullable(SafeInteger('The latest provided value wins.'))),
    expectedVersion: Type.Optional(
      nullable(
        SafeInteger('Reject the write with 409 unless this is the stored version. The first write is always accepted.'),
      ),
    ),
    claims: Type.Optional(
      nullable(
        Type.Unsafe<Record<string, Static<typeof Claim>>>({
          type: 'object',
          additionalProperties: Claim,
          propertyNames: singleLine(),
          description: 'Claims by display name; merged per name.',
        }),
      ),
    ),
    meetingId: optionalText("The provider's meeting; write-once.", { minLength: 1 }),
    recordingId: optionalText("The provider's recording; omitted or null keeps the stored value."),
    recordingEndedAt: optionalInstant('When the recording ended; omitted or null keeps the stored value.'),
    participants: Type.Optional(nullable(Type.Array(RoomParticipant))),
    conversationStartedAt: optionalInstant('Start of the transcript window; write-once, with an offset.'),
    captureEndedAt: optionalInstant(
      'End of the transcript window; write-once, with an offset, strictly after the start.',
    ),
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
    transcriptWindowComplete: Type.Optional(
      Type.Boolean({ description: 'Present when the request carried a boundary: both are stored.' }),
    ),
  },
  { $id: 'RoomWritten' },
);

export const RoomState = Type.Object(
  {
    meetingId: nullable(Type.String()),
    recordingId: nullable(Type.String()),
    version: nullable(Type.Number()),
    phase: nullable(Type.String()),
    claims: JsonDocument('Claims by display name; empty before the first write.'),
    participants: Type.Array(Type.Unknown(), { description: 'Stored participants; empty before the first write.' }),
    conversationStartedAt: nullable(Instant('Start of the transcript window.')),
    captureEndedAt: nullable(Instant('End of the transcript window.')),
    transcriptWindowComplete: Type.Boolean({ description: 'True once both boundaries are stored.' }),
  },
  { $id: 'RoomState', description: 'Stored room state with the transcript window.' },
);

export const roomRpcs = {
  readRoom: rpc({
    subject: 'conversations.room.get',
    callers: byClients,
    summary: 'Room state with the transcript window.',
    request: Type.Object({ conversation_id: AnyId }),
    reply: RoomState,
  }),
  writeRoom: rpc({
    subject: 'conversations.room.write',
    callers: byClients,
    summary: 'Merges room state. A rejected request stores nothing.',
    request: Type.Object({ conversation_id: AnyId, write: RoomWrite }),
    reply: RoomWriteReply,
    errors: {
      version_conflict: {
        code: 'conflict',
        when: '`expectedVersion` is not the stored version; carries `currentVersion`.',
      },
      meeting_conflict: { code: 'conflict', when: 'A different meeting is stored; carries `currentMeetingId`.' },
      ...windowErrors,
      ...dataErrors,
    },
  }),
} as const;
