/**
 * Public face of the media service: what it answers over NATS, which jobs it works, and the paths of its internal HTTP server,
 * which alone carries bytes (architecture#bytes).
 */
import { byClients, byOperators, ownAccount, defineService, job, jobAdminRpcs, rpc, Type, type Static } from '#libs/contract';
import type { ErrorReasons } from '#libs/contract';
import { jobsOf, pipelineJobs } from '#libs/pipeline';
import { personDataRpcs } from './person-data.ts';

const id = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });
const nullableId = Type.Union([Type.Integer(), Type.Null()]);

/** Extensions that an audio upload may have, in lower case (rules/http#limits); case is ignored (D27). */
export const audioExtensions = ['aac', 'flac', 'm4a', 'mp3', 'oga', 'ogg', 'opus', 'wav', 'webm'] as const;

/** Largest audio file in bytes: 500 MiB, exactly that is accepted (rules/http#limits; D27). */
export const maxAudioBytes = 524_288_000;

/** `infos.audio` and the reply of an upload (rules/media#audio-upload; D27). */
export const AudioMetadata = Type.Object(
  {
    path: Type.String({ description: "Key of the object in the platform's store; it cannot be guessed and is no address." }),
    name: Type.String({ description: 'Base name of the uploaded file.' }),
    content_type: Type.String({ description: "Media type by the file's extension, e.g. `audio/mpeg`." }),
    size_bytes: Type.Integer({ description: 'Size of the file in bytes.' }),
    source: Type.String({ description: 'Where the file came from: `upload`.' }),
    created_at: Type.String({ format: 'date-time', description: 'When the upload was finished.' }),
  },
  { $id: 'AudioMetadata', description: 'Metadata of the canonical audio of a conversation.' },
);
export type AudioMetadata = Static<typeof AudioMetadata>;

/** Application errors of the upload (rules/media#audio-upload). */
export const audioUploadErrors: ErrorReasons = Object.freeze({
  invalid_conversation_audio: {
    code: 'bad_request',
    when: 'The extension is not allowed, or the file is empty or over 524 288 000 bytes.',
  },
});

/** Largest logo in bytes: 5 MB, exactly that is accepted (rules/http#limits; D51). */
export const maxLogoBytes = 5_242_880;

/** Largest recording in bytes: what an upload in parts of 5 MiB can hold. */
export const maxRecordingBytes = 10_000 * 5_242_880;

/** Recordings of a conversation by their names in paths: the whole one, and the one whose beginning was cut off. */
export const recordingKinds = ['full', 'front_trimmed'] as const;
export type RecordingKind = (typeof recordingKinds)[number];

/** Reply of `GET /conversations/{id}/video` (rules/media#video; D27). */
export const Video = Type.Object(
  {
    url: Type.String({
      description: 'Relative media path with a marker `?v=` that changes with the file. It needs no token and cannot be guessed.',
    }),
    name: Type.String({ description: 'Name of the stored file.' }),
  },
  { $id: 'Video', description: 'Where the recording can be downloaded.' },
);

/** One stored file of a conversation, as the bulk import compares it. */
export const StoredFile = Type.Object({
  conversation_id: id,
  kind: Type.Enum(['audio', ...recordingKinds]),
  name: Type.String(),
  size_bytes: Type.Integer({ minimum: 0 }),
  sha256: Type.String({ description: 'Lower-case hex.' }),
  finalized: Type.Boolean(),
});
export type StoredFile = Static<typeof StoredFile>;

/**
 * Paths of the two HTTP servers: `/media` of the public one (default port 8081), `/internal` of the one inside (8082). There every request brings
 * an actor for exactly this method and path, from the gateway (`Actor`), or a ticket (`Ticket`, see `issueDownloadTicket`, `issueUploadTicket`);
 * Request-Id and Deadline as on NATS.
 */
export const mediaPaths = Object.freeze({
  /**
   * POST: multipart with file part `audio` → 201 {@link AudioMetadata}. GET, HEAD: the bytes, with ranges and validators.
   * PUT: the bytes themselves, from the bulk import; query `name`, and `attach=false` to leave `infos.audio` alone.
   */
  conversationAudio: (conversationId: number): string => `/internal/conversations/${conversationId}/audio`,
  /** PUT: the bytes of a recording; query `name`, and `finalized=true` for a trimmed one that gives way to the full one (D27). */
  recording: (conversationId: number, kind: RecordingKind): string => `/internal/conversations/${conversationId}/recordings/${kind}`,
  /** POST: multipart with file part `logo` → 200 `{experience}`; errors in the envelope of `/api/v1`. */
  holonLogo: (holonId: number): string => `/internal/holons/${holonId}/logo`,
  /** GET, HEAD: a file that is served without a token; the same path as in the address that clients get. */
  file: (path: { folder: string; owner: string; file: string }): string =>
    `/media/${[path.folder, path.owner, path.file].map(encodeURIComponent).join('/')}`,
});

/** Where a file of the bulk import is PUT. */
export function pathOfStored(conversationId: number, kind: StoredFile['kind']): string {
  return kind === 'audio' ? mediaPaths.conversationAudio(conversationId) : mediaPaths.recording(conversationId, kind);
}

const Ticket = Type.Object({ ticket: Type.String({ description: 'For the header `Ticket`; told this once.' }) });

