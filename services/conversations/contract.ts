/**
 * Public face of the conversations service: what it answers over NATS, which jobs it works, which facts it tells.
 * Shapes of the API are in schemas.ts.
 */
import {
  anyActor,
  byAnybody,
  byClients,
  byOperators,
  ownAccount,
  defineService,
  event,
  job,
  jobAdminRpcs,
  rpc,
  Type,
} from '#libs/contract';
import type { ErrorReasons } from '#libs/contract';
import { bulkImportRpcs } from './bulk-import.ts';
import { deletedRpcs } from './deleted.ts';
import { discoveryRpcs } from './discovery.ts';
import { operatorRpcs } from './operations.ts';
import { personDataRpcs } from './person-data.ts';
import { receiptRpcs } from './receipt-contract.ts';
import {
  AnyId,
  ConversationOut,
  dataErrors,
  ExpectedUpdatedAt,
  Id,
  JsonStore,
  Note,
  nullable,
  RecordedWrite,
  RoomState,
  RoomWrite,
  RoomWriteReply,
} from './schemas.ts';

export * from './discovery.ts';
export * from './bulk-import.ts';
export * from './schemas.ts';

const guardErrors: ErrorReasons = {
  stale_conversation: { code: 'conflict', when: '`expected_updated_at` is not the present `updated_at`; carries `updated_at`.' },
};
const storeErrors: ErrorReasons = {
  ...guardErrors,
  ...dataErrors,
  invalid_namespace_placement: { code: 'bad_request', when: 'A key of `infos` or `config` belongs to another writer or the other field.' },
};
const windowErrors: ErrorReasons = {
  transcript_boundary_conflict: {
    code: 'conflict',
    when: 'A different boundary is stored; carries `currentConversationStartedAt` and/or `currentCaptureEndedAt`.',
  },
  invalid_transcript_window: { code: 'bad_request', when: 'A boundary has no offset, or the end is not strictly after the start.' },
};

const AudioMetadata = Type.Object(
  {
    path: Type.String(),
    name: Type.String(),
    content_type: Type.String(),
    size_bytes: Type.Integer({ minimum: 0 }),
    source: Type.String(),
    created_at: Type.String(),
  },
  { description: 'What is stored under `infos.audio` (rules/media#audio-upload).' },
);
const AudioAttachment = Type.Object({
  conversation_id: Id,
  blob_id: Type.Integer({ minimum: 1, description: 'Rises with every upload: an older one never replaces a newer one.' }),
  audio: AudioMetadata,
  actor_account_id: nullable(Type.Integer()),
  actor_person_id: nullable(Type.Integer({ description: 'Author of the note.' })),
  note: Type.Optional(Type.Boolean({ description: 'False: no note, as the file came by bulk import. Default true.' })),
});