export const media = defineService({
  service: 'media',
  rpcs: {
    ...jobAdminRpcs('media'),
    ...personDataRpcs,
    getAudioMetadata: rpc({
      subject: 'media.audio.get-meta',
      callers: { transcripts: ownAccount },
      summary: 'Metadata and digest of the canonical audio of a conversation; null when none is stored.',
      request: Type.Object({ conversation_id: id }),
      reply: Type.Object({
        audio: Type.Union([AudioMetadata, Type.Null()]),
        sha256: Type.Union([Type.String({ description: 'SHA-256 of the bytes, lower-case hex.' }), Type.Null()]),
      }),
    }),
    issueDownloadTicket: rpc({
      subject: 'media.tickets.issue-download',
      callers: { transcripts: ownAccount },
      summary: "Lets one GET of a conversation's audio into the internal port, within a minute.",
      request: Type.Object({ conversation_id: id }),
      reply: Ticket,
      idempotent: false,
    }),
    issueUploadTicket: rpc({
      subject: 'admin.media.tickets.issue-upload',
      callers: byOperators,
      summary: 'Lets one PUT of a file of the bulk import into the internal port, within a minute.',
      request: Type.Object({ conversation_id: id, kind: StoredFile.properties.kind }),
      reply: Ticket,
      idempotent: false,
    }),
    getVideo: rpc({
      subject: 'media.recordings.get-video',
      callers: byClients,
      summary: 'Address and name of the recording to show: a trimmed one that is not finalised, else the full one, else what there is.',
      request: Type.Object({ conversation_id: id }),
      reply: Video,
    }),
    listFiles: rpc({
      subject: 'admin.media.files.list-many',
      callers: byOperators,
      summary: 'Audio and recordings that conversations have at present; for the bulk import.',
      request: Type.Object({ conversation_ids: Type.Array(id, { maxItems: 10_000 }) }),
      reply: Type.Object({ items: Type.Array(StoredFile) }),
    }),
    setFinalized: rpc({
      subject: 'admin.media.recordings.set-finalized',
      callers: byOperators,
      summary: 'Marks the trimmed recordings of conversations as finalised or not (D27); those without one are left out.',
      request: Type.Object({
        items: Type.Array(Type.Object({ conversation_id: id, finalized: Type.Boolean() }), { maxItems: 10_000 }),
      }),
      reply: Type.Object({ changed: Type.Array(id, { description: 'Conversations whose recording was another before.' }) }),
    }),
    findOrphans: rpc({
      subject: 'admin.media.files.find-orphans',
      callers: byOperators,
      summary:
        'One page of the comparison of object store and records: objects that no record names, which can be deleted, and records whose object is missing, which are only told.',
      request: Type.Object({
        after: Type.Union([Type.String({ maxLength: 1_024 }), Type.Null()], {
          description: '`next` of the page before; null = from the beginning.',
        }),
        min_age_seconds: Type.Integer({
          minimum: 0,
          maximum: 315_360_000,
          description: 'What is younger is left out: it may be on its way.',
        }),
        delete: Type.Boolean({ description: 'False: only look.' }),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: 'Objects of the page; default 500.' })),
      }),
      reply: Type.Object({
        orphans: Type.Array(
          Type.Object({ key: Type.String(), size_bytes: Type.Integer(), modified_at: Type.String({ format: 'date-time' }) }),
        ),
        missing: Type.Array(Type.Object({ key: Type.String(), blob_id: Type.Integer(), kind: Type.String(), conversation_id: nullableId })),
        deleted: Type.Integer({ description: 'How many of `orphans` are deleted.' }),
        scanned: Type.Integer({ description: 'Objects of this page.' }),
        next: Type.Union([Type.String(), Type.Null()], { description: 'Where the next page begins; null at the end.' }),
      }),
      timeoutMs: 120_000,
    }),
    describeTools: rpc({
      subject: 'admin.media.tools.describe',
      callers: byOperators,
      summary: 'The programs that the jobs of this service need, for `doctor`.',
      request: Type.Object({}),
      reply: Type.Object({
        ffmpeg: Type.Union([Type.String(), Type.Null()], { description: 'Its version; null when it cannot be run.' }),
        hint: Type.Union([Type.String(), Type.Null()], { description: 'What to do when it is missing.' }),
      }),
      timeoutMs: 30_000,
    }),
  },
  jobs: {
    ...jobsOf('media', pipelineJobs),
    followConversation: job({
      startedBy: ['conversations'],
      type: 'media.follow-conversation',
      summary:
        'Looks at the state of a conversation: its files are hidden while it is deleted, shown again, or removed when it is gone (D67).',
      payload: Type.Object({ conversation_id: id }),
      policy: { maxAttempts: Infinity, firstDelayMs: 1_000, maxDelayMs: 900_000, timeoutMs: 60_000, concurrency: 2 },
    }),
    deleteBlob: job({
      type: 'media.delete-blob',
      summary: 'Deletes an object that nothing refers to any more, and its record; delayed so that running downloads can finish.',
      payload: Type.Object({ blob_id: id }),
      policy: { maxAttempts: 50, firstDelayMs: 5_000, maxDelayMs: 3_600_000, timeoutMs: 60_000, concurrency: 2 },
    }),
  },
  events: {},
  consumers: {
    meetingReported: { stream: 'EVENTS', durable: 'media-meeting-reported', filter: 'events.conversations.meeting.reported' },
    conversationDeleted: { stream: 'EVENTS', durable: 'media-conversation-deleted', filter: 'events.conversations.conversation.deleted' },
  },
});