const PublishingPatch = Type.Object(
  {
    fields: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    records: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    artifacts: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  {
    description:
      'Values for the groups of `infos.publishing` (D18a). Artifacts are replaced; a field or record that a person has written, which is one without a provenance envelope, stays.',
  },
);

/** What the gateway says of a webhook on `webhooks.conversations.bookings`, besides its body (architecture#webhooks). */
export const BookingWebhook = Type.Object({
  id: Type.String({ description: 'Request id of the intake; one per delivery.' }),
  received_at: Type.String({ format: 'date-time' }),
  person_id: Type.String({ description: "The path's person as it was written." }),
  headers: Type.Record(Type.String(), Type.String(), {
    description: 'Lower-case names: x-cal-signature-256, content-type, x-cal-webhook-version.',
  }),
});
export const bookingWebhookSubject = 'webhooks.conversations.bookings';

/** What the gateway says of a webhook of the meeting provider, besides its body. */
export const MeetingWebhook = Type.Object({
  id: Type.String({ description: 'Request id of the intake; one per request.' }),
  received_at: Type.String({ format: 'date-time' }),
  headers: Type.Record(Type.String(), Type.String(), { description: 'Lower-case names: rtk-signature, rtk-uuid, rtk-webhook-id.' }),
});
export const meetingWebhookSubject = 'webhooks.conversations.meetings';

export const conversations = defineService({
  service: 'conversations',
  rpcs: {
    ...jobAdminRpcs('conversations'),
    ...bulkImportRpcs,
    ...deletedRpcs,
    ...discoveryRpcs,
    ...operatorRpcs,
    ...personDataRpcs,
    ...receiptRpcs,
    findActive: rpc({
      subject: 'conversations.conversations.find-active',
      callers: byClients,
      summary: 'The conversations of a person and journey that are active at a time; creates an unscheduled one when there is none.',
      request: Type.Object({
        person_id: AnyId,
        journey: Type.String({ description: 'Slug of a conversation journey.' }),
        time: Type.String({ format: 'date-time', description: "The caller's time; without an offset it is UTC." }),
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
      callers: { ...byClients, agents: ownAccount, media: ownAccount },
      summary: 'One conversation.',
      request: Type.Object({ conversation_id: AnyId }),
      reply: ConversationOut,
    }),
    patch: rpc({
      subject: 'conversations.conversations.patch',
      callers: byClients,
      summary: 'Shallow merge of `infos` and `config`, guarded when asked.',
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
        precondition_failed: { code: 'precondition_failed', when: 'If-Match names another representation; carries `updated_at`.' },
      },
    }),
    recorded: rpc({
      subject: 'conversations.conversations.recorded',
      callers: byClients,
      summary: 'Advances the step, notes it and merges the body; once per idempotency key.',
      request: Type.Object({
        conversation_id: AnyId,
        idempotency_key: nullable(Type.String({ minLength: 1, maxLength: 255 })),
        write: RecordedWrite,
      }),
      reply: ConversationOut,
      errors: { ...storeErrors, ...windowErrors },
      idempotent: false,
    }),
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
      summary: 'Merges room state; any rejection writes nothing.',
      request: Type.Object({ conversation_id: AnyId, write: RoomWrite }),
      reply: RoomWriteReply,
      errors: {
        version_conflict: { code: 'conflict', when: '`expectedVersion` is not the stored version; carries `currentVersion`.' },
        meeting_conflict: { code: 'conflict', when: 'A different meeting is stored; carries `currentMeetingId`.' },
        ...windowErrors,
        ...dataErrors,
      },
    }),
    bookingHint: rpc({
      subject: 'conversations.bookings.hint',
      callers: byAnybody,
      summary: 'Plain text that tells how to register the booking webhook.',
      request: Type.Object({ person_id: AnyId }),
      reply: Type.String(),
    }),
    describe: rpc({
      subject: 'conversations.conversations.describe',
      callers: { media: ownAccount, transcripts: [...anyActor, ...ownAccount] },
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
      callers: { media: [...anyActor, ...ownAccount], transcripts: [...anyActor, ...ownAccount] },
      summary: 'Answers with the id, or 404.',
      request: Type.Object({ id: Type.Integer() }),
      reply: Type.Object({ id: Type.Integer() }),
    }),
    getTranscriptSource: rpc({
      subject: 'conversations.transcript-source.get',
      callers: { media: ownAccount, transcripts: ownAccount },
      summary: 'What the importers of transcripts and recordings need to know of a conversation. 404 when absent.',
      request: Type.Object({ conversation_id: Type.Integer() }),
      reply: Type.Object({
        conversation_id: Type.Integer(),
        meeting_id: nullable(Type.String()),
        recording_id: nullable(Type.String({ description: "The provider's recording, when the room has named one." })),
        window: Type.Object(
          { conversation_started_at: nullable(Type.String()), capture_ended_at: nullable(Type.String()) },
          { description: 'As stored: text of bulk-imported data may be no datetime at all.' },
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
    attachAudio: rpc({
      subject: 'conversations.audio.attach',
      callers: { media: ownAccount },
      summary: 'Sets `infos.audio` and adds the note of the upload; once per blob. 404 when the conversation is absent.',
      request: AudioAttachment,
      reply: Type.Object({ audio: AudioMetadata }),
      errors: dataErrors,
    }),
    checkAudio: rpc({
      subject: 'conversations.audio.check',
      callers: { media: ownAccount },
      summary: 'Whether `infos.audio` may become this; asked before an upload is made the audio. 404 when the conversation is absent.',
      request: Type.Object({ conversation_id: Id, audio: AudioMetadata }),
      reply: Type.Object({ ok: Type.Literal(true) }),
      errors: dataErrors,
    }),
    listNotes: rpc({
      subject: 'admin.conversations.notes.list',
      callers: byOperators,
      summary: 'Notes of a conversation, newest first. 404 when absent.',
      request: Type.Object({
        conversation_id: Type.Integer(),
        before: Type.Optional(Id),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: 'Default 1000.' })),
      }),
      reply: Type.Object({ items: Type.Array(Note) }),
    }),
    adminMove: rpc({
      subject: 'admin.conversations.conversations.move',
      callers: byOperators,
      summary: 'Moves a conversation to a step of its journey; noted with the operator (D6).',
      request: Type.Object({ conversation_id: Type.Integer(), step_slug: Type.String(), operator: Type.String({ minLength: 1 }) }),
      reply: Type.Object({ conversation_id: Type.Integer(), from: Type.String(), to: Type.String(), changed: Type.Boolean() }),
      errors: { step_not_found: { code: 'not_found', when: "The conversation's journey has no such step." } },
    }),
    adminConnect: rpc({
      subject: 'admin.conversations.conversations.connect',
      callers: byOperators,
      summary: 'Links a conversation to a holon (D29).',
      request: Type.Object({ conversation_id: Type.Integer(), holon_slug: Type.String() }),
      reply: Type.Object({ conversation_id: Type.Integer(), changed: Type.Boolean() }),
      errors: { holon_not_found: { code: 'not_found', when: 'No holon has that slug.' } },
    }),
    adminDisconnect: rpc({
      subject: 'admin.conversations.conversations.disconnect',
      callers: byOperators,
      summary: 'Removes the link between a conversation and a holon (D29).',
      request: Type.Object({ conversation_id: Type.Integer(), holon_slug: Type.String() }),
      reply: Type.Object({ conversation_id: Type.Integer(), changed: Type.Boolean() }),
      errors: { holon_not_found: { code: 'not_found', when: 'No holon has that slug.' } },
    }),
    adminImportTranscript: rpc({
      subject: 'admin.conversations.conversations.import-transcript',
      callers: byOperators,
      summary: 'Starts the transcript importer for a conversation (D7a).',
      request: Type.Object({ conversation_id: Type.Integer() }),
      reply: Type.Object({ conversation_id: Type.Integer(), job_id: Type.String() }),
    }),
  },
  jobs: {
    bookingEvent: job({
      type: 'conversations.booking-event',
      summary: 'Applies the booking webhook of a receipt.',
      payload: Type.Object({ receipt_id: Type.Integer({ minimum: 1 }) }),
      policy: { maxAttempts: 20, firstDelayMs: 500, maxDelayMs: 300_000, timeoutMs: 60_000, concurrency: 4 },
    }),
    meetingReport: job({
      type: 'conversations.meeting-report',
      summary: 'Checks a webhook of the meeting provider and tells it to the conversations of its meeting.',
      payload: Type.Object({ receipt_id: Type.Integer({ minimum: 1 }) }),
      policy: { maxAttempts: 20, firstDelayMs: 500, maxDelayMs: 300_000, timeoutMs: 60_000, concurrency: 4 },
    }),
    advanceStep: job({
      type: 'conversations.advance-step',
      summary: "Advances a conversation after its step's pipeline job succeeded, if the step is still the current one (D6).",
      payload: Type.Object({ conversation_id: Id, step_id: Id, cause: Type.String({ description: 'Pipeline job that finished.' }) }),
      policy: { timeoutMs: 30_000, concurrency: 4 },
    }),
    pipelineFinished: job({
      type: 'conversations.pipeline-finished',
      startedBy: ['agents', 'media', 'transcripts'],
      summary: 'What a pipeline job has done: its note, what is to be published, the move to the next step (rules/steps#pipeline-jobs).',
      payload: Type.Object({
        conversation_id: Id,
        step_id: nullable(Id),
        pipeline_job: Type.String({ description: 'Name of the job, e.g. `recording_import`.' }),
        note_key: Type.String({ description: 'The same key adds the note once.' }),
        note: nullable(Type.String()),
        advance: Type.Boolean({ description: 'Move on if the step is still the current one (D6).' }),
        publishing: Type.Optional(PublishingPatch),
      }),
      policy: { maxAttempts: 20, timeoutMs: 30_000, concurrency: 4 },
    }),
    attachAudio: job({
      type: 'conversations.attach-audio',
      startedBy: ['media'],
      summary: 'As the operation, for when it could not be reached.',
      payload: AudioAttachment,
      policy: { maxAttempts: 20, timeoutMs: 30_000, concurrency: 2 },
    }),
  },
  events: {
    changed: event({
      subject: 'events.conversations.conversation.changed',
      summary:
        'Bounds, step, participants or links of a conversation changed. Room writes and merges of `infos` and `config` are not told.',
      payload: Type.Object({ id: Type.Integer() }),
    }),
    meetingReported: event({
      subject: 'events.conversations.meeting.reported',
      summary: 'The meeting provider has reported something of the meeting of a conversation: what waits for it may look now.',
      payload: Type.Object({ conversation_id: Type.Integer(), report: Type.String({ description: 'e.g. `recording.statusUpdate`' }) }),
    }),
    deleted: event({
      subject: 'events.conversations.conversation.deleted',
      summary: 'A conversation is gone for good. Told by the previous release alone: the services concerned get jobs.',
      payload: Type.Object({ id: Type.Integer() }),
    }),
  },
  consumers: {
    bookings: { stream: 'WEBHOOKS', durable: 'conversations-bookings', filter: bookingWebhookSubject },
    meetings: { stream: 'WEBHOOKS', durable: 'conversations-meetings', filter: meetingWebhookSubject },
  },
});
