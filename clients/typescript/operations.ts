/** Written from the route table by `npm run fix`; change the routes, not this file. */
import type { ApiReply, CallOptions, Conditional, NotModified, OperationTable, Upload } from './transport.ts';

/** A participant. */
export type PersonOut = {
  id: number;
  name: string;
  photo: string | null;
  /** Contact values by channel, possibly empty. */
  contact: Record<string, unknown>;
};

/** A holon that the conversation is explicitly linked to. */
export type ConnectedHolon = {
  id: number;
  name: string;
  /** Class slug of the holon. */
  type: string;
  slug: string;
};

/** A question of the conversation's journey. */
export type Question = {
  id: number;
  text: string;
  /** Position in the journey, from 0. */
  order: number;
};

/** A displayed question. */
export type QuestionStateChange = {
  question_id: number;
  /** When the question was displayed. */
  occurred_at: string;
  duration_seconds: number | null;
};

/** Derived from the recorded question changes. */
export type QuestionState = {
  active_question_id: number | null;
  /** Recorded changes in order of `occurred_at`, then of arrival. */
  changes: QuestionStateChange[];
};

/** A conversation, as the operational endpoints return it. */
export type ConversationOut = {
  id: number;
  /** In the order in which they joined. */
  participants: PersonOut[];
  /** Explicitly linked holons; the owning event is not among them. */
  connected: ConnectedHolon[];
  /** Public and display metadata; publishing artefacts live under `infos.publishing`. */
  infos: Record<string, unknown>;
  /** Operational metadata: `booking`, the room state `enter-coherence`, pipeline state and what clients store. */
  config: Record<string, unknown>;
  start: string | null;
  finish: string | null;
  /** Empty when no journey is set. */
  journey_slug: string;
  /** Empty when no journey is set. */
  journey_name: string;
  journey_description: string | null;
  /** Empty when no step is set. */
  step_slug: string;
  /** Empty when no step is set. */
  step_title: string;
  /** Texts of the journey: welcome, enter, post, goodbyeURL; `{}` when not configured. */
  texts: Record<string, unknown>;
  /** Questions in the order of the journey's sequence. */
  questions: Question[];
  /** Increases strictly with every write that changes the conversation; microsecond precision. */
  updated_at: string;
  question_state: QuestionState;
};

export type FrameworkError = {
  detail: string;
};

export type InsufficientScopeError = {
  error: "insufficient_scope";
  message: string;
  /** The scope that the operation needs. */
  required_scope: string;
  /** The scopes that the key has. */
  scopes: string[];
  [key: string]: unknown;
};

export type PersonNotFoundError = {
  error: "person_not_found";
  message: string;
  [key: string]: unknown;
};

export type JourneyNotFoundError = {
  error: "journey_not_found";
  message: string;
  [key: string]: unknown;
};

export type JourneyOwnershipAmbiguousError = {
  error: "journey_ownership_ambiguous";
  message: string;
  [key: string]: unknown;
};

export type InputProblem = {
  /** For example `missing`, `int_parsing`, `string_type`, `enum`. */
  type: string;
  /** Source and path, e.g. `["query", "limit"]`. */
  loc: (string | number)[];
  msg: string;
  ctx?: Record<string, unknown>;
};

export type InvalidInput = {
  detail: InputProblem[];
};

export type PatchConversationBody = {
  /** Public and display metadata. */
  infos?: Record<string, unknown>;
  /** Operational metadata. */
  config?: Record<string, unknown>;
  expected_updated_at?: string | null;
};

export type InvalidNamespacePlacementError = {
  error: "invalid_namespace_placement";
  message: string;
  [key: string]: unknown;
};

export type StaleConversationError = {
  error: "stale_conversation";
  message: string;
  [key: string]: unknown;
};

export type PreconditionFailedError = {
  error: "precondition_failed";
  message: string;
  [key: string]: unknown;
};

export type ConversationDataTooLargeError = {
  error: "conversation_data_too_large";
  message: string;
  [key: string]: unknown;
};

/** All fields are optional. */
export type RecordedWrite = {
  /** Top-level keys replace whole values. */
  infos?: Record<string, unknown>;
  /** Top-level keys replace whole values. */
  config?: Record<string, unknown>;
  captureEndedAt?: string | null;
  expected_updated_at?: string | null;
};

export type InvalidTranscriptWindowError = {
  error: "invalid_transcript_window";
  message: string;
  [key: string]: unknown;
};

export type TranscriptBoundaryConflictError = {
  error: "transcript_boundary_conflict";
  message: string;
  [key: string]: unknown;
};

/** A conversation to create. */
export type ConversationCreate = {
  /** Slug of a conversation journey. */
  journey_slug: string;
  start?: string | null;
  finish?: string | null;
  /** All participants, in their order. */
  participant_ids?: number[];
  /** All linked holons, in their order. */
  connected_slugs?: string[];
  event_slug?: string | null;
  /** Step to enter; default: the first active step. */
  step_slug?: string;
  /** Public and display metadata. */
  infos?: Record<string, unknown>;
  /** Operational metadata. */
  config?: Record<string, unknown>;
};

export type ValidationErrorApiError = {
  error: "validation_error";
  message: string;
  [key: string]: unknown;
};

export type InvalidTimesError = {
  error: "invalid_times";
  message: string;
  [key: string]: unknown;
};

export type CoherenceAccessRequiredError = {
  error: "coherence_access_required";
  message: string;
  [key: string]: unknown;
};

export type IdempotencyInProgressApiError = {
  error: "idempotency_in_progress";
  message: string;
  [key: string]: unknown;
};

export type IdempotencyKeyReusedApiError = {
  error: "idempotency_key_reused";
  message: string;
  [key: string]: unknown;
};

/** Fields to change. */
export type ConversationUpdate = {
  start?: string | null;
  finish?: string | null;
  /** All participants, in their order. */
  participant_ids?: number[];
  /** All linked holons, in their order. */
  connected_slugs?: string[];
  event_slug?: string | null;
  /** Step of the conversation's journey to enter, with its job and event. */
  step_slug?: string;
};

export type PerUserTokenRequiredError = {
  error: "per_user_token_required";
  message: string;
  [key: string]: unknown;
};

export type NotDeletedError = {
  error: "not_deleted";
  message: string;
  [key: string]: unknown;
};

/** A note of a conversation. */
export type ConversationNote = {
  id: number;
  body: string;
  /** `note`, `recorded`, `booking`, `step_change`, …; an open list. Notes written over the API are `note`. */
  note_type: string;
  /** When it was written. */
  created_at: string;
  /** The person who wrote it; null for the system and for accounts without a person. */
  author_person: PersonOut | null;
};

export type ListConversationNotesResult = {
  /** Newest first. */
  items: ConversationNote[];
  next: string | null;
};

export type BadCursorApiError = {
  error: "bad_cursor";
  message: string;
  [key: string]: unknown;
};

export type CreateConversationNoteBody = {
  /** Required. Leading and trailing whitespace is removed. */
  body: string;
};

export type CreateConversationNoteResult = {
  note: ConversationNote;
};

/** Who did it; null for the platform. */
export type TimelineActor = {
  /** Kind of the actor. */
  kind: "account" | "key" | "cli" | "shared" | "person";
  name: string | null;
};

/** The object that it is about. */
export type TimelineLink = {
  /** `note`, `question`, `step`, `webhook_receipt`, `job` or `file`. */
  type: string;
  id: number | string;
};

/** Something that happened to a conversation. */
export type TimelineItem = {
  /** When it happened. */
  at: string;
  /** What happened; more kinds can be added. */
  kind: "conversation.created" | "conversation.updated" | "conversation.deleted" | "conversation.restored" | "booking.applied" | "booking.refused" | "room.opened" | "window.started" | "window.ended" | "step.entered" | "recorded" | "question.shown" | "audio.uploaded" | "video.available" | "transcript.imported" | "transcript.refused" | "transcript.corrected" | "summary.written" | "published" | "job.failed" | "note.created" | "consent.given" | "consent.withdrawn" | "highlight.published" | "highlight.unpublished";
  /** One line in English. */
  title: string;
  actor: TimelineActor | null;
  detail: Record<string, unknown> | null;
  link: TimelineLink | null;
};

export type Timeline = {
  /** Oldest first. */
  items: TimelineItem[];
  /** Services that did not answer. */
  missing: string[];
};

export type ConversationInfos = {
  /** Public and display metadata; `{}` when nothing is stored. */
  infos: Record<string, unknown>;
};

export type PatchConversationInfosBody = {
  /** Public and display metadata. */
  infos: Record<string, unknown>;
};

export type QuestionChange = {
  /** A question of the conversation's journey. */
  questionId: number;
  /** When the question was displayed, with an offset; at most five minutes ahead. */
  occurredAt: string;
};

export type RecordedQuestionChange = {
  ok: boolean;
  conversationId: number;
  questionId: number;
  /** The recorded time in UTC. */
  occurredAt: string;
  /** True when the same change was already recorded with this key. */
  replayed: boolean;
};

export type QuestionNotInJourneyError = {
  error: "question_not_in_journey";
  message: string;
  [key: string]: unknown;
};

export type OccurredAtInFutureError = {
  error: "occurred_at_in_future";
  message: string;
  [key: string]: unknown;
};

export type IdempotencyConflictError = {
  error: "idempotency_conflict";
  message: string;
  [key: string]: unknown;
};

/** A short form of a holon. */
export type HolonRef = {
  id: number;
  slug: string;
  name: string;
  /** Class slug of the holon. */
  type: string;
};

/** The journey of the conversation. */
export type JourneyRef = {
  /** Empty when unset. */
  slug: string;
  /** Empty when unset. */
  name: string;
  /** May be empty. */
  description: string;
};

/** The current step. */
export type StepRef = {
  /** Empty when unset. */
  slug: string;
  /** Empty when unset. */
  title: string;
};

/** A conversation in search results: never with `infos`, `config` or transcript. */
export type ConversationSummary = {
  id: number;
  /** The publishing field `title`; else `Conversation of <date of the start>`, else `Conversation <id>`. */
  title: string;
  event: HolonRef | null;
  journey: JourneyRef;
  step: StepRef;
  start: string | null;
  finish: string | null;
  /** In the order in which they joined. */
  participants: PersonOut[];
  /** Explicitly linked holons; the owning event is not among them. */
  connected: HolonRef[];
};

/** A journey as browse shows it. */
export type JourneyBrowse = {
  id: number;
  slug: string;
  name: string;
  /** May be empty. */
  description: string;
  /** Texts of the journey; `{}` when not configured. */
  texts: Record<string, unknown>;
};

/** A person. */
export type PublicPerson = {
  id: number;
  name: string;
  photo: string | null;
  /** Contact values by channel, possibly empty. */
  contact: Record<string, unknown>;
};

/** The public publishing payload without provenance. */
export type Publishing = {
  /** Publishing fields by name; `{}` when there are none. */
  fields: Record<string, unknown>;
  /** Publishing records by name; `{}` when there are none. */
  records: Record<string, unknown>;
  /** Publishing artifacts by name; `{}` when there are none. */
  artifacts: Record<string, unknown>;
};

/** Summary for pages. */
export type PublicSummary = {
  /** Short public summary; may be empty. */
  summary: string;
  thumbnail: string | null;
  videohost_description: string | null;
};

/** The public view of a conversation, for any valid token. */
export type PublicConversation = {
  id: number;
  /** The publishing field `title`; else `Conversation of <date of the start>`, else `Conversation <id>`. */
  title: string;
  start: string | null;
  finish: string | null;
  step: StepRef;
  /** In the order in which they joined. */
  participants: PublicPerson[];
  /** Explicitly linked holons; the owning event is not among them. */
  connected: HolonRef[];
  publishing: Publishing;
  public: PublicSummary;
};

/** A journey with its conversations. */
export type BrowsedJourney = {
  journey: JourneyBrowse;
  conversations: PublicConversation[];
};

/** An event with its journeys. */
export type BrowsedEvent = {
  id: number;
  slug: string;
  name: string;
  /** Class slug of the holon. */
  type: string;
  /** Directly attached conversation journeys in the order in which they are attached. */
  journeys: BrowsedJourney[];
};

/** A holon with the conversations of its events. */
export type BrowsedEvents = {
  holon: HolonRef;
  /** Immediate child events by name, id. */
  events: BrowsedEvent[];
};

/** A conversation journey of an event. */
export type AttachedJourney = {
  id: number;
  slug: string;
  name: string;
  /** May be empty. */
  description: string;
  source: "direct";
};

/** Conversation journeys of an event. */
export type AttachedJourneys = {
  /** Only journeys attached to the event itself. */
  scope: "direct";
  /** Conversation journeys in the order in which they are attached. */
  items: AttachedJourney[];
};

/** A conversation event below a holon. */
export type ChildEvent = {
  id: number;
  slug: string;
  name: string;
  /** Class slug of the event. */
  type: string;
  journeys: AttachedJourneys;
};

/** A holon with its immediate conversation events. */
export type BrowsedHolon = {
  holon: HolonRef;
  /** Immediate children that are conversation events, by name and id. */
  events: ChildEvent[];
};

/** A holon, as visible with any token. */
export type PublicHolon = {
  id: number;
  slug: string;
  name: string;
  /** Class slug of the holon. */
  type: string;
  /** May be empty. */
  description: string;
  logo: string | null;
  /** Link values by channel, possibly empty. */
  links: Record<string, unknown>;
  /** The custom fields that the holon's class declares, `locations` and `spheres`. */
  infos: Record<string, unknown>;
};

/** A holon whose class is a conversation event. */
export type ConversationEvent = {
  id: number;
  slug: string;
  name: string;
  /** Class slug of the event. */
  type: string;
  parent_id: number | null;
  parent_slug: string | null;
};

/** A conversation journey that the event owns. */
export type EventJourney = {
  id: number;
  slug: string;
  name: string;
  /** May be empty. */
  description: string;
  /** Steps that are not archived. */
  step_count: number;
};

/** A step of a journey, without its configuration. */
export type StepItem = {
  id: number;
  slug: string;
  /** Position in the pipeline. */
  order: number;
  title: string;
  goal: string;
  success_criteria: string;
  starter_message: string;
  is_archived: boolean;
  pipeline_job: string | null;
  /** Changes only with the configuration. */
  updated_at: string;
};

/** The configuration of a journey step's pipeline job. */
export type StepConfig = {
  /** Fields visible by the field policy, with the model's defaults; without a registered job all fields. */
  config: Record<string, unknown>;
  /** Changes only with the configuration. */
  updated_at: string;
};

export type StepConfigWrite = {
  /** Merged recursively: objects key by key, scalars and lists replace, null deletes the key. */
  config: Record<string, unknown>;
  expected_updated_at?: string | null;
};

export type ConfigKeysNotWritableError = {
  error: "config_keys_not_writable";
  message: string;
  [key: string]: unknown;
};

export type InvalidStepConfigError = {
  error: "invalid_step_config";
  message: string;
  [key: string]: unknown;
};

export type StaleConfigError = {
  error: "stale_config";
  message: string;
  [key: string]: unknown;
};

export type RoomClaim = {
  /** Person who claims the name. */
  personId: number;
  /** When it was claimed. */
  claimedAt: string;
};

/** Upserted by `customParticipantId`; omitted and null fields keep their stored values. */
export type RoomParticipant = {
  /** Id of the participant at the meeting provider; key of the entry. */
  customParticipantId: string;
  browserSessionId?: string | null;
  personId?: number | null;
  displayName?: string | null;
  mediaParticipantId?: string | null;
  assignedAt?: string | null;
  lastCredentialIssuedAt?: string | null;
};

/** Every field is optional; send only what changed. */
export type RoomWrite = {
  phase?: string | null;
  version?: number | null;
  expectedVersion?: number | null;
  claims?: Record<string, RoomClaim> | null;
  meetingId?: string | null;
  recordingId?: string | null;
  recordingEndedAt?: string | null;
  participants?: RoomParticipant[] | null;
  conversationStartedAt?: string | null;
  captureEndedAt?: string | null;
  /**
   * Accepted and ignored; the session is derived by the server.
   * @deprecated
   */
  sessionId?: unknown;
};

export type RoomWritten = {
  ok: boolean;
  conversationId: number;
  meetingId: string | null;
  version: number | null;
  phase: string | null;
  participantCount: number;
  conversationStartedAt?: string | null;
  captureEndedAt?: string | null;
  /** Present when the request carried a boundary: both are stored. */
  transcriptWindowComplete?: boolean;
};

export type VersionConflictError = {
  error: "version_conflict";
  message: string;
  [key: string]: unknown;
};

export type MeetingConflictError = {
  error: "meeting_conflict";
  message: string;
  [key: string]: unknown;
};

/** Stored room state with the transcript window. */
export type RoomState = {
  meetingId: string | null;
  recordingId: string | null;
  version: number | null;
  phase: string | null;
  /** Claims by display name; empty before the first write. */
  claims: Record<string, unknown>;
  /** Stored participants; empty before the first write. */
  participants: unknown[];
  conversationStartedAt: string | null;
  captureEndedAt: string | null;
  /** True once both boundaries are stored. */
  transcriptWindowComplete: boolean;
};

export type ReceiveBookingBody = {
  /** `BOOKING_CREATED`, `BOOKING_RESCHEDULED`, `BOOKING_CANCELLED` or `BOOKING_REQUESTED`. */
  triggerEvent: string;
  [key: string]: unknown;
};

export type Accepted = {
  ok: boolean;
};

export type ReceiveMeetingReportBody = {
  /** For example `recording.statusUpdate`, `meeting.transcript`. */
  event: string;
  [key: string]: unknown;
};

/** Metadata of the audio of a conversation. */
export type AudioMetadata = {
  /** Key of the object in the platform's store; it cannot be guessed and is not an address. */
  path: string;
  /** Base name of the uploaded file. */
  name: string;
  /** Media type by the file's extension, e.g. `audio/mpeg`. */
  content_type: string;
  /** Size of the file in bytes. */
  size_bytes: number;
  /** Where the file came from: `upload`. */
  source: string;
  /** When the upload finished. */
  created_at: string;
};

export type InvalidConversationAudioError = {
  error: "invalid_conversation_audio";
  message: string;
  [key: string]: unknown;
};

/** Where the recording can be downloaded. */
export type Video = {
  /** Relative media path with a marker `?v=` that changes with the file. It needs no token and cannot be guessed. */
  url: string;
  /** Name of the stored file. */
  name: string;
};

export type AgentOut = {
  slug: string;
  name: string;
  /** Instructions of the agent; `""` if it has none. */
  prompt: string;
  /** Custom data of the agent; `{}` if it has none. */
  infos: Record<string, unknown>;
};

export type AgentChatIn = {
  /** Message in Markdown. Blank messages return 400. */
  body: string;
  visitor_id?: string | null;
};

export type AgentChatOut = {
  /** Id of the visitor's thread. Keep it secret: it grants access to the thread. */
  visitor_id: string;
  /** `web:visitor:<visitor_id>:agent:<agent_id>`. */
  thread_key: string;
  /** The visitor's message as HTML of the messaging subset. */
  human_html: string;
  /** The reply as HTML of the messaging subset. */
  agent_html: string;
  /** Time of the turn, RFC 3339 with `+00:00`. */
  created_at: string;
  /** An operator has taken the conversation and will answer. `agent_html` contains a notice. */
  waits_for?: "person";
};

export type ReadChatUpdatesBody = {
  /** As returned by sendChatMessage. */
  visitor_id: string;
  /** `next` of the previous response; 0 in the first request. */
  after?: number;
  /** Seconds to wait for a message or a change of `waits_for`. Shorter while the platform is busy. */
  wait?: number;
  waits_for?: "person" | null;
};

export type ChatUpdatesMessagesItem = {
  /** Message of an operator, as HTML of the messaging subset. */
  operator_html: string;
  /** When it was written. */
  created_at: string;
};

export type ChatUpdates = {
  waits_for: "person" | null;
  /** At most 100, oldest first. */
  messages: ChatUpdatesMessagesItem[];
  /** Value of `after` for the next request. */
  next: number;
};

export type ReceiveAgentUpdateBody = {
  /** Number of the update. Each update is processed once. */
  update_id: number;
  /** Telegram's Message. Messages with `text` in a private chat, group or supergroup get a reply. */
  message?: Record<string, unknown>;
};

/** A part of time. */
export type TranscriptSpan = {
  /** Its start, from which all times count. */
  start: string;
  /** Its end. */
  end: string;
};

/** Who spoke. */
export type TranscriptSpeaker = {
  /** The id that `person_id` takes, as text. */
  key: string;
  /** The person; null for an unresolved speaker. */
  person_id: number | null;
  /** The person's present name; else the provider's, or a number. */
  name: string;
};

/** One row: an utterance. */
export type TranscriptSegment = {
  /** Place in the whole transcript, from 0; a filter leaves it as it is. */
  index: number;
  /** Milliseconds from the window's start. */
  start_ms: number;
  /** Milliseconds from the window's start. */
  end_ms: number;
  /** Time of the utterance. Without a window it counts from the conversation's start; null when the start is unknown. */
  started_at: string | null;
  speaker: TranscriptSpeaker;
  /** Text of the utterance, including line breaks. */
  text: string;
};

/** A transcript as data. */
export type Transcript = {
  conversation_id: number;
  /** The window under which the rows were cut; null for rows of a bulk import. */
  window: TranscriptSpan | null;
  /** In order of time. */
  segments: TranscriptSegment[];
};

/** Conversation of the utterance. */
export type SpokenConversation = {
  id: number;
  /** As in search items. */
  title: string;
  /** Scheduled or actual start. */
  start: string | null;
};

/** Utterance. */
export type SpokenSegment = {
  /** Position in the transcript, from 0. */
  index: number;
  /** Milliseconds from the window's start. */
  start_ms: number;
  /** Milliseconds from the window's start. */
  end_ms: number;
  speaker: TranscriptSpeaker;
  /** Text of the utterance; when it is longer than 2000 UTF-16 units, the part around the matched words. */
  text: string;
};

/** Utterance that matches a search. */
export type SpokenMatch = {
  conversation: SpokenConversation;
  segment: SpokenSegment;
  /** Matched words in `text`: half-open ranges of UTF-16 units, in order. */
  highlights: number[][];
  /** Utterance just before; its end when it is longer than 300 UTF-16 units; null at the edge of the transcript. */
  before: string | null;
  /** Utterance just after; its beginning when it is longer than 300 UTF-16 units; null at the edge of the transcript. */
  after: string | null;
};

/** Page of utterances. */
export type SpokenMatches = {
  /** Best first, then newest. Fewer than `limit` when they would be more than 1 MiB, or took too long to find. */
  items: SpokenMatch[];
  /** Cursor of the next page; null at the end. */
  next: string | null;
  /** Matches of all pages: exact when there are few. */
  total_estimate: number;
};

export type InvalidCursorError = {
  error: "invalid_cursor";
  message: string;
  [key: string]: unknown;
};

export type ImportedArtifact = {
  /** Provider session whose artifact was read. */
  sessionId: string;
  /** SHA-256 of the exact bytes of the artifact, lower-case hex. */
  sha256: string;
  /** Size of the artifact in bytes. */
  bytes: number;
};

export type TranscriptWindow = {
  /** Start of the window, explicit offset `+00:00`. */
  conversationStartedAt: string;
  /** End of the window, explicit offset `+00:00`. */
  captureEndedAt: string;
};

/** Rows that were not imported, by reason; always all seven keys. */
export type ExcludedRows = {
  before_window_start: number;
  after_window_end: number;
  crosses_window_start: number;
  crosses_window_end: number;
  transcript_timestamp_ambiguous: number;
  transcript_timestamp_malformed: number;
  empty_sentence: number;
};

export type ImportCounts = {
  /** Rows of the artifact; `accepted` plus every exclusion. */
  raw: number;
  /** Rows wholly inside the window. */
  accepted: number;
  /** Stored transcript rows; null until the install returned. */
  installedSegments: number | null;
  excludedByReason: ExcludedRows;
};

/** Import evidence of one conversation. */
export type ImportEvidence = {
  /** Id of the conversation. */
  conversationId: number;
  /** Result of the latest finished import; `never_ran` until the importer has recorded something. */
  status: "imported" | "install_refused_or_incomplete" | "transcript_window_empty" | "transcript_window_missing" | "invalid_transcript_window" | "legacy_unbounded" | "never_ran";
  /** Null exactly when `status` is `imported`; otherwise equal to it. */
  failureReason: string | null;
  /** True once the conversation has been cut under the window contract; never reverts. */
  contractImport: boolean;
  /** The provider artifact; null when none was fetched. */
  artifact: ImportedArtifact | null;
  /** The approved transcript window; null when there is no usable one. */
  window: TranscriptWindow | null;
  /** Row counts of the filter; null when it has not run. */
  counts: ImportCounts | null;
};

export type LoginBody = {
  email: string;
  password: string;
};

/** A person of the shared directory. */
export type PersonPublic = {
  id: number;
  name: string;
  /** Rich text, possibly empty. */
  description: string;
  photo_url: string | null;
  /** For example `human`. */
  actor_kind: string;
  /** Contact values by channel, such as `email`, `phone`, `linkedin`; possibly empty. */
  contact: Record<string, unknown>;
};

export type LoginResult = {
  /** `svc_agentic_<session_key>_<secret>`. Returned only once. */
  token: string;
  token_type: "Bearer";
  /** With explicit offset. */
  expires_at: string;
  expires_in_seconds: number;
  person: PersonPublic;
};

export type ValidationError = {
  code: "validation_error";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type UnauthenticatedError = {
  code: "unauthenticated";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type PermissionDeniedError = {
  code: "permission_denied";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type RateLimitedError = {
  code: "rate_limited";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type ServerError = {
  code: "server_error";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type LogoutResult = {
  revoked: boolean;
};

/** Service key of the request; null for session tokens. */
export type WhoamiResultKey = {
  id: string;
  name: string;
  scopes: string[];
};

export type WhoamiResult = {
  authenticated: boolean;
  person: PersonPublic;
  key: WhoamiResultKey | null;
};

export type ChangePasswordBody = {
  /** The current password. */
  current: string;
  /** 12 to 128 characters. Common passwords are rejected. */
  new: string;
};

export type ChangePasswordResult = {
  changed: boolean;
  /** Number of revoked sessions, including the session of the request. */
  revoked_sessions: number;
};

export type WeakPasswordError = {
  code: "weak_password";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type PublicPasswordError = {
  code: "public_password";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type WrongPasswordError = {
  code: "wrong_password";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

/** An active login session. */
export type Session = {
  /** Identifier of the session, not secret: the part of the token between the second and third `_`. */
  id: string;
  /** Time of the login. */
  created_at: string;
  /** Time at which it expires. */
  expires_at: string;
  /** Whether it is the session of this request. */
  current: boolean;
};

export type ListSessionsResult = {
  /** Total number of matches. */
  count: number;
  limit: number;
  offset: number;
  /** Whether more matches follow. */
  has_more: boolean;
  items: Session[];
};

export type RevokeSessionResult = {
  revoked: boolean;
};

export type NotFoundError = {
  code: "not_found";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

/** A person, in lists and search results. */
export type PersonListItem = {
  id: number;
  name: string;
  /** Rich text, possibly empty. */
  description: string;
  photo_url: string | null;
  /** For example `human`. */
  actor_kind: string;
  /** Contact values by channel, such as `email`, `phone`, `linkedin`; possibly empty. */
  contact: Record<string, unknown>;
  /** Creation time. */
  created_at: string;
  /** Time of the last change. */
  updated_at: string;
};

export type PersonHit = {
  kind: "person";
  id: number;
  /** Best match: exact 1, start of the name 0.8, start of a word 0.6, anywhere 0.4, description 0.2. */
  score: number;
  /** `channel`: a contact value of a person, a link value of a holon. */
  matched_field: "name" | "channel" | "description";
  person: PersonListItem;
};

/** A holon, in lists and search results. */
export type HolonListItem = {
  id: number;
  name: string;
  slug: string;
  /** Slug of the class. Classes absent from the class list are retired. */
  type: string;
  /** Rich text, possibly empty. */
  description: string;
  parent_id: number | null;
  logo_url: string | null;
  /** Link values by channel, possibly empty. */
  links: Record<string, unknown>;
  /** Creation time. */
  created_at: string;
  /** Time of the last change. */
  updated_at: string;
};

export type HolonHit = {
  kind: "holon";
  id: number;
  /** Best match: exact 1, start of the name 0.8, start of a word 0.6, anywhere 0.4, description 0.2. */
  score: number;
  /** `channel`: a contact value of a person, a link value of a holon. */
  matched_field: "name" | "channel" | "description";
  holon: HolonListItem;
};

/** A result. Sorted by score, name and id. */
export type SearchHit = PersonHit | HolonHit;

export type SearchDirectoryResult = {
  query: string;
  types: ("person" | "holon")[];
  limit_per_type: number;
  /** Results returned. */
  count: number;
  items: SearchHit[];
};

export type InsufficientScopeV1Error = {
  code: "insufficient_scope";
  message: string;
  retryable: boolean;
  /** The scope that the operation needs. */
  required_scope: string;
  /** The scopes that the key has. */
  scopes: string[];
  [key: string]: unknown;
};

export type ListPeopleResult = {
  query: string;
  /** Total number of matches. */
  count: number;
  limit: number;
  offset: number;
  /** Whether more matches follow. */
  has_more: boolean;
  items: PersonListItem[];
};

export type ListHolonsResult = {
  query: string | null;
  class: string | null;
  parent: number | null;
  /** Total number of matches. */
  count: number;
  limit: number;
  offset: number;
  /** Whether more matches follow. */
  has_more: boolean;
  items: HolonListItem[];
};

/** A holon, with more fields for callers who can edit it. */
export type HolonDetail = {
  id: number;
  name: string;
  slug: string;
  /** Slug of the class. Classes absent from the class list are retired. */
  type: string;
  /** Rich text, possibly empty. */
  description: string;
  parent_id: number | null;
  logo_url: string | null;
  /** Link values by channel, possibly empty. */
  links: Record<string, unknown>;
  /** Values by key of the class's `info_field_groups`. Only for callers who can edit the holon, like the next three fields. */
  info_fields?: Record<string, unknown>;
  /** Countries as ISO 3166-1 alpha-2 codes. */
  locations?: string[];
  /** Ids of spheres. */
  spheres?: number[];
  /** Journeys of the holon itself, in order. */
  journey_ids?: number[];
};

/** An info field. */
export type InfoField = {
  /** Key of `info_fields` and of the stored infos. */
  key: string;
  /** text, long_text, rich_text, select, multi_select, number, boolean, date, url, video or slideshow. */
  type: string;
  label?: string;
  /** Choices of a select or multi_select. */
  options?: unknown[];
  [key: string]: unknown;
};

export type InfoFieldGroup = {
  key: string;
  label?: string;
  fields?: InfoField[];
  [key: string]: unknown;
};

/** Configuration of the class. */
export type ClassConfig = {
  /** Always present for holon classes: groups of info fields of their holons. */
  info_field_groups?: InfoFieldGroup[];
  [key: string]: unknown;
};

/** A setting of a journey or step. */
export type ConfigFlag = {
  key: string;
  /** The effective value: stored or default. */
  value: unknown;
  /** False if the default applies. */
  is_set: boolean;
};

/** Totals, including private holons. */
export type JourneyUsage = {
  /** Holons to which the journey is attached directly. */
  holon_direct_count: number;
  /** Memberships on the journey. */
  membership_count: number;
  /** Relationships on the journey. */
  relationship_count: number;
};

/** A journey, in lists. */
export type JourneyListItem = {
  id: number;
  slug: string;
  name: string;
  /** May be empty. */
  description: string;
  /** Slug of the owning application; may be empty. */
  svc_app_slug: string;
  applies_to_slug: string | null;
  applies_to_label: string | null;
  /** For example `holon`. */
  object_kind: string;
  is_conversation: boolean;
  public_visible: boolean;
  /** `bulk_add`: whether people can be added in bulk. */
  config_flags: ConfigFlag[];
  /** Steps that are not archived. */
  step_count: number;
  usage: JourneyUsage;
};

/** A class of objects. */
export type ObjectClassPublic = {
  /** For example `holon`. */
  object_kind: string;
  slug: string;
  label: string;
  plural_label: string;
  /** May be empty. */
  description: string;
  sort_order: number;
  is_system: boolean;
  is_active: boolean;
  icon_url: string | null;
  config: ClassConfig;
  /** Effective catalogue: journeys of the class, then of its ancestors, nearest first, each in catalogue order. */
  journeys: JourneyListItem[];
  parent: string | null;
  /** Its holons are conversation events. */
  conversation_event: boolean;
  /** Marked as private itself; subclasses of a private class are private too. */
  private: boolean;
  /** Marked itself; subclasses inherit it. */
  name_read_only: boolean;
  /** Slugs of classes of direct children. */
  allowed_children: string[];
  /** Slugs of the journeys of the class itself. */
  own_journeys: string[];
  /** `config` without inherited info fields. */
  own_config: Record<string, unknown>;
};

export type ListJourneysResult = {
  /** Total number of matches. */
  count: number;
  limit: number;
  offset: number;
  /** Whether more matches follow. */
  has_more: boolean;
  items: JourneyListItem[];
};

/** Totals, including private holons. */
export type StepUsage = {
  /** Memberships at the step. */
  membership_count: number;
  /** Relationships at the step. */
  relationship_count: number;
};

/** A step of a journey. */
export type JourneyStepItem = {
  slug: string;
  /** Position in the journey. */
  order: number;
  title: string;
  goal: string;
  success_criteria: string;
  starter_message: string;
  /** Archived steps cannot be the target of a move. */
  is_archived: boolean;
  /** `pipeline_job`: the job that starts when the step is entered, or null. */
  config_flags: ConfigFlag[];
  usage: StepUsage;
};

/** A journey with its steps. */
export type Journey = {
  id: number;
  slug: string;
  name: string;
  /** May be empty. */
  description: string;
  /** Slug of the owning application; may be empty. */
  svc_app_slug: string;
  applies_to_slug: string | null;
  applies_to_label: string | null;
  /** For example `holon`. */
  object_kind: string;
  is_conversation: boolean;
  public_visible: boolean;
  /** `bulk_add`: whether people can be added in bulk. */
  config_flags: ConfigFlag[];
  /** Steps that are not archived. */
  step_count: number;
  usage: JourneyUsage;
  /** Page texts, e.g. `welcome`, `enter`, `post`, `goodbyeURL`. */
  texts: Record<string, unknown>;
  /** In order, including archived ones. */
  steps: JourneyStepItem[];
};

export type ClassCreate = {
  /** Letters, digits, `-`, `_`, `.` and `~`. */
  slug: string;
  /** Default: `holon`. */
  object_kind?: string;
  parent?: string | null;
  /** Label in the singular. Default: the slug. */
  label?: string;
  /** Label in the plural. Default: the label. */
  plural_label?: string;
  /** Help text for selecting a class. */
  description?: string;
  /** Position in lists. */
  sort_order?: number;
  /** Provided by the platform. */
  is_system?: boolean;
  /** Default true. False retires the class: its holons remain, but new ones cannot have it. */
  is_active?: boolean;
  icon_url?: string | null;
  /** Its holons are conversation events. */
  conversation_event?: boolean;
  /** Its holons are visible only to accounts with team authority and global editors. */
  private?: boolean;
  /** The API rejects changes of the name. */
  name_read_only?: boolean;
  /** Slugs of classes of direct children. Replaces the list. */
  allowed_children?: string[];
  /** Slugs of journeys of its holons, in order. Replaces the list. */
  journeys?: string[];
  /** `info_field_groups` and other keys. Merged per key; null removes a key. */
  config?: Record<string, unknown>;
};

export type CreateClassResult = {
  class: ObjectClassPublic;
};

export type SlugTakenError = {
  code: "slug_taken";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type IdempotencyInProgressError = {
  code: "idempotency_in_progress";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type ConflictError = {
  code: "conflict";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type IdempotencyKeyReusedError = {
  code: "idempotency_key_reused";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type ClassUpdate = {
  parent?: string | null;
  /** Label in the singular. Default: the slug. */
  label?: string;
  /** Label in the plural. Default: the label. */
  plural_label?: string;
  /** Help text for selecting a class. */
  description?: string;
  /** Position in lists. */
  sort_order?: number;
  /** Provided by the platform. */
  is_system?: boolean;
  /** Default true. False retires the class: its holons remain, but new ones cannot have it. */
  is_active?: boolean;
  icon_url?: string | null;
  /** Its holons are conversation events. */
  conversation_event?: boolean;
  /** Its holons are visible only to accounts with team authority and global editors. */
  private?: boolean;
  /** The API rejects changes of the name. */
  name_read_only?: boolean;
  /** Slugs of classes of direct children. Replaces the list. */
  allowed_children?: string[];
  /** Slugs of journeys of its holons, in order. Replaces the list. */
  journeys?: string[];
  /** `info_field_groups` and other keys. Merged per key; null removes a key. */
  config?: Record<string, unknown>;
};

export type FieldChange = {
  old: unknown;
  new: unknown;
};

export type UpdateClassResult = {
  class: ObjectClassPublic;
  /** Changed fields of the request with old and new values. */
  changes: Record<string, FieldChange>;
};

export type PreconditionFailedV1Error = {
  code: "precondition_failed";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type InUseError = {
  code: "in_use";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type JourneyCreateStepsItem = {
  /** Letters, digits, `-`, `_`, `.` and `~`. */
  slug: string;
  /** Display name. */
  title?: string;
  /** Goal of the step. */
  goal?: string;
  /** Criteria for its completion. */
  success_criteria?: string;
  /** Suggested first message. */
  starter_message?: string;
  /** Archived steps cannot be the target of a move. */
  is_archived?: boolean;
  pipeline_job?: string | null;
};

export type JourneyCreateQuestionsItem = {
  /** Text of the question. Must not be blank. */
  text: string;
  /** Archived questions are not displayed in conversations. */
  is_archived?: boolean;
};

export type JourneyCreate = {
  /** Letters, digits, `-`, `_`, `.` and `~`. */
  slug: string;
  /** Display name. */
  name: string;
  /** Purpose of the journey. */
  description?: string;
  /** Application that displays the journey. */
  svc_app?: string;
  /** Kind of its objects. Default: `holon`. */
  object_kind?: string;
  applies_to?: string | null;
  /** Conversations use this journey. */
  is_conversation?: boolean;
  /** Visible to all callers with a token. */
  public_visible?: boolean;
  /** Allows adding many people at once. */
  bulk_add?: boolean;
  /** Page texts, e.g. `welcome`; `goodbyeURL` is an http(s) link. Replaces all texts. */
  texts?: Record<string, unknown>;
  /** Steps in their order. */
  steps?: JourneyCreateStepsItem[];
  /** Questions in their order: texts, or objects. */
  questions?: (string | JourneyCreateQuestionsItem)[];
};

export type CreateJourneyResult = {
  journey: Journey;
};

export type JourneyUpdate = {
  /** Display name. */
  name?: string;
  /** Purpose of the journey. */
  description?: string;
  /** Application that displays the journey. */
  svc_app?: string;
  /** Kind of its objects. Default: `holon`. */
  object_kind?: string;
  applies_to?: string | null;
  /** Conversations use this journey. */
  is_conversation?: boolean;
  /** Visible to all callers with a token. */
  public_visible?: boolean;
  /** Allows adding many people at once. */
  bulk_add?: boolean;
  /** Page texts, e.g. `welcome`; `goodbyeURL` is an http(s) link. Replaces all texts. */
  texts?: Record<string, unknown>;
};

export type UpdateJourneyResult = {
  journey: Journey;
  /** Changed fields of the request with old and new values. */
  changes: Record<string, FieldChange>;
};

export type StepCreate = {
  /** Letters, digits, `-`, `_`, `.` and `~`. */
  slug: string;
  /** Display name. */
  title: string;
  /** Goal of the step. */
  goal?: string;
  /** Criteria for its completion. */
  success_criteria?: string;
  /** Suggested first message. */
  starter_message?: string;
  /** Archived steps cannot be the target of a move. */
  is_archived?: boolean;
  pipeline_job?: string | null;
  /** Position from 0, archived ones included. Default, and beyond the last position: last. */
  position?: number;
};

/** A step of a journey. */
export type Step = {
  slug: string;
  /** Position in the journey. */
  order: number;
  title: string;
  goal: string;
  success_criteria: string;
  starter_message: string;
  /** Archived steps cannot be the target of a move. */
  is_archived: boolean;
  /** `pipeline_job`: the job that starts when the step is entered, or null. */
  config_flags: ConfigFlag[];
  usage: StepUsage;
  id: number;
  /** The same as `order`. */
  position: number;
  pipeline_job: string | null;
};

export type CreateStepResult = {
  step: Step;
};

export type StepUpdate = {
  /** Display name. */
  title?: string;
  /** Goal of the step. */
  goal?: string;
  /** Criteria for its completion. */
  success_criteria?: string;
  /** Suggested first message. */
  starter_message?: string;
  /** Archived steps cannot be the target of a move. */
  is_archived?: boolean;
  pipeline_job?: string | null;
  /** Position from 0, archived ones included. Default, and beyond the last position: last. */
  position?: number;
};

export type UpdateStepResult = {
  step: Step;
  /** Changed fields of the request with old and new values. */
  changes: Record<string, FieldChange>;
};

/** A question of a journey. */
export type JourneyQuestion = {
  id: number;
  text: string;
  /** From 0, over all questions of the journey. */
  position: number;
  /** Not displayed in conversations; remains in recorded changes. */
  is_archived: boolean;
};

export type ListQuestionsResult = {
  /** By position. */
  items: JourneyQuestion[];
  next: string | null;
};

export type QuestionCreate = {
  /** Text of the question. Must not be blank. */
  text: string;
  /** Position from 0, archived ones included. Default, and beyond the last position: last. */
  position?: number;
  /** Archived questions are not displayed in conversations. */
  is_archived?: boolean;
};

export type CreateQuestionResult = {
  question: JourneyQuestion;
};

export type QuestionUpdate = {
  /** Text of the question. Must not be blank. */
  text?: string;
  /** Position from 0, archived ones included. Default, and beyond the last position: last. */
  position?: number;
  /** Archived questions are not displayed in conversations. */
  is_archived?: boolean;
};

export type UpdateQuestionResult = {
  question: JourneyQuestion;
  /** Changed fields of the request with old and new values. */
  changes: Record<string, FieldChange>;
};

/** Contact values by channel, such as `email`, `linkedin`, `phone`, `website`. Blank values are dropped. A value with a scheme must be a link: http, https, mailto or tel. Other values are text. */
export type ContactCreate = {
  email?: string | null;
  linkedin?: string | null;
} & Record<string, string | null>;

/** First membership of the person. */
export type FirstMembership = {
  /** Holon to join. */
  holon_id: number;
  /** A journey of the catalogue of the holon's class. */
  journey_slug: string;
  step_slug?: string | null;
  follow_up_after?: string | null;
  responsible_person_id?: number | null;
};

export type PersonCreate = {
  /** Must not be blank. Leading and trailing whitespace is removed. Several people can have the same name. */
  name: string;
  /** Rich text, sanitised with the web editor's allowlist. */
  description?: string;
  /** Default `human`. */
  actor_kind?: string;
  photo_url?: string | null;
  contact?: ContactCreate;
  membership?: FirstMembership | null;
  note?: string | null;
};

/** A group, event or other entity of the network. */
export type HolonPublic = {
  id: number;
  name: string;
  slug: string;
  /** Slug of the class. Classes absent from the class list are retired. */
  type: string;
  /** Rich text, possibly empty. */
  description: string;
  parent_id: number | null;
  logo_url: string | null;
  /** Link values by channel, possibly empty. */
  links: Record<string, unknown>;
};

/** A person in a holon, at a step of a journey. */
export type Membership = {
  membership_id: number;
  journey_slug: string | null;
  step_slug: string | null;
  journey_name: string | null;
  step_title: string | null;
  follow_up_after: string | null;
  responsible_person: PersonPublic | null;
  person: PersonPublic;
  holon: HolonPublic;
};

/** A note. */
export type NoteItem = {
  id: number;
  body: string;
  /** E.g. `note`, `system`, `booking` or `booking_error`; more can be added. Notes created through this API are always `note`. */
  note_type: string;
  /** Creation time. */
  created_at: string;
  author_person: PersonPublic | null;
};

export type CreatePersonResult = {
  person: PersonPublic;
  membership: Membership | null;
  note: NoteItem | null;
};

/** The person already exists; nothing was written. */
export type DuplicatePerson = {
  code: "duplicate_person";
  message: string;
  retryable: boolean;
  /** `contact.email` if both match. */
  match_field: "contact.email" | "contact.linkedin";
  /** As it was sent. */
  match_value: string;
  /** Ascending. */
  existing_person_ids: number[];
};

/** Merged per channel; null and blank values remove the channel. Values are checked as on creation. Only superusers can change `telegram_user_id`. */
export type ContactUpdate = {
  email?: string | null;
  linkedin?: string | null;
} & Record<string, string | null>;

export type PersonUpdate = {
  /** Must not be blank. Leading and trailing whitespace is removed. Several people can have the same name. */
  name?: string;
  /** Rich text, sanitised with the web editor's allowlist. */
  description?: string;
  photo_url?: string | null;
  contact?: ContactUpdate;
};

/** Changed fields with old and new values; `contact` with all channels. */
export type PersonChanges = {
  name?: FieldChange;
  description?: FieldChange;
  photo_url?: FieldChange;
  contact?: FieldChange;
};

export type UpdatePersonResult = {
  person: PersonPublic;
  changes: PersonChanges;
};

/** A person's data by part, as in the archive of `people export`. */
export type PersonExport = {
  person: unknown[];
  accounts: unknown[];
  memberships: unknown[];
  'responsible-memberships': unknown[];
  'responsible-relationships': unknown[];
  notes: unknown[];
  'step-config-changes': unknown[];
  conversations: unknown[];
  files: unknown[];
  transcript: unknown[];
  agents: unknown[];
  'webhook-endpoints': unknown[];
};

export type ErasureCreate = {
  /** The exact name of the person. */
  confirm: string;
  /** Also the chats of these visitors of the chat page. */
  visitor_ids?: string[];
  /** Also the chats of these Telegram users. */
  telegram_user_ids?: number[];
  /** Count what would be removed, without changing anything. */
  dry_run?: boolean;
};

export type ErasurePreview = {
  /** Rows that would be removed, by service. */
  counts: Record<string, Record<string, number>>;
};

export type StartedErasure = {
  /** Id of the erasure. */
  id: number;
  /** `failed`: an operator has to act. Temporary failures are retried while the state is `running`. */
  state: "running" | "done" | "failed";
};

export type ErasePersonResult = {
  erasure: StartedErasure;
};

export type LastSuperuserError = {
  code: "last_superuser";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type ErasureServicesItem = {
  service: "transcripts" | "conversations" | "media" | "agents" | "events" | "directory";
  /** `failed`: the last attempt failed; it is repeated while the erasure is `running`. */
  state: "running" | "done" | "failed";
  error: string | null;
  /** Removed rows by kind. */
  counts: Record<string, number>;
};

/** The erasure of a person, by service. */
export type Erasure = {
  /** Id of the erasure. */
  id: number;
  /** `failed`: an operator has to act. Temporary failures are retried while the state is `running`. */
  state: "running" | "done" | "failed";
  /** In the order of the erasure. */
  services: ErasureServicesItem[];
  /** Start of the erasure. */
  started_at: string;
  finished_at: string | null;
};

export type GetPersonErasureResult = {
  erasure: Erasure;
};

export type MergeTarget = {
  /** Id of the surviving person. */
  into: number;
  /** Return the result without changing anything. */
  dry_run?: boolean;
};

export type MergePersonResult = {
  person: PersonPublic;
  /** Moved rows by kind. */
  counts: Record<string, number>;
};

export type HolonCreate = {
  /** Must not be blank. Leading and trailing whitespace is removed. */
  name: string;
  /** Slug of an active class of holons. */
  class: string;
  parent_id?: number | null;
  slug?: string | null;
  /** Rich text, sanitised with the web editor's allowlist. */
  description?: string;
  /** Links by channel (http, https, mailto or tel). Replaces all links. Blank values are dropped. */
  links?: Record<string, string>;
  /** Countries as ISO 3166-1 alpha-2 codes, in any case. */
  locations?: string[];
  /** Ids of active spheres. */
  spheres?: number[];
  /** Values by key of the class's `info_field_groups`; null removes a value. select and multi_select require lists of strings; unknown options are dropped. */
  info_fields?: Record<string, unknown>;
  /** Journeys of the holon, in order. Replaces all journeys. Requires global edit access. */
  journey_ids?: number[];
};

export type CreateHolonResult = {
  holon: HolonDetail;
};

/** Counts include objects that the caller cannot see. */
export type HolonUses = {
  /** Holons directly below. */
  children: number;
  memberships: number;
  relationships: number;
  /** Includes deleted conversations that can be restored (D67). */
  conversations: number;
};

/** Other objects depend on the holon; nothing was deleted. */
export type HolonInUse = {
  code: "in_use";
  message: string;
  retryable: boolean;
  counts: HolonUses;
};

export type HolonUpdate = {
  /** Must not be blank. Leading and trailing whitespace is removed. Rejected when the class marks names as read-only. */
  name?: string;
  /** Rich text, sanitised with the web editor's allowlist. */
  description?: string;
  /** Links by channel (http, https, mailto or tel). Replaces all links. Blank values are dropped. */
  links?: Record<string, string>;
  /** Countries as ISO 3166-1 alpha-2 codes, in any case. */
  locations?: string[];
  /** Ids of active spheres. */
  spheres?: number[];
  /** Values by key of the class's `info_field_groups`; null removes a value. select and multi_select require lists of strings; unknown options are dropped. */
  info_fields?: Record<string, unknown>;
  /** Journeys of the holon, in order. Replaces all journeys. Requires global edit access. */
  journey_ids?: number[];
  /** Letters, digits, `-`, `_`, `.` and `~`. Must be unique. */
  slug?: string;
  parent_id?: number | null;
};

/** Changed fields with old and new values; of `info_fields` only changed keys. */
export type HolonChanges = {
  name?: FieldChange;
  slug?: FieldChange;
  parent_id?: FieldChange;
  description?: FieldChange;
  links?: FieldChange;
  locations?: FieldChange;
  spheres?: FieldChange;
  info_fields?: FieldChange;
  journey_ids?: FieldChange;
};

export type UpdateHolonResult = {
  holon: HolonDetail;
  changes: HolonChanges;
};

export type ExperienceCreate = {
  /** Holon whose class allows an experience class as a child. */
  parent_id: number;
  /** Must not be blank. Leading and trailing whitespace is removed. */
  name: string;
  /** Rich text, sanitised with the web editor's allowlist. Must not be blank. */
  description: string;
  /** An experience class that the parent allows. Default: its first one. */
  svc_class?: string | null;
  /** Values by key of the class's `info_field_groups`; null removes a value. select and multi_select require lists of strings; unknown options are dropped. */
  info_fields?: Record<string, unknown>;
};

export type CreateExperienceResult = {
  experience: HolonPublic;
};

export type UploadExperienceLogoResult = {
  experience: HolonPublic;
};

/** A membership, in lists of a person. */
export type MembershipWithHolon = {
  membership_id: number;
  journey_slug: string | null;
  step_slug: string | null;
  journey_name: string | null;
  step_title: string | null;
  follow_up_after: string | null;
  responsible_person: PersonPublic | null;
  holon: HolonPublic;
};

export type ListPersonMembershipsResult = {
  /** Total number of matches. */
  count: number;
  limit: number;
  offset: number;
  /** Whether more matches follow. */
  has_more: boolean;
  items: MembershipWithHolon[];
};

/** A membership, in lists of a holon. */
export type MembershipWithPerson = {
  membership_id: number;
  journey_slug: string | null;
  step_slug: string | null;
  journey_name: string | null;
  step_title: string | null;
  follow_up_after: string | null;
  responsible_person: PersonPublic | null;
  person: PersonPublic;
};

export type ListHolonMembershipsResult = {
  /** Total number of matches. */
  count: number;
  limit: number;
  offset: number;
  /** Whether more matches follow. */
  has_more: boolean;
  items: MembershipWithPerson[];
};

export type MembershipCreate = {
  /** Person that joins. */
  person_id: number;
  /** Holon to join. */
  holon_id: number;
  /** A journey of the catalogue of the holon's class. */
  journey_slug: string;
  step_slug?: string | null;
  follow_up_after?: string | null;
  responsible_person_id?: number | null;
  note?: string | null;
};

export type CreateMembershipResult = {
  membership: Membership;
};

/** The person has a membership on that journey in the holon. */
export type ExistingMembership = {
  code: "already_present";
  message: string;
  retryable: boolean;
  membership_id: number | null;
};

export type MembershipUpdate = {
  /** Required. Leading and trailing whitespace is removed. */
  note: string;
  follow_up_after?: string | null;
  /** Active step of the current journey, or of `journey_slug` if given. */
  step_slug?: string;
  /** Moves to the next active step. Cannot be combined with `step_slug` or `journey_slug`. */
  advance_step?: boolean;
  responsible_person_id?: number | null;
  /** Moves to another journey of the same holon; requires `step_slug`. */
  journey_slug?: string;
};

/** Old and new value: slug of a journey or step, or date; null if absent. */
export type TextChange = {
  old: string | null;
  new: string | null;
};

/** Changed fields only; `current_step` also if the new step has the same slug. */
export type MembershipChanges = {
  journey?: TextChange;
  current_step?: TextChange;
  follow_up_after?: TextChange;
};

export type UpdateMembershipResult = {
  membership: Membership;
  note: NoteItem;
  changes: MembershipChanges;
};

export type BulkAddItem = {
  /** Id of the person. */
  person_id: number;
  /** Slug of the journey. */
  journey_slug?: string;
  /** Active step of the journey. Default: the first one. */
  step_slug?: string;
  follow_up_after?: string | null;
  responsible_person_id?: number | null;
};

export type BulkAdd = {
  memberships: BulkAddItem[];
  /** Default for items. */
  journey_slug?: string;
  /** Default for items. */
  step_slug?: string;
};

export type BulkAddedItem = {
  index: number;
  person_id: number;
  journey_slug: string | null;
  /**
   * - `created`: It was created.
   * - `already_present`: It existed, or an earlier item created it; unchanged.
   * - `person_not_found`: The person does not exist.
   * - `journey_not_found`: The journey does not exist or is not given.
   * - `journey_not_allowed`: The journey is not in the catalogue of the holon's class.
   * - `bulk_add_not_permitted`: The journey does not permit bulk addition.
   * - `invalid_step`: The journey does not have this active step.
   * - `invalid_field`: The date is malformed, or the responsible person has no account.
   */
  outcome: "created" | "already_present" | "person_not_found" | "journey_not_found" | "journey_not_allowed" | "bulk_add_not_permitted" | "invalid_step" | "invalid_field";
  membership_id: number | null;
  message: string | null;
};

export type BulkAdded = {
  /** Items of the request. */
  count: number;
  /** Items with this outcome. */
  created: number;
  /** Items with this outcome. */
  already_present: number;
  /** Items with another outcome. */
  failed: number;
  /** In the order of the request. */
  items: BulkAddedItem[];
};

export type BulkInProgressError = {
  code: "bulk_in_progress";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

/** A relation between two holons, at a step of a journey. */
export type Relationship = {
  relationship_id: number;
  from_holon: HolonPublic;
  to_holon: HolonPublic;
  journey_name: string | null;
  step_title: string | null;
  follow_up_after: string | null;
  responsible_person: PersonPublic | null;
};

export type ListHolonRelationshipsResult = {
  /** Total number of matches. */
  count: number;
  /** By journey name, name of the other side and id. */
  items: Relationship[];
};

export type RelationshipCreate = {
  /** One holon. */
  from_holon_id: number;
  /** The other holon. */
  to_holon_id: number;
  journey_slug?: string | null;
  step_slug?: string | null;
  follow_up_after?: string | null;
  responsible_person_id?: number | null;
  note?: string | null;
};

export type CreateRelationshipResult = {
  relationship: Relationship;
};

/** The same relationship of the holons on that journey exists. */
export type ExistingRelationship = {
  code: "already_present";
  message: string;
  retryable: boolean;
  /** The existing relationship. */
  relationship_id: number;
};

export type RelationshipUpdate = {
  /** Required. Leading and trailing whitespace is removed. */
  note: string;
  follow_up_after?: string | null;
  /** Active step to move to. */
  step_slug?: string;
  /** Moves to the next active step. Cannot be combined with `step_slug`. */
  advance_step?: boolean;
};

/** Changed fields only; `current_step` also if the new step has the same slug. */
export type RelationshipChanges = {
  current_step?: TextChange;
  follow_up_after?: TextChange;
};

export type UpdateRelationshipResult = {
  relationship: Relationship;
  note: NoteItem;
  changes: RelationshipChanges;
};

export type ListNotesOfPersonResult = {
  /** Total number of matches. */
  count: number;
  limit: number;
  /** Newest first. */
  items: NoteItem[];
};

export type ListNotesOfHolonResult = {
  /** Total number of matches. */
  count: number;
  limit: number;
  /** Newest first. */
  items: NoteItem[];
};

export type PersonNoteCreate = {
  /** Must not be blank. Leading and trailing whitespace is removed. */
  body: string;
  holon_id?: number | null;
};

export type CreatePersonNoteResult = {
  note: NoteItem;
};

export type HolonNoteCreate = {
  /** Must not be blank. Leading and trailing whitespace is removed. */
  body: string;
};

export type CreateHolonNoteResult = {
  note: NoteItem;
};

export type NoteUpdate = {
  /** Must not be blank. Leading and trailing whitespace is removed. */
  body: string;
};

export type NoteChangesBody = {
  old: string;
  new: string;
};

/** Changed fields only. */
export type NoteChanges = {
  body?: NoteChangesBody;
};

export type UpdateNoteResult = {
  note: NoteItem;
  changes: NoteChanges;
};

export type WorklistMembership = {
  kind: "person";
  id: number;
  journey_name: string | null;
  step_title: string | null;
  follow_up_after: string | null;
  responsible_person: PersonPublic | null;
  person: PersonPublic;
  holon: HolonPublic;
};

export type WorklistRelationship = {
  kind: "holon";
  id: number;
  journey_name: string | null;
  step_title: string | null;
  follow_up_after: string | null;
  responsible_person: PersonPublic | null;
  from_holon: HolonPublic;
  to_holon: HolonPublic;
};

/** An item to follow up: a membership (`person`) or relationship (`holon`), with its id. */
export type WorklistItem = WorklistMembership | WorklistRelationship;

export type ListResponsibleResult = {
  /** Total number of matches. */
  count: number;
  limit: number;
  offset: number;
  /** Whether more matches follow. */
  has_more: boolean;
  items: WorklistItem[];
};

/** A field of activity that holons can name. */
export type Sphere = {
  id: number;
  /** Key in the workspace file. */
  key: string;
  name: string;
  /** Only active spheres can be set on holons. */
  is_active: boolean;
};

export type ListSpheresResult = {
  items: Sphere[];
  next: string | null;
};

export type SphereCreate = {
  /** Must not be blank. Leading and trailing whitespace is removed. */
  name: string;
};

export type CreateSphereResult = {
  sphere: Sphere;
};

export type SphereUpdate = {
  /** Must not be blank. Leading and trailing whitespace is removed. */
  name?: string;
  /** False retires the sphere. */
  is_active?: boolean;
};

export type UpdateSphereResultChanges = {
  name?: FieldChange;
  is_active?: FieldChange;
};

export type UpdateSphereResult = {
  sphere: Sphere;
  changes: UpdateSphereResultChanges;
};

/** Who made a change. */
export type HistoryActor = {
  /** Kind of the caller. */
  kind: "account" | "key" | "cli" | "shared";
  name: string | null;
  account_id: number | null;
  key_id: string | null;
};

/** A changed secret. Its values are not stored. */
export type SecretChange = {
  changed: boolean;
};

/** One change of an object. */
export type HistoryItem = {
  /** Time of the change. */
  at: string;
  actor: HistoryActor | null;
  /** `api`: a client of the API; `console`, `cli`: the console or the CLI; `file`: the workspace file; `webhook`: a booking or another job of the platform. */
  via: "api" | "console" | "cli" | "file" | "webhook";
  /** Changed fields. `old` is null for a created object, `new` for a deleted one. */
  changes: Record<string, FieldChange | SecretChange>;
};

export type ListPersonHistoryResult = {
  /** Newest first. */
  items: HistoryItem[];
  next: string | null;
};

export type ListHolonHistoryResult = {
  /** Newest first. */
  items: HistoryItem[];
  next: string | null;
};

export type ListMembershipHistoryResult = {
  /** Newest first. */
  items: HistoryItem[];
  next: string | null;
};

export type ListRelationshipHistoryResult = {
  /** Newest first. */
  items: HistoryItem[];
  next: string | null;
};

export type ListJourneyHistoryResult = {
  /** Newest first. */
  items: HistoryItem[];
  next: string | null;
};

export type ListAccountHistoryResult = {
  /** Newest first. */
  items: HistoryItem[];
  next: string | null;
};

export type ListClassHistoryResult = {
  /** Newest first. */
  items: HistoryItem[];
  next: string | null;
};

/** An agent with its settings. */
export type Agent = {
  id: number;
  slug: string;
  name: string;
  /** Instructions of the agent; `""` if it has none. */
  prompt: string;
  /** Custom data; public. */
  infos: Record<string, unknown>;
  /** Settings, for example `messaging`. A stored secret is `{"set": true}`. */
  config: Record<string, unknown>;
  /** Creation time. */
  created_at: string;
  /** Time of the last change. */
  updated_at: string;
};

export type ListWorkspaceAgentsResult = {
  /** By slug. A page ends before 4 MiB. */
  items: Agent[];
  next: string | null;
};

export type AgentCreate = {
  /** Letters, digits, `_` and `-`. Must not be used by another agent. */
  slug: string;
  /** Must not be blank. */
  name: string;
  prompt?: string | null;
  infos?: Record<string, unknown> | null;
  config?: Record<string, unknown> | null;
};

export type CreateAgentResult = {
  agent: Agent;
};

export type GetWorkspaceAgentResult = {
  agent: Agent;
};

export type AgentUpdate = {
  /** Must not be blank. */
  name?: string;
  prompt?: string | null;
  infos?: Record<string, unknown> | null;
  config?: Record<string, unknown> | null;
};

export type UpdateAgentResult = {
  agent: Agent;
  /** Changed fields with `old` and `new`. A secret is `{"set": true}`. */
  changes: Record<string, unknown>;
};

export type ListAgentHistoryResult = {
  /** Newest first. */
  items: HistoryItem[];
  next: string | null;
};

export type AccountTeamsItem = {
  /** The holon; the authority covers its descendants too. */
  holon_id: number;
  active: boolean;
};

/** A login account with its rights. */
export type Account = {
  id: number;
  email: string;
  person_id: number | null;
  person_name: string | null;
  /** False: logins, tokens and service keys are rejected. */
  active: boolean;
  superuser: boolean;
  global_editor: boolean;
  groups: string[];
  /** Team authority, by holon. */
  teams: AccountTeamsItem[];
  /** Whether the account can log in with a password. */
  has_password: boolean;
  invitation_expires_at: string | null;
  /** Creation time. */
  created_at: string;
};

export type ListAccountsResult = {
  /** By email. */
  items: Account[];
  next: string | null;
};

export type AccountCreateTeamsItem = {
  /** The holon; the authority covers its descendants too. */
  holon_id: number;
  active?: boolean;
};

export type AccountCreate = {
  /** Unique, ignoring case. */
  email: string;
  person_id?: number | null;
  superuser?: boolean;
  global_editor?: boolean;
  /** All groups of the account: `chat_agents`, `coherence_users`, `ops_operators`, `ops_viewers`, `workspace_editors`. */
  groups?: string[];
  /** All team authority of the account. */
  teams?: AccountCreateTeamsItem[];
};

/** Sets the password of an account. */
export type Invitation = {
  /** Returned only once. Valid for one use. */
  token: string;
  /** Page that sets the password with the token. Send it to the person. */
  url: string;
  /** Expiry, 72 hours after the creation. */
  expires_at: string;
};

export type CreateAccountResult = {
  account: Account;
  invitation: Invitation;
};

export type EmailTakenError = {
  code: "email_taken";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type GetAccountResult = {
  account: Account;
};

export type AccountUpdateTeamsItem = {
  /** The holon; the authority covers its descendants too. */
  holon_id: number;
  active?: boolean;
};

export type AccountUpdate = {
  /** False also ends sessions, service keys and the invitation. */
  active?: boolean;
  person_id?: number | null;
  superuser?: boolean;
  global_editor?: boolean;
  /** All groups of the account: `chat_agents`, `coherence_users`, `ops_operators`, `ops_viewers`, `workspace_editors`. */
  groups?: string[];
  /** All team authority of the account. */
  teams?: AccountUpdateTeamsItem[];
};

export type UpdateAccountResult = {
  account: Account;
  /** Changed fields of the request, with old and new values. */
  changes: Record<string, FieldChange>;
};

/** An identity of an identity provider, linked to an account. */
export type AccountIdentity = {
  issuer: string;
  subject: string;
  /** `email`: on first use, by a verified email. */
  linked_by: "operator" | "email";
  /** Time of the link. */
  linked_at: string;
};

export type ListAccountIdentitiesResult = {
  items: AccountIdentity[];
  unlinked_at: string | null;
};

/** An identity; the default `issuer` is OIDC_ISSUER. */
export type NamedIdentity = {
  /** As in `sub` of its tokens. */
  subject: string;
  /** As in `iss` of its tokens. */
  issuer?: string;
};

export type LinkAccountIdentityResultAccount = {
  id: number;
  email: string;
};

export type LinkAccountIdentityResult = {
  account: LinkAccountIdentityResultAccount;
  issuer: string;
  subject: string;
  /** False if nothing changed. */
  changed: boolean;
};

export type NoIssuerError = {
  code: "no_issuer";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type IdentityLinkedError = {
  code: "identity_linked";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type UnlinkAccountIdentityResultAccount = {
  id: number;
  email: string;
};

export type UnlinkAccountIdentityResult = {
  account: UnlinkAccountIdentityResultAccount;
  issuer: string;
  subject: string;
  /** False if nothing changed. */
  changed: boolean;
};

export type ResetAccountPasswordResult = {
  invitation: Invitation;
};

export type AccountInactiveError = {
  code: "account_inactive";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type ServiceKeyCreate = {
  /** Purpose of the key. Must not be blank. */
  name: string;
  /** Scopes: `*` for all, or some of `conversations:read`, `conversations:write`, `transcripts:read`, `media:read`, `media:write`, `steps:read`, `steps:write`, `directory:read`, `directory:write`, `workspace:read`, `workspace:write`, `accounts:write`, `agents:read`, `events:read`, `webhooks:write`, `keys:write`, `ops:read`, `ops:write`. */
  scopes: string[];
  expires_at?: string | null;
  /** The account on whose behalf it acts. Default: the caller's account. */
  account_id?: number;
};

/** The account on whose behalf it acts. */
export type ServiceKeyAccount = {
  id: number;
  email: string;
};

/** Account, and service key if one was used; both null for operators. */
export type ServiceKeyCreatedBy = {
  account_id: number | null;
  key_id: string | null;
};

/** A service key, without its secret. */
export type ServiceKey = {
  /** The public part of the token. */
  id: string;
  name: string;
  account: ServiceKeyAccount;
  person_id: number | null;
  /** `*` stands for all. */
  scopes: string[];
  /** Creation time. */
  created_at: string;
  created_by: ServiceKeyCreatedBy;
  expires_at: string | null;
  last_used_at: string | null;
  rotating_until: string | null;
  revoked_at: string | null;
};

export type CreateKeyResult = {
  key: ServiceKey;
  /** `svc_key_<id>_<secret>`. Returned only once. Store it. */
  token: string;
};

export type TooManyKeysError = {
  code: "too_many_keys";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type ListKeysResult = {
  /** Newest first. */
  items: ServiceKey[];
  /** Total number of matches. */
  count: number;
};

export type GetKeyResult = {
  key: ServiceKey;
};

export type RotateKeyBody = {
  /** Seconds for which the old secret is still accepted. Default: a day; 0 = not at all. */
  overlap_seconds?: number;
};

export type RotateKeyResult = {
  key: ServiceKey;
  /** `svc_key_<id>_<secret>`. Returned only once. Store it. */
  token: string;
};

export type KeyEndedError = {
  code: "key_ended";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

/** A webhook endpoint that a service key created. */
export type CreatedWebhookEndpoint = {
  /** Id of the endpoint. */
  id: number;
  /** Host of its URL, with a non-default port. */
  url_host: string;
  description: string;
  /** Whether it is disabled and receives nothing. */
  disabled: boolean;
};

export type RevokeKeyResult = {
  key: ServiceKey;
  webhook_endpoints: CreatedWebhookEndpoint[] | null;
};

/** Subject of the event. Visible to callers who can read it. */
export type EventSubject = {
  type: "conversation" | "person" | "holon" | "membership" | "relationship" | "note" | "webhook_endpoint";
  /** Id of the subject. */
  id: number;
};

/** An event of the feed. */
export type Event = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  /** Type of the event, for example `conversation.created`. */
  type: string;
  /** Time of the change. */
  occurred_at: string;
  subject: EventSubject;
  /** Ids, slugs and enumerations. Read the subject for its other fields. */
  data: Record<string, unknown>;
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

export type ListEventsResult = {
  /** Events in the order of the feed. */
  items: Event[];
  /** `after` of the next request, also when the page is empty. */
  next: string;
  /** True: more events are available now. */
  has_more: boolean;
};

export type CursorExpiredError = {
  code: "cursor_expired";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type GoneError = {
  code: "gone";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type WebhookEndpointCreate = {
  /** Public `https` address without user and password. Redirects are not followed. */
  url: string;
  types?: string[] | null;
  /** Purpose of the endpoint. */
  description?: string;
};

/** A webhook endpoint, without its secret. */
export type WebhookEndpoint = {
  /** Id of the endpoint. */
  id: number;
  /** Owner. Only events that this account can read are sent. */
  account_id: number;
  /** Address to which events are sent. */
  url: string;
  types: string[] | null;
  description: string;
  /** Time of creation. Earlier events are not sent. */
  created_at: string;
  created_by_key_id: string | null;
  /** True: no events are sent. */
  disabled: boolean;
  disabled_at: string | null;
  disabled_reason: "requested" | "gone" | "failing" | null;
  failing_since: string | null;
  /** True: a recovery is running. */
  recovering: boolean;
  rotating_until: string | null;
};

export type CreateWebhookEndpointResult = {
  endpoint: WebhookEndpoint;
  /** `whsec_` and 32 bytes in base64. Returned only once; a repeated reply for the same `Idempotency-Key` does not contain it. */
  secret?: string;
};

export type TooManyEndpointsError = {
  code: "too_many_endpoints";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type ListWebhookEndpointsResult = {
  /** Newest first. */
  items: WebhookEndpoint[];
};

export type GetWebhookEndpointResult = {
  endpoint: WebhookEndpoint;
};

export type WebhookEndpointUpdate = {
  /** Public `https` address without user and password. Redirects are not followed. */
  url?: string;
  types?: string[] | null;
  /** Purpose of the endpoint. */
  description?: string;
  /** True: stops sending and cancels pending deliveries. False: sends events from now on; use `recover` for earlier ones. */
  disabled?: boolean;
};

export type UpdateWebhookEndpointResult = {
  endpoint: WebhookEndpoint;
};

export type RotateWebhookSecretBody = {
  /** Seconds for which deliveries are signed with the previous secret too, default one day; 0 = no overlap. */
  overlap_seconds?: number;
};

export type RotateWebhookSecretResult = {
  endpoint: WebhookEndpoint;
  /** `whsec_` and 32 bytes in base64. Returned only once; a repeated reply for the same `Idempotency-Key` does not contain it. */
  secret?: string;
};

export type WebhookDeliveryAttemptsItem = {
  /** Start of the attempt. */
  at: string;
  status_code: number | null;
  error: "timeout" | "connection_failed" | "connection_broken" | "forbidden_address" | "redirect" | "status" | null;
  /** Time until the response or the failure. */
  duration_ms: number;
};

/** Delivery of an event to an endpoint. */
export type WebhookDelivery = {
  /** Id of the delivery. */
  id: string;
  /** Id of the event, and `webhook-id` of each attempt. */
  event_id: string;
  /** `pending`: an attempt is running or scheduled; `failed`: no attempts are left. */
  status: "pending" | "delivered" | "failed";
  /** The newest fifty, oldest first. */
  attempts: WebhookDeliveryAttemptsItem[];
  /** Time at which the delivery was created. */
  created_at: string;
  next_attempt_at: string | null;
};

export type TestWebhookEndpointResult = {
  delivery: WebhookDelivery;
};

export type EndpointDisabledError = {
  code: "endpoint_disabled";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type ListWebhookDeliveriesResult = {
  /** Newest first. */
  items: WebhookDelivery[];
  next: string | null;
};

export type RedeliverWebhookResult = {
  delivery: WebhookDelivery;
};

export type RecoverWebhookEndpointBody = {
  /** Events from this time on are sent unless they were delivered. */
  since: string;
};

export type RecoverWebhookEndpointResult = {
  endpoint: WebhookEndpoint;
};

export type GetOverviewResultServicesItem = {
  name: string;
  /** Started, not stopping, and every dependency answers. */
  ready: boolean;
  version: string | null;
  uptime_seconds: number | null;
  /** Dependencies that the service cannot reach; its own name if the service does not answer. */
  missing: string[];
};

export type GetOverviewResultDependenciesItem = {
  /** For example `postgresql`, `nats`. */
  name: string;
  /** All services that need it can reach it. */
  ready: boolean;
  detail: string | null;
};

export type GetOverviewResultJobsItem = {
  service: string;
  /** `<service>.<job>`. */
  type: string;
  state: "queued" | "running" | "succeeded" | "dead" | "cancelled";
  count: number;
  oldest_at: string | null;
};

export type GetOverviewResultWebhooksItem = {
  /** `booking`, `meeting` or `telegram`. */
  kind: string;
  outcome: string;
  /** Webhooks of the last hour. */
  last_hour: number;
  /** Webhooks of the last 24 hours. */
  last_day: number;
};

export type StreamStatusConsumersItem = {
  name: string;
  /** Messages that it was not given yet. */
  pending: number;
  /** Messages that it has not finished: `pending`, and those that are being worked. */
  lag: number;
};

export type StreamStatus = {
  name: string;
  messages: number;
  bytes: number;
  consumers: StreamStatusConsumersItem[];
};

/** Webhooks buffered on disk by this gateway while the broker is unavailable. */
export type GetOverviewResultSpool = {
  entries: number;
  bytes: number;
};

export type GetOverviewResultLogins = {
  /** Rejected logins. */
  failed_last_hour: number;
};

export type GetOverviewResult = {
  /** Release of this gateway. */
  version: string;
  generated_at: string;
  services: GetOverviewResultServicesItem[];
  dependencies: GetOverviewResultDependenciesItem[];
  jobs: GetOverviewResultJobsItem[];
  webhooks: GetOverviewResultWebhooksItem[];
  streams: StreamStatus[];
  spool: GetOverviewResultSpool;
  logins: GetOverviewResultLogins;
};

export type ListJobsResultItemsItem = {
  /** Service that runs the job. */
  service: string;
  id: string;
  /** `<service>.<job>`. */
  type: string;
  key: string | null;
  /** queued → running → succeeded or dead; running → queued for a retry; queued and running → cancelled; dead → cancelled by discard; dead and cancelled → queued by redrive */
  state: "queued" | "running" | "succeeded" | "dead" | "cancelled";
  /** 0 to 100. */
  percent: number;
  phase: string | null;
  error: string | null;
  worker: string | null;
  conversation_id: number | null;
  request_id: string | null;
  /** When it was asked for. */
  created_at: string;
  /** A queued job is not run before. */
  run_at: string;
  started_at: string | null;
  finished_at: string | null;
  /** Attempts started since creation or the last redrive. */
  attempts: number;
};

export type ListJobsResult = {
  items: ListJobsResultItemsItem[];
  /** `cursor` of the next page; null at the end. */
  next: string | null;
  /** Services that did not answer. Their items follow on a later page once they answer, before older items. 503 if none of the services with more items answers. */
  missing: string[];
};

export type BadCursorError = {
  code: "bad_cursor";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type GetJobResultAttemptsItem = {
  /** Start of the attempt. */
  started_at: string;
  duration_ms: number | null;
  worker: string | null;
  error: string | null;
};

export type GetJobResult = {
  /** Service that runs the job. */
  service: string;
  id: string;
  /** `<service>.<job>`. */
  type: string;
  key: string | null;
  /** queued → running → succeeded or dead; running → queued for a retry; queued and running → cancelled; dead → cancelled by discard; dead and cancelled → queued by redrive */
  state: "queued" | "running" | "succeeded" | "dead" | "cancelled";
  /** 0 to 100. */
  percent: number;
  phase: string | null;
  error: string | null;
  worker: string | null;
  conversation_id: number | null;
  request_id: string | null;
  /** When it was asked for. */
  created_at: string;
  /** A queued job is not run before. */
  run_at: string;
  started_at: string | null;
  finished_at: string | null;
  /** The newest thousand attempts, oldest first, including attempts before a redrive. */
  attempts: GetJobResultAttemptsItem[];
  /** Input of the job; secrets are replaced by `[redacted]`. */
  payload: unknown;
  /** Result of the job, if any; secrets are redacted. */
  result: unknown;
  traceparent: string | null;
};

/** Filters of the list operation. At least one filter is required. */
export type RedriveJobsBodyFilter = {
  service?: "agents" | "conversations" | "directory" | "events" | "media" | "transcripts" | null;
  type?: string | null;
  state?: "queued" | "running" | "succeeded" | "dead" | "cancelled" | null;
  key?: string | null;
  error?: string | null;
  conversation_id?: number | null;
  request_id?: string | null;
  created_after?: string | null;
  created_before?: string | null;
};

export type RedriveJobsBodyIdsItem = {
  service: string;
  /** Id of a job. */
  id: string;
};

export type RedriveJobsBody = {
  filter?: RedriveJobsBodyFilter;
  /** Instead of a filter. At most 10000. */
  ids?: RedriveJobsBodyIdsItem[];
  /** Count the items without changing them. */
  dry_run?: boolean;
};

export type RedriveJobsResultItemsItem = {
  /** Service that runs the job. */
  service: string;
  id: string;
  /** `<service>.<job>`. */
  type: string;
  key: string | null;
  /** queued → running → succeeded or dead; running → queued for a retry; queued and running → cancelled; dead → cancelled by discard; dead and cancelled → queued by redrive */
  state: "queued" | "running" | "succeeded" | "dead" | "cancelled";
  /** 0 to 100. */
  percent: number;
  phase: string | null;
  error: string | null;
  worker: string | null;
  conversation_id: number | null;
  request_id: string | null;
  /** When it was asked for. */
  created_at: string;
  /** A queued job is not run before. */
  run_at: string;
  started_at: string | null;
  finished_at: string | null;
  /** Attempts started since creation or the last redrive. */
  attempts: number;
};

export type RedriveJobsResult = {
  /** Matching jobs that can be changed. */
  matched: number;
  /** Changed jobs; 0 in a dry run. */
  changed: number;
  /** Unknown ids, and jobs whose attempt ended in the meantime. */
  failed: number;
  /** The first 100 matching jobs after the change, newest first. */
  items: RedriveJobsResultItemsItem[];
  /** Services that did not answer; their result is unknown. The request can be repeated: it does not change finished items again. 503 if no service answers. */
  missing: string[];
};

export type EmptyChoiceError = {
  code: "empty_choice";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

/** Filters of the list operation. At least one filter is required. */
export type CancelJobsBodyFilter = {
  service?: "agents" | "conversations" | "directory" | "events" | "media" | "transcripts" | null;
  type?: string | null;
  state?: "queued" | "running" | "succeeded" | "dead" | "cancelled" | null;
  key?: string | null;
  error?: string | null;
  conversation_id?: number | null;
  request_id?: string | null;
  created_after?: string | null;
  created_before?: string | null;
};

export type CancelJobsBodyIdsItem = {
  service: string;
  /** Id of a job. */
  id: string;
};

export type CancelJobsBody = {
  filter?: CancelJobsBodyFilter;
  /** Instead of a filter. At most 10000. */
  ids?: CancelJobsBodyIdsItem[];
  /** Count the items without changing them. */
  dry_run?: boolean;
};

export type CancelJobsResultItemsItem = {
  /** Service that runs the job. */
  service: string;
  id: string;
  /** `<service>.<job>`. */
  type: string;
  key: string | null;
  /** queued → running → succeeded or dead; running → queued for a retry; queued and running → cancelled; dead → cancelled by discard; dead and cancelled → queued by redrive */
  state: "queued" | "running" | "succeeded" | "dead" | "cancelled";
  /** 0 to 100. */
  percent: number;
  phase: string | null;
  error: string | null;
  worker: string | null;
  conversation_id: number | null;
  request_id: string | null;
  /** When it was asked for. */
  created_at: string;
  /** A queued job is not run before. */
  run_at: string;
  started_at: string | null;
  finished_at: string | null;
  /** Attempts started since creation or the last redrive. */
  attempts: number;
};

export type CancelJobsResult = {
  /** Matching jobs that can be changed. */
  matched: number;
  /** Changed jobs; 0 in a dry run. */
  changed: number;
  /** Unknown ids, and jobs whose attempt ended in the meantime. */
  failed: number;
  /** The first 100 matching jobs after the change, newest first. */
  items: CancelJobsResultItemsItem[];
  /** Services that did not answer; their result is unknown. The request can be repeated: it does not change finished items again. 503 if no service answers. */
  missing: string[];
};

export type ListWebhooksResultItemsItem = {
  /** Receipt id. */
  id: number;
  kind: "booking" | "meeting" | "telegram";
  /** Time at which the gateway accepted it. */
  received_at: string;
  /** Outcome, for example `applied`, `answered`, `rejected_signature`. */
  outcome: string;
  message: string | null;
  event: string | null;
  person_id: number | null;
  agent_slug: string | null;
  conversation_id: number | null;
  update_id: number | null;
  chat_id: number | null;
  /** Created by a reconciliation, because the webhook was lost (B2). */
  reconciled: boolean;
  /** Number of times that the same request was received. */
  deliveries: number;
  processed_at: string | null;
  body_digest: string | null;
  body_size: number | null;
};

export type ListWebhooksResult = {
  items: ListWebhooksResultItemsItem[];
  /** `cursor` of the next page; null at the end. */
  next: string | null;
  /** Services that did not answer. Their items follow on a later page once they answer, before older items. 503 if none of the services with more items answers. */
  missing: string[];
};

export type GetWebhookResultSendsItem = {
  /** 1 for the first part of the reply. */
  part: number;
  /** `planned`, `sending`, `sent`, `unknown`, `refused`, `blocked` or `given_up`. */
  status: string;
  chat_id: number | null;
  message_id: number | null;
  error: string | null;
  /** Time of the last change. */
  updated_at: string;
};

export type GetWebhookResult = {
  /** Receipt id. */
  id: number;
  kind: "booking" | "meeting" | "telegram";
  /** Time at which the gateway accepted it. */
  received_at: string;
  /** Outcome, for example `applied`, `answered`, `rejected_signature`. */
  outcome: string;
  message: string | null;
  event: string | null;
  person_id: number | null;
  agent_slug: string | null;
  conversation_id: number | null;
  update_id: number | null;
  chat_id: number | null;
  /** Created by a reconciliation, because the webhook was lost (B2). */
  reconciled: boolean;
  /** Number of times that the same request was received. */
  deliveries: number;
  processed_at: string | null;
  body_digest: string | null;
  body_size: number | null;
  /** Stored headers; secrets and signatures are `[redacted]`. */
  headers: Record<string, string>;
  body: string | null;
  /** Messages with the reply to a Telegram update. */
  sends: GetWebhookResultSendsItem[];
};

/** Filters of the list operation. At least one filter is required. */
export type ReplayWebhooksBodyFilter = {
  kind?: "booking" | "meeting" | "telegram" | null;
  outcome?: string | null;
  person_id?: number | null;
  from?: string | null;
  to?: string | null;
  q?: string | null;
};

export type ReplayWebhooksBody = {
  filter?: ReplayWebhooksBodyFilter;
  /** Instead of a filter. At most 10000. */
  ids?: number[];
  /** Count the items without changing them. */
  dry_run?: boolean;
  /** Maximum number of webhooks: bookings and meetings first, then messages; at most 10000 of each. Default: no other limit. */
  limit?: number;
};

export type ReplayWebhooksResultItemsItem = {
  /** Receipt id. */
  id: number;
  kind: "booking" | "meeting" | "telegram";
  /** Time at which the gateway accepted it. */
  received_at: string;
  /** Outcome, for example `applied`, `answered`, `rejected_signature`. */
  outcome: string;
  message: string | null;
  event: string | null;
  person_id: number | null;
  agent_slug: string | null;
  conversation_id: number | null;
  update_id: number | null;
  chat_id: number | null;
  /** Created by a reconciliation, because the webhook was lost (B2). */
  reconciled: boolean;
  /** Number of times that the same request was received. */
  deliveries: number;
  processed_at: string | null;
  body_digest: string | null;
  body_size: number | null;
};

export type ReplayWebhooksResult = {
  /** Matching webhooks, at most `limit`. */
  selected: number;
  /** Selected webhooks that can be replayed. */
  matched: number;
  /** Replayed webhooks; 0 in a dry run. */
  changed: number;
  /** Unknown ids, and webhooks counted in `no_agent`. */
  failed: number;
  /** Selected webhooks without a stored body. */
  without_body: number;
  /** Selected webhooks that are already complete. */
  nothing_left: number;
  /** Messages whose agent does not exist or has no secret to verify them. */
  no_agent: number;
  /** The first 100 replayable webhooks, oldest first. */
  items: ReplayWebhooksResultItemsItem[];
  /** Jobs that process the webhooks, at most 100 of each kind. */
  job_ids: string[];
  /** More webhooks match than the limits allow; the oldest were replayed. */
  more: boolean;
  /** Services that did not answer; their result is unknown. The request can be repeated: it does not change finished items again. 503 if no service answers. */
  missing: string[];
};

export type ListPipelinesResultItemsItem = {
  conversation_id: number;
  /** Slug. */
  journey: string;
  /** Slug. */
  step: string;
  /** State of the job of the step; `none` if it has no job. */
  state: "queued" | "running" | "succeeded" | "dead" | "cancelled" | "none";
  /** When the conversation entered the step. */
  since: string;
  waiting_for: string | null;
  error: string | null;
};

export type ListPipelinesResult = {
  items: ListPipelinesResultItemsItem[];
  /** `cursor` of the next page; null at the end. */
  next: string | null;
};

export type RetryPipelineResult = {
  conversation_id: number;
  /** Slug. */
  journey: string;
  /** Slug. */
  step: string;
  /** State of the job of the step; `none` if it has no job. */
  state: "queued" | "running" | "succeeded" | "dead" | "cancelled" | "none";
  /** When the conversation entered the step. */
  since: string;
  waiting_for: string | null;
  error: string | null;
};

export type NoJobError = {
  code: "no_job";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type ListThreadsResultItemsItemTakenByAccount = {
  id: number;
  email: string | null;
};

/** Operator who has taken over; without an account if the admin CLI was used. Null if the agent answers. */
export type ListThreadsResultItemsItemTakenBy = {
  account: ListThreadsResultItemsItemTakenByAccount | null;
  /** Time of the takeover. */
  since: string;
};

export type ListThreadsResultItemsItem = {
  /** Id of the thread. */
  id: number;
  /** Slug of the agent. */
  agent: string;
  /** Where the visitor writes. */
  channel: "web" | "telegram";
  /** Number of turns: a message with its reply, or a single message during a takeover. */
  turns: number;
  /** The last message is from the visitor and has no reply. */
  waiting: boolean;
  /** When its first turn was recorded. */
  created_at: string;
  /** Time of the last message. */
  updated_at: string;
  taken_by: ListThreadsResultItemsItemTakenBy | null;
};

export type ListThreadsResult = {
  items: ListThreadsResultItemsItem[];
  /** `cursor` of the next page; null at the end. */
  next: string | null;
};

export type GetThreadResultThreadTakenByAccount = {
  id: number;
  email: string | null;
};

/** Operator who has taken over; without an account if the admin CLI was used. Null if the agent answers. */
export type GetThreadResultThreadTakenBy = {
  account: GetThreadResultThreadTakenByAccount | null;
  /** Time of the takeover. */
  since: string;
};

export type GetThreadResultThread = {
  /** Id of the thread. */
  id: number;
  /** Slug of the agent. */
  agent: string;
  /** Where the visitor writes. */
  channel: "web" | "telegram";
  /** Number of turns: a message with its reply, or a single message during a takeover. */
  turns: number;
  /** The last message is from the visitor and has no reply. */
  waiting: boolean;
  /** When its first turn was recorded. */
  created_at: string;
  /** Time of the last message. */
  updated_at: string;
  taken_by: GetThreadResultThreadTakenBy | null;
};

export type GetThreadResultMessagesItemAuthorAccount = {
  id: number;
  email: string | null;
};

/** Author; an operator without an account used the admin CLI. */
export type GetThreadResultMessagesItemAuthor = {
  kind: "visitor" | "agent" | "operator";
  account: GetThreadResultMessagesItemAuthorAccount | null;
};

export type GetThreadResultMessagesItem = {
  /** Position in the thread. A message and its reply by the agent share one. */
  turn: number;
  /** Markdown as received. */
  body: string;
  /** As HTML of the messaging subset. */
  html: string;
  /** When it was recorded. */
  created_at: string;
  delivery: "waiting" | "sent" | "unknown" | "failed" | null;
  author: GetThreadResultMessagesItemAuthor;
};

export type GetThreadResult = {
  thread: GetThreadResultThread;
  messages: GetThreadResultMessagesItem[];
  before: number | null;
};

export type TakeThreadResultThreadTakenByAccount = {
  id: number;
  email: string | null;
};

/** Operator who has taken over; without an account if the admin CLI was used. Null if the agent answers. */
export type TakeThreadResultThreadTakenBy = {
  account: TakeThreadResultThreadTakenByAccount | null;
  /** Time of the takeover. */
  since: string;
};

export type TakeThreadResultThread = {
  /** Id of the thread. */
  id: number;
  /** Slug of the agent. */
  agent: string;
  /** Where the visitor writes. */
  channel: "web" | "telegram";
  /** Number of turns: a message with its reply, or a single message during a takeover. */
  turns: number;
  /** The last message is from the visitor and has no reply. */
  waiting: boolean;
  /** When its first turn was recorded. */
  created_at: string;
  /** Time of the last message. */
  updated_at: string;
  taken_by: TakeThreadResultThreadTakenBy | null;
};

export type TakeThreadResult = {
  thread: TakeThreadResultThread;
};

export type ThreadTakenError = {
  code: "thread_taken";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type SayInThreadBody = {
  /** The message, Markdown allowed. Blank messages return 400. */
  body: string;
};

export type SayInThreadResultMessageAuthorAccount = {
  id: number;
  email: string | null;
};

/** Author; an operator without an account used the admin CLI. */
export type SayInThreadResultMessageAuthor = {
  kind: "visitor" | "agent" | "operator";
  account: SayInThreadResultMessageAuthorAccount | null;
};

export type SayInThreadResultMessage = {
  /** Position in the thread. A message and its reply by the agent share one. */
  turn: number;
  /** Markdown as received. */
  body: string;
  /** As HTML of the messaging subset. */
  html: string;
  /** When it was recorded. */
  created_at: string;
  delivery: "waiting" | "sent" | "unknown" | "failed" | null;
  author: SayInThreadResultMessageAuthor;
};

export type SayInThreadResult = {
  message: SayInThreadResultMessage;
};

export type EmptyMessageError = {
  code: "empty_message";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type ThreadNotTakenError = {
  code: "thread_not_taken";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type HandThreadBackResultThreadTakenByAccount = {
  id: number;
  email: string | null;
};

/** Operator who has taken over; without an account if the admin CLI was used. Null if the agent answers. */
export type HandThreadBackResultThreadTakenBy = {
  account: HandThreadBackResultThreadTakenByAccount | null;
  /** Time of the takeover. */
  since: string;
};

export type HandThreadBackResultThread = {
  /** Id of the thread. */
  id: number;
  /** Slug of the agent. */
  agent: string;
  /** Where the visitor writes. */
  channel: "web" | "telegram";
  /** Number of turns: a message with its reply, or a single message during a takeover. */
  turns: number;
  /** The last message is from the visitor and has no reply. */
  waiting: boolean;
  /** When its first turn was recorded. */
  created_at: string;
  /** Time of the last message. */
  updated_at: string;
  taken_by: HandThreadBackResultThreadTakenBy | null;
};

export type HandThreadBackResult = {
  thread: HandThreadBackResultThread;
};

export type ListedConversationParticipantsItem = {
  id: number;
  name: string;
};

export type ListedConversation = {
  id: number;
  title: string;
  journey: string | null;
  step: string | null;
  event: string | null;
  start: string | null;
  finish: string | null;
  /** Existing people, in order. */
  participants: ListedConversationParticipantsItem[];
  updated_at: string;
};

export type ListAllConversationsResult = {
  items: ListedConversation[];
  next: string | null;
};

export type DeletedConversation = {
  id: number;
  title: string;
  /** When it was deleted. */
  deleted_at: string;
  /** Its booking was cancelled, or was merged with the booking of another conversation, or an operator or an account deleted it. */
  reason: "booking_cancelled" | "bookings_joined" | "operator" | "account";
  /** Actor of the deletion, e.g. `account 7`, or `receipt 17`: `webhooks show 17`. */
  by: string;
  /** When it is removed permanently. */
  removed_from: string;
};

export type ListDeletedConversationsResult = {
  items: DeletedConversation[];
  next: string | null;
};

export type ConversationDetailsParticipantsItem = {
  id: number;
  name: string;
};

export type ConversationDetailsConnectedItem = {
  id: number;
  slug: string;
  name: string;
};

export type ConversationDetailsBooking = {
  id: number;
  cancelled: boolean;
};

export type ConversationDetailsDeleted = {
  /** When it was deleted. */
  deleted_at: string;
  /** Its booking was cancelled, or was merged with the booking of another conversation, or an operator or an account deleted it. */
  reason: "booking_cancelled" | "bookings_joined" | "operator" | "account";
  /** Actor of the deletion, e.g. `account 7`, or `receipt 17`: `webhooks show 17`. */
  by: string;
  /** When it is removed permanently. */
  removed_from: string;
};

/** A conversation with all its data. */
export type ConversationDetails = {
  id: number;
  title: string;
  journey: string | null;
  step: string | null;
  event: string | null;
  start: string | null;
  finish: string | null;
  /** Existing people, in order. */
  participants: ConversationDetailsParticipantsItem[];
  updated_at: string;
  connected: ConversationDetailsConnectedItem[];
  /** Public and display metadata. */
  infos: unknown;
  /** Operational metadata. */
  config: unknown;
  /** State of the room, or null. */
  room: unknown;
  audio_blob_id: number | null;
  booking: ConversationDetailsBooking | null;
  import_key: string | null;
  /** Number of notes. */
  notes: number;
  created_at: string;
  deleted: ConversationDetailsDeleted | null;
};

export type ListImportEvidenceResultItemsItem = {
  evidence: ImportEvidence;
  /** Start of the artifact's session; null when no artifact was read. */
  session_started_at: string | null;
};

export type ListImportEvidenceResult = {
  /** By conversation, at most 1,000. */
  items: ListImportEvidenceResultItemsItem[];
};

export type AmbiguousSelectionError = {
  code: "ambiguous_selection";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type NotAnOperatorError = {
  code: "not_an_operator";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type FindPeopleResultItemsItem = {
  id: number;
  name: string | null;
  matched: "id" | "key" | "email" | "phone" | "name";
  merged_id: number | null;
};

export type FindPeopleResult = {
  /** By id. All of them have the identifier in `matched`. */
  items: FindPeopleResultItemsItem[];
};

export type PossibleDuplicatePeopleItem = {
  id: number;
  name: string;
};

export type PossibleDuplicate = {
  match_field: "contact.email" | "contact.linkedin";
  /** Normalized value. */
  match_value: string;
  /** By id. */
  people: PossibleDuplicatePeopleItem[];
};

export type ListDuplicatePeopleResult = {
  /** By field and value. */
  items: PossibleDuplicate[];
  next: string | null;
};

export type ListAgentsResultItemsItem = {
  slug: string;
  name: string;
  /** Sentences waiting for review (D70). */
  waiting: number;
  /** Approved sentences. */
  approved: number;
};

export type ListAgentsResult = {
  items: ListAgentsResultItemsItem[];
  /** `cursor` of the next page; null at the end. */
  next: string | null;
};

export type ListAgentUsageResultItemsItem = {
  slug: string;
  day: string;
  purpose: "chat" | "memory";
  /** Calls, including failed ones. */
  calls: number;
  failed_calls: number;
  /** Calls whose tokens the model did not report. */
  calls_without_usage: number;
  prompt_tokens: number;
  completion_tokens: number;
  /** Time spent waiting for the model. */
  duration_ms: number;
};

export type ListAgentUsageResult = {
  items: ListAgentUsageResultItemsItem[];
};

export type ListAgentKnowledgeResultItemsItem = {
  id: number;
  /** Text that the agent would use. */
  body: string;
  /** Source thread. */
  thread_id: number;
  /** `web` or `telegram`. */
  channel: string;
  /** Last turn read for it. */
  up_to_turn: number;
  created_at: string;
  approved_at: string | null;
};

export type ListAgentKnowledgeResult = {
  /** `AGENT_KNOWLEDGE`: whether no, approved, or all sentences can reach other visitors. */
  mode: "off" | "reviewed" | "automatic";
  items: ListAgentKnowledgeResultItemsItem[];
  next: string | null;
};

export type ApproveAgentKnowledgeBody = {
  ids: number[];
};

export type ApproveAgentKnowledgeResult = {
  approved: number;
};

export type TooMuchKnowledgeError = {
  code: "too_much_knowledge";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type RejectAgentKnowledgeBody = {
  ids: number[];
};

export type RejectAgentKnowledgeResult = {
  rejected: number;
};

export type ReadAgentRecordBody = {
  /** Return messages of this thread only. */
  thread_key?: string;
  /** The thread by its id. */
  thread_id?: number;
  /** `next` of the previous page. */
  after?: number;
  /** Threads, or messages of the thread; default 100. */
  limit?: number;
};

export type ReadAgentRecordResultAgentMemory = {
  /** Knowledge of the agent; `""` if it has none. */
  summary: string;
  /** Sources of the summary, newest first. */
  notes: string[];
};

export type ReadAgentRecordResultAgent = {
  id: number;
  slug: string;
  name: string;
  memory: ReadAgentRecordResultAgentMemory;
};

export type RecordedThreadMessagesItem = {
  id: number;
  /** `chat_visitor`, `chat_agent` (D34), or `chat_operator` during a takeover (H1). */
  note_type: string;
  body: string;
  html: string;
  account_id: number | null;
  created_at: string;
};

export type RecordedThreadMemory = {
  summary: string;
  /** What the person said about themselves. */
  facts: string[];
  /** Sentences of the thread in the agent's knowledge. */
  notes: string[];
  /** Last turn included; 0 = none. */
  up_to_turn: number;
};

export type RecordedThread = {
  thread_key: string;
  created_at: string;
  updated_at: string;
  message_count: number;
  /** Oldest first; in a page of threads the newest 200 messages. */
  messages: RecordedThreadMessagesItem[];
  memory: RecordedThreadMemory;
};

export type ReadAgentRecordResult = {
  agent: ReadAgentRecordResultAgent;
  threads: RecordedThread[];
  next: number | null;
};

export type ForgetChatsBody = {
  /** Slug of the agent. */
  slug?: string;
  /** Every thread of the agent `slug`. */
  all?: boolean;
  /** One thread, of any agent without `slug`. */
  thread_key?: string;
  /** A visitor of the chat page, with every agent. */
  visitor_id?: string;
  /** A Telegram user, with every agent: the private chat, and the user's turns in groups. */
  telegram_user_id?: number;
};

export type ForgetChatsResult = {
  /** Threads deleted. */
  threads: number;
  /** Messages deleted, including replies. */
  messages: number;
  /** Facts deleted, including shared sentences. */
  facts: number;
};

export type LookUpAgentWebhookResult = {
  /** Registered address; empty for none. */
  url: string;
  username: string | null;
  /** Updates that Telegram has not delivered. */
  pending_update_count: number;
  last_error_date: number | null;
  last_error_message: string | null;
  allowed_updates: string[];
};

export type BotNotConfiguredError = {
  code: "bot_not_configured";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type BotApiFailedError = {
  code: "bot_api_failed";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type SetAgentWebhookBody = {
  /** Public base URL of the platform. */
  base_url: string;
};

export type SetAgentWebhookResult = {
  url: string;
  allowed_updates: string[];
  has_secret: boolean;
};

export type NotASuperuserError = {
  code: "not_a_superuser";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type WebhookSecretMissingError = {
  code: "webhook_secret_missing";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type ListAuditResultItemsItemActor = {
  /** A person with a token, a service key, the admin CLI, or the shared token. */
  kind: "account" | "key" | "cli" | "shared";
  account_id: number | null;
  key_id: string | null;
  email: string | null;
};

/** Target of the action; null when it has no single target. */
export type ListAuditResultItemsItemTarget = {
  type: string;
  id: string;
};

export type ListAuditResultItemsItem = {
  /** `<service>:<position in its log>`. */
  id: string;
  /** Time of the action, from the database clock. */
  at: string;
  actor: ListAuditResultItemsItemActor;
  /** Action, for example `login` or `jobs.redrive`. */
  action: string;
  target: ListAuditResultItemsItemTarget | null;
  changes: Record<string, unknown> | null;
  request_id: string | null;
  ip: string | null;
  /** `refused`: the attempt was rejected and changed nothing. */
  outcome: "ok" | "refused";
};

export type ListAuditResult = {
  items: ListAuditResultItemsItem[];
  /** `cursor` of the next page; null at the end. */
  next: string | null;
};

/** Null for the workspace file. */
export type StepConfigChangeAccount = {
  id: number;
  email: string;
};

export type StepConfigChange = {
  id: number;
  /** Time of the change. */
  changed_at: string;
  /** `api` or `workspace`. */
  source: string;
  account: StepConfigChangeAccount | null;
  /** Changed dotted paths. */
  paths: string[];
};

export type ListStepConfigAuditResult = {
  items: StepConfigChange[];
};

export type ReconcileBookingsBody = {
  /** Only bookings updated then or later; absent = all. */
  since?: string;
  /** Count without changing anything. */
  dry_run?: boolean;
};

export type ReconcileBookingsResult = {
  job_id: string;
};

export type NotConfiguredError = {
  code: "not_configured";
  message: string;
  retryable: boolean;
  [key: string]: unknown;
};

export type ImportTranscriptResult = {
  conversation_id: number;
  job_id: string;
};

export type PruneEventsBody = {
  /** Events before this time are removed. */
  before: string;
};

export type PruneEventsResult = {
  /** Approximate number of removed events. */
  removed: number;
};

export interface FindActiveConversationsRequest {
  query: {
    /** Participant. */
    person_id: number;
    /** Slug of a conversation journey. */
    journey: string;
    /** The caller's time; without an offset it is UTC. */
    time: string;
  };
}
export type FindActiveConversationsReply = ApiReply<200, ConversationOut[]>;
export type FindActiveConversationsError =
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: PersonNotFoundError | JourneyNotFoundError | FrameworkError }
  | { readonly status: 409; readonly body: JourneyOwnershipAmbiguousError | FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface CreateConversationRequest {
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: ConversationCreate;
}
export type CreateConversationReply = ApiReply<201, ConversationOut>;
export type CreateConversationError =
  | { readonly status: 400; readonly body: ValidationErrorApiError | InvalidTimesError | InvalidNamespacePlacementError | FrameworkError }
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: InsufficientScopeError | CoherenceAccessRequiredError | FrameworkError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdempotencyInProgressApiError | FrameworkError }
  | { readonly status: 413; readonly body: ConversationDataTooLargeError | FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedApiError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface GetConversationRequest {
  path: {
    /** Id of the conversation. */
    conversation_id: number;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type GetConversationReply = ApiReply<200, ConversationOut>;
export type GetConversationError =
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface PatchConversationRequest {
  path: {
    /** Id of the conversation. */
    conversation_id: number;
  };
  headers?: {
    /** Write only if the conversation still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
  };
  body: PatchConversationBody;
}
export type PatchConversationReply = ApiReply<200, ConversationOut>;
export type PatchConversationError =
  | { readonly status: 400; readonly body: InvalidNamespacePlacementError | FrameworkError }
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: StaleConversationError | FrameworkError }
  | { readonly status: 412; readonly body: PreconditionFailedError | FrameworkError }
  | { readonly status: 413; readonly body: ConversationDataTooLargeError | FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface DeleteConversationRequest {
  path: {
    /** Id of the conversation. */
    conversation_id: number;
  };
  headers?: {
    /** Write only if the conversation still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
  };
}
export type DeleteConversationReply = ApiReply<204, undefined>;
export type DeleteConversationError =
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: PerUserTokenRequiredError | InsufficientScopeError | CoherenceAccessRequiredError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 412; readonly body: PreconditionFailedError | FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface MarkRecordedRequest {
  path: {
    /** Id of the conversation. */
    conversation_id: number;
  };
  headers?: {
    /** Scoped to the conversation, stored for 24 hours. */
    'Idempotency-Key'?: string;
  };
  body?: RecordedWrite;
}
export type MarkRecordedReply = ApiReply<200, ConversationOut>;
export type MarkRecordedError =
  | { readonly status: 400; readonly body: InvalidNamespacePlacementError | InvalidTranscriptWindowError | FrameworkError }
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: StaleConversationError | TranscriptBoundaryConflictError | FrameworkError }
  | { readonly status: 413; readonly body: ConversationDataTooLargeError | FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface UpdateConversationRequest {
  path: {
    /** Id of the conversation. */
    conversation_id: number;
  };
  headers?: {
    /** Write only if the conversation still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: ConversationUpdate;
}
export type UpdateConversationReply = ApiReply<200, ConversationOut>;
export type UpdateConversationError =
  | { readonly status: 400; readonly body: ValidationErrorApiError | InvalidTimesError | FrameworkError }
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: PerUserTokenRequiredError | InsufficientScopeError | CoherenceAccessRequiredError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdempotencyInProgressApiError | FrameworkError }
  | { readonly status: 412; readonly body: PreconditionFailedError | FrameworkError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedApiError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface RestoreConversationRequest {
  path: {
    /** Id of the conversation. */
    conversation_id: number;
  };
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
}
export type RestoreConversationReply = ApiReply<200, ConversationOut>;
export type RestoreConversationError =
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: PerUserTokenRequiredError | InsufficientScopeError | CoherenceAccessRequiredError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: NotDeletedError | IdempotencyInProgressApiError | FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedApiError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface ListConversationNotesRequest {
  path: {
    /** Id of the conversation. */
    conversation_id: number;
  };
  query?: {
    /** Notes of a page, default and at most 200. */
    limit?: number;
    /** `next` of the previous page. */
    cursor?: string;
  };
}
export type ListConversationNotesReply = ApiReply<200, ListConversationNotesResult>;
export type ListConversationNotesError =
  | { readonly status: 400; readonly body: BadCursorApiError | FrameworkError }
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: PerUserTokenRequiredError | InsufficientScopeError | CoherenceAccessRequiredError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface CreateConversationNoteRequest {
  path: {
    /** Id of the conversation. */
    conversation_id: number;
  };
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: CreateConversationNoteBody;
}
export type CreateConversationNoteReply = ApiReply<201, CreateConversationNoteResult>;
export type CreateConversationNoteError =
  | { readonly status: 400; readonly body: ValidationErrorApiError | FrameworkError }
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: PerUserTokenRequiredError | InsufficientScopeError | CoherenceAccessRequiredError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdempotencyInProgressApiError | FrameworkError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedApiError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface GetConversationTimelineRequest {
  path: {
    /** Id of the conversation. */
    conversation_id: number;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type GetConversationTimelineReply = ApiReply<200, Timeline>;
export type GetConversationTimelineError =
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: PerUserTokenRequiredError | InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface GetConversationInfosRequest {
  path: {
    /** Id of the conversation. */
    conversation_id: number;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type GetConversationInfosReply = ApiReply<200, ConversationInfos>;
export type GetConversationInfosError =
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: PerUserTokenRequiredError | InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface PatchConversationInfosRequest {
  path: {
    /** Id of the conversation. */
    conversation_id: number;
  };
  body: PatchConversationInfosBody;
}
export type PatchConversationInfosReply = ApiReply<200, ConversationInfos>;
export type PatchConversationInfosError =
  | { readonly status: 400; readonly body: InvalidNamespacePlacementError | FrameworkError }
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: PerUserTokenRequiredError | InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 413; readonly body: ConversationDataTooLargeError | FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface RecordQuestionChangeRequest {
  path: {
    /** Id of the conversation. */
    conversation_id: number;
  };
  headers: {
    /** Scoped to the question changes of the conversation. */
    'Idempotency-Key': string;
  };
  body: QuestionChange;
}
export type RecordQuestionChangeReply = ApiReply<200, RecordedQuestionChange> | ApiReply<201, RecordedQuestionChange>;
export type RecordQuestionChangeError =
  | { readonly status: 400; readonly body: QuestionNotInJourneyError | OccurredAtInFutureError | FrameworkError }
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdempotencyConflictError | FrameworkError }
  | { readonly status: 413; readonly body: ConversationDataTooLargeError | FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface SearchConversationsRequest {
  query?: {
    /** Owned by this holon: its event is the holon or a descendant of it. */
    holon_slug?: string;
    /** Explicitly linked to this holon. */
    connected_holon_slug?: string;
    /** This person is among the participants. */
    person_id?: number;
    /** `date_desc` (default) or `date_asc`; conversations without a start are last in both, then by id. */
    sort?: "date_desc" | "date_asc";
    /** Slug of the journey. */
    journey?: string;
    /** Slug of the current step, of the journey or of any journey. */
    step?: string;
    /** Only those that start then or later; UTC without an offset. */
    from?: string;
    /** Only those that start earlier; UTC without an offset. */
    to?: string;
    /** Words in any order, each in the title or in a participant's name. Case and accents do not matter. */
    q?: string;
    /** True: only deleted conversations. Requires coherence access. Default false. */
    deleted?: boolean;
    /** Conversations of a page, at most 200. The response then has `X-Total-Count` and, unless it is the last page, a `Link` to the next one. */
    limit?: number;
    /** Conversations to skip; default 0. */
    offset?: number;
  };
}
export type SearchConversationsReply = ApiReply<200, ConversationSummary[]>;
export type SearchConversationsError =
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: PerUserTokenRequiredError | InsufficientScopeError | CoherenceAccessRequiredError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface GetConversationSummaryRequest {
  path: {
    /** Id of the conversation. */
    conversation_id: number;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type GetConversationSummaryReply = ApiReply<200, ConversationSummary>;
export type GetConversationSummaryError =
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: PerUserTokenRequiredError | InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface BrowseHolonConversationsRequest {
  path: {
    /** Slug of the holon. */
    holon_slug: string;
  };
}
export type BrowseHolonConversationsReply = ApiReply<200, BrowsedEvents>;
export type BrowseHolonConversationsError =
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface BrowseJourneyConversationsRequest {
  query?: {
    /** Id of a conversation journey. */
    journey_id?: number;
    /** Slug of a conversation journey. */
    journey_slug?: string;
    /** Slug of an event. */
    holon_slug?: string;
  };
}
export type BrowseJourneyConversationsReply = ApiReply<200, BrowsedJourney>;
export type BrowseJourneyConversationsError =
  | { readonly status: 400; readonly body: FrameworkError }
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface BrowseHolonRequest {
  path: {
    /** Slug of the holon. */
    holon_slug: string;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type BrowseHolonReply = ApiReply<200, BrowsedHolon>;
export type BrowseHolonError =
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface LookUpPersonsRequest {
  query: {
    /** Ids, at most 50. Separated by commas, or as repeated `ids` or `ids[]`. */
    ids: number[];
  };
}
export type LookUpPersonsReply = ApiReply<200, PublicPerson[]>;
export type LookUpPersonsError =
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: InsufficientScopeError | FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface LookUpHolonsRequest {
  query: {
    /** Ids, at most 50. Separated by commas, or as repeated `ids` or `ids[]`. */
    ids: number[];
  };
}
export type LookUpHolonsReply = ApiReply<200, PublicHolon[]>;
export type LookUpHolonsError =
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: InsufficientScopeError | FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface ListConversationEventsRequest {
  query?: {
    /** Slug of a holon. */
    holon_slug?: string;
  };
}
export type ListConversationEventsReply = ApiReply<200, ConversationEvent[]>;
export type ListConversationEventsError =
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: PerUserTokenRequiredError | InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface ListEventJourneysRequest {
  path: {
    /** Slug of the event. */
    event_slug: string;
  };
}
export type ListEventJourneysReply = ApiReply<200, EventJourney[]>;
export type ListEventJourneysError =
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: PerUserTokenRequiredError | CoherenceAccessRequiredError | InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface ListJourneyStepsRequest {
  path: {
    /** Slug of the journey. */
    journey_slug: string;
  };
}
export type ListJourneyStepsReply = ApiReply<200, StepItem[]>;
export type ListJourneyStepsError =
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: PerUserTokenRequiredError | CoherenceAccessRequiredError | InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface ReadStepConfigRequest {
  path: {
    /** Slug of the journey. */
    journey_slug: string;
    /** Slug of the step. */
    step_slug: string;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type ReadStepConfigReply = ApiReply<200, StepConfig>;
export type ReadStepConfigError =
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: PerUserTokenRequiredError | CoherenceAccessRequiredError | InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface PatchStepConfigRequest {
  path: {
    /** Slug of the journey. */
    journey_slug: string;
    /** Slug of the step. */
    step_slug: string;
  };
  body: StepConfigWrite;
}
export type PatchStepConfigReply = ApiReply<200, StepConfig>;
export type PatchStepConfigError =
  | { readonly status: 400; readonly body: ConfigKeysNotWritableError | InvalidStepConfigError | FrameworkError }
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: PerUserTokenRequiredError | CoherenceAccessRequiredError | InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: StaleConfigError | FrameworkError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface WriteRoomRequest {
  path: {
    /** Id of the conversation. */
    conversation_id: number;
  };
  body: RoomWrite;
}
export type WriteRoomReply = ApiReply<200, RoomWritten>;
export type WriteRoomError =
  | { readonly status: 400; readonly body: InvalidTranscriptWindowError | FrameworkError }
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: VersionConflictError | MeetingConflictError | TranscriptBoundaryConflictError | FrameworkError }
  | { readonly status: 413; readonly body: ConversationDataTooLargeError | FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface ReadRoomRequest {
  path: {
    /** Id of the conversation. */
    conversation_id: number;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type ReadRoomReply = ApiReply<200, RoomState>;
export type ReadRoomError =
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface ReceiveBookingRequest {
  path: {
    /** Id of the person who is booked. */
    person_id: string;
  };
  body?: ReceiveBookingBody;
}
export type ReceiveBookingReply = ApiReply<200, Accepted>;
export type ReceiveBookingError =
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface ExplainBookingHookRequest {
  path: {
    /** Any integer. */
    person_id: number;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type ExplainBookingHookReply = ApiReply<200, string>;
export type ExplainBookingHookError =
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface ReceiveMeetingReportRequest {
  body?: ReceiveMeetingReportBody;
}
export type ReceiveMeetingReportReply = ApiReply<200, Accepted>;
export type ReceiveMeetingReportError =
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface UploadAudioRequest {
  path: {
    /** Id of the conversation. */
    conversation_id: number;
  };
  /** The part `audio`. */
  file: Upload;
}
export type UploadAudioReply = ApiReply<201, AudioMetadata>;
export type UploadAudioError =
  | { readonly status: 400; readonly body: InvalidConversationAudioError | FrameworkError }
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: PerUserTokenRequiredError | InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 413; readonly body: ConversationDataTooLargeError | FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface DownloadAudioRequest {
  path: {
    /** Id of the conversation. */
    conversation_id: number;
  };
  headers?: {
    /** One range of bytes, e.g. `bytes=0-1023`. */
    Range?: string;
    /** The range applies only if the file still has this ETag. */
    'If-Range'?: string;
    /** Returns 304 if the file has one of these ETags. */
    'If-None-Match'?: string;
  };
}
export type DownloadAudioReply = ApiReply<200, ReadableStream<Uint8Array>> | ApiReply<206, ReadableStream<Uint8Array>>;
export type DownloadAudioError =
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 416; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface GetVideoRequest {
  path: {
    /** Id of the conversation. */
    conversation_id: number;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type GetVideoReply = ApiReply<200, Video>;
export type GetVideoError =
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface DownloadCaptionsRequest {
  path: {
    /** Id of the conversation. */
    conversation_id: number;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type DownloadCaptionsReply = ApiReply<200, string>;
export type DownloadCaptionsError =
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface GetAgentRequest {
  path: {
    /** Slug of the agent. */
    slug: string;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type GetAgentReply = ApiReply<200, AgentOut>;
export type GetAgentError =
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface SendChatMessageRequest {
  path: {
    /** Slug of the agent. */
    agent_slug: string;
  };
  headers?: {
    /** Random value created by the client for one message. It must be unguessable: with the text of a first message it gives access to the thread. */
    'Idempotency-Key'?: string;
  };
  body: AgentChatIn;
}
export type SendChatMessageReply = ApiReply<200, AgentChatOut>;
export type SendChatMessageError =
  | { readonly status: 400; readonly body: FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 429; readonly body: FrameworkError }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface ReadChatUpdatesRequest {
  path: {
    /** Slug of the agent. */
    agent_slug: string;
  };
  body: ReadChatUpdatesBody;
}
export type ReadChatUpdatesReply = ApiReply<200, ChatUpdates>;
export type ReadChatUpdatesError =
  | { readonly status: 400; readonly body: FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 429; readonly body: FrameworkError }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface ReceiveAgentUpdateRequest {
  path: {
    /** Slug of the agent. */
    slug: string;
  };
  body?: ReceiveAgentUpdateBody;
}
export type ReceiveAgentUpdateReply = ApiReply<200, Accepted>;
export type ReceiveAgentUpdateError =
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface DownloadTranscriptFormats {
  md: string;
  json: Transcript;
  vtt: string;
  srt: string;
  txt: string;
}
export interface DownloadTranscriptRequest<Format extends keyof DownloadTranscriptFormats = keyof DownloadTranscriptFormats> {
  path: {
    /** Id of the conversation. */
    conversation_id: number;
  };
  query?: {
    /** Only this speaker: a person id, or the negative id of an unresolved speaker, as stored with the transcript. */
    person_id?: number;
    /** Overrides the header `Accept`. Default: `md`. */
    format?: Format;
    /** At most so many utterances, 1 to 1000; absent: all. */
    limit?: number;
    /** Utterances of the whole transcript before them. */
    offset?: number;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type DownloadTranscriptReply<Format extends keyof DownloadTranscriptFormats = keyof DownloadTranscriptFormats> = ApiReply<200, DownloadTranscriptFormats[Format]>;
export type DownloadTranscriptError =
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface SearchTranscriptsRequest {
  query: {
    /** Words, all of them in one utterance; `"a phrase"`, `-without`, `begin*`. Case and accents do not matter. */
    q: string;
    /** Said by this person. */
    person_id?: number;
    /** In conversations whose event is this holon or below it. */
    holon_slug?: string;
    /** In conversations of the journey with this slug. */
    journey?: string;
    /** In conversations that start then or later. */
    from?: string;
    /** In conversations that start before. */
    to?: string;
    /** Default 20. */
    limit?: number;
    /** `next` of the page before, with the same filters. */
    cursor?: string;
  };
}
export type SearchTranscriptsReply = ApiReply<200, SpokenMatches>;
export type SearchTranscriptsError =
  | { readonly status: 400; readonly body: InvalidCursorError | FrameworkError }
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: PerUserTokenRequiredError | InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface ReadImportEvidenceRequest {
  path: {
    /** Id of the conversation. */
    conversation_id: number;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type ReadImportEvidenceReply = ApiReply<200, ImportEvidence>;
export type ReadImportEvidenceError =
  | { readonly status: 401; readonly body: FrameworkError }
  | { readonly status: 403; readonly body: InsufficientScopeError | FrameworkError }
  | { readonly status: 404; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: FrameworkError }
;

export interface LoginRequest {
  body: LoginBody;
}
export type LoginReply = ApiReply<200, LoginResult>;
export type LoginError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: PermissionDeniedError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 429; readonly body: RateLimitedError }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface LogoutRequest {
  body?: Record<string, unknown>;
}
export type LogoutReply = ApiReply<200, LogoutResult>;
export type LogoutError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: PermissionDeniedError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface WhoamiRequest {
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type WhoamiReply = ApiReply<200, WhoamiResult>;
export type WhoamiError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: PermissionDeniedError }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ChangePasswordRequest {
  body: ChangePasswordBody;
}
export type ChangePasswordReply = ApiReply<200, ChangePasswordResult>;
export type ChangePasswordError =
  | { readonly status: 400; readonly body: WeakPasswordError | PublicPasswordError | ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: WrongPasswordError | PermissionDeniedError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 429; readonly body: RateLimitedError }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListSessionsRequest {
  query?: {
    /** Items of a page, default 50, at most 200. */
    limit?: number;
    /** Items to skip. Add `limit` until `has_more` is false. */
    offset?: number;
  };
}
export type ListSessionsReply = ApiReply<200, ListSessionsResult>;
export type ListSessionsError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: PermissionDeniedError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface RevokeSessionRequest {
  path: {
    /** Id of the session. */
    session_id: string;
  };
  body?: Record<string, unknown>;
}
export type RevokeSessionReply = ApiReply<200, RevokeSessionResult>;
export type RevokeSessionError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface SearchDirectoryRequest {
  query: {
    /** At least two characters, ignoring case and accents; `%` and `_` are literal. Searches the first 10,000 characters of descriptions. */
    q: string;
    /** Subset of `person` and `holon`. Default: both. Separated by commas, or as repeated `types` or `types[]`. */
    types?: ("person" | "holon")[];
    /** Results of each kind, default 20, at most 50. */
    limit_per_type?: number;
  };
}
export type SearchDirectoryReply = ApiReply<200, SearchDirectoryResult>;
export type SearchDirectoryError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListPeopleRequest {
  query: {
    /** Part of the name, ignoring case and accents. `%` and `_` are literal. */
    q: string;
    /** `name` (default), `latest` (newest first) or `updated` (last changed first). */
    sort?: "name" | "latest" | "updated";
    /** Created strictly after this instant. Without an offset it is UTC. */
    created_after?: string;
    /** Changed strictly after this instant. Without an offset it is UTC. */
    updated_after?: string;
    /** Items of a page, default 100, at most 100. */
    limit?: number;
    /** Items to skip. Add `limit` until `has_more` is false. */
    offset?: number;
  };
}
export type ListPeopleReply = ApiReply<200, ListPeopleResult>;
export type ListPeopleError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface CreatePersonRequest {
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: PersonCreate;
}
export type CreatePersonReply = ApiReply<201, CreatePersonResult>;
export type CreatePersonError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: DuplicatePerson | IdempotencyInProgressError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface GetPersonRequest {
  path: {
    /** Id of the person. */
    person_id: number;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type GetPersonReply = ApiReply<200, PersonPublic>;
export type GetPersonError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListHolonsRequest {
  query?: {
    /** Part of the name or description, ignoring case and accents. Searches the first 10,000 characters of descriptions. Required without `class`. */
    q?: string;
    /** Slug of an active class; includes holons of its subclasses. Required without `q`. */
    class?: string;
    /** Only children of this holon. */
    parent?: number;
    /** `name` (default), `latest` (newest first) or `updated` (last changed first). */
    sort?: "name" | "latest" | "updated";
    /** Created strictly after this instant. Without an offset it is UTC. */
    created_after?: string;
    /** Changed strictly after this instant. Without an offset it is UTC. */
    updated_after?: string;
    /** Items of a page, default 100, at most 100. */
    limit?: number;
    /** Items to skip. Add `limit` until `has_more` is false. */
    offset?: number;
  };
}
export type ListHolonsReply = ApiReply<200, ListHolonsResult>;
export type ListHolonsError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface CreateHolonRequest {
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: HolonCreate;
}
export type CreateHolonReply = ApiReply<201, CreateHolonResult>;
export type CreateHolonError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: SlugTakenError | IdempotencyInProgressError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface GetHolonRequest {
  path: {
    /** Id of the holon. */
    holon_id: number;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type GetHolonReply = ApiReply<200, HolonDetail>;
export type GetHolonError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface DeleteHolonRequest {
  path: {
    /** Id of the holon. */
    holon_id: number;
  };
  headers?: {
    /** Write only if the holon still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
  };
}
export type DeleteHolonReply = ApiReply<204, undefined>;
export type DeleteHolonError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 409; readonly body: HolonInUse }
  | { readonly status: 412; readonly body: PreconditionFailedV1Error }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface GetHolonBySlugRequest {
  path: {
    /** Slug of the holon. */
    slug: string;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type GetHolonBySlugReply = ApiReply<200, HolonDetail>;
export type GetHolonBySlugError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListClassesRequest {
  query?: {
    /** For example `holon`. */
    object_kind?: string;
  };
}
export type ListClassesReply = ApiReply<200, ObjectClassPublic[]>;
export type ListClassesError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface CreateClassRequest {
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: ClassCreate;
}
export type CreateClassReply = ApiReply<201, CreateClassResult>;
export type CreateClassError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: SlugTakenError | IdempotencyInProgressError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface GetClassRequest {
  path: {
    /** For example `holon`. */
    object_kind: string;
    /** Slug of the class. */
    slug: string;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type GetClassReply = ApiReply<200, ObjectClassPublic>;
export type GetClassError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface DeleteClassRequest {
  path: {
    /** For example `holon`. */
    object_kind: string;
    /** Slug of the class. */
    slug: string;
  };
  headers?: {
    /** Write only if the class still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
  };
}
export type DeleteClassReply = ApiReply<204, undefined>;
export type DeleteClassError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 409; readonly body: InUseError | ConflictError }
  | { readonly status: 412; readonly body: PreconditionFailedV1Error }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListJourneysRequest {
  query?: {
    /** Slug of the owning application. */
    svc_app?: string;
    /** For example `holon`. */
    object_kind?: string;
    /** Slug of the class to whose objects the journey applies. */
    applies_to?: string;
    is_conversation?: boolean;
    /** Part of the name or slug, ignoring case and accents. */
    q?: string;
    /** Items of a page, default 50, at most 200. */
    limit?: number;
    /** Items to skip. Add `limit` until `has_more` is false. */
    offset?: number;
  };
}
export type ListJourneysReply = ApiReply<200, ListJourneysResult>;
export type ListJourneysError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface CreateJourneyRequest {
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: JourneyCreate;
}
export type CreateJourneyReply = ApiReply<201, CreateJourneyResult>;
export type CreateJourneyError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: SlugTakenError | IdempotencyInProgressError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface GetJourneyRequest {
  path: {
    /** Slug of the journey. */
    slug: string;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type GetJourneyReply = ApiReply<200, Journey>;
export type GetJourneyError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface DeleteJourneyRequest {
  path: {
    /** Slug of the journey. */
    slug: string;
  };
  headers?: {
    /** Write only if the journey still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
  };
}
export type DeleteJourneyReply = ApiReply<204, undefined>;
export type DeleteJourneyError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 409; readonly body: InUseError | ConflictError }
  | { readonly status: 412; readonly body: PreconditionFailedV1Error }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface UpdateClassRequest {
  path: {
    /** For example `holon`. */
    object_kind: string;
    /** Slug of the class. */
    slug: string;
  };
  headers?: {
    /** Write only if the class still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: ClassUpdate;
}
export type UpdateClassReply = ApiReply<200, UpdateClassResult>;
export type UpdateClassError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdempotencyInProgressError | ConflictError }
  | { readonly status: 412; readonly body: PreconditionFailedV1Error }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface UpdateJourneyRequest {
  path: {
    /** Slug of the journey. */
    slug: string;
  };
  headers?: {
    /** Write only if the journey still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: JourneyUpdate;
}
export type UpdateJourneyReply = ApiReply<200, UpdateJourneyResult>;
export type UpdateJourneyError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdempotencyInProgressError | ConflictError }
  | { readonly status: 412; readonly body: PreconditionFailedV1Error }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface CreateStepRequest {
  path: {
    /** Slug of the journey. */
    slug: string;
  };
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: StepCreate;
}
export type CreateStepReply = ApiReply<201, CreateStepResult>;
export type CreateStepError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: SlugTakenError | IdempotencyInProgressError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface UpdateStepRequest {
  path: {
    /** Slug of the journey. */
    slug: string;
    /** Slug of the step. */
    step_slug: string;
  };
  headers?: {
    /** Write only if the step still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: StepUpdate;
}
export type UpdateStepReply = ApiReply<200, UpdateStepResult>;
export type UpdateStepError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdempotencyInProgressError | ConflictError }
  | { readonly status: 412; readonly body: PreconditionFailedV1Error }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface DeleteStepRequest {
  path: {
    /** Slug of the journey. */
    slug: string;
    /** Slug of the step. */
    step_slug: string;
  };
  headers?: {
    /** Write only if the step still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
  };
}
export type DeleteStepReply = ApiReply<204, undefined>;
export type DeleteStepError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 409; readonly body: InUseError | ConflictError }
  | { readonly status: 412; readonly body: PreconditionFailedV1Error }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListQuestionsRequest {
  path: {
    /** Slug of the journey. */
    slug: string;
  };
  query?: {
    /** Items of a page, default 200, at most 1000. */
    limit?: number;
    /** `next` of the previous page. */
    cursor?: string;
  };
}
export type ListQuestionsReply = ApiReply<200, ListQuestionsResult>;
export type ListQuestionsError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface CreateQuestionRequest {
  path: {
    /** Slug of the journey. */
    slug: string;
  };
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: QuestionCreate;
}
export type CreateQuestionReply = ApiReply<201, CreateQuestionResult>;
export type CreateQuestionError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdempotencyInProgressError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface UpdateQuestionRequest {
  path: {
    /** Slug of the journey. */
    slug: string;
    /** Id of the question. */
    question_id: number;
  };
  headers?: {
    /** Write only if the question still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: QuestionUpdate;
}
export type UpdateQuestionReply = ApiReply<200, UpdateQuestionResult>;
export type UpdateQuestionError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdempotencyInProgressError | ConflictError }
  | { readonly status: 412; readonly body: PreconditionFailedV1Error }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface UpdatePersonRequest {
  path: {
    /** Id of the person. */
    person_id: number;
  };
  headers?: {
    /** Write only if the person still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: PersonUpdate;
}
export type UpdatePersonReply = ApiReply<200, UpdatePersonResult>;
export type UpdatePersonError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: DuplicatePerson | IdempotencyInProgressError }
  | { readonly status: 412; readonly body: PreconditionFailedV1Error }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ExportPersonRequest {
  path: {
    /** Id of the person. */
    person_id: number;
  };
  query?: {
    /** Also the chats of these visitors of the chat page. Separated by commas, or as repeated `visitor_ids` or `visitor_ids[]`. */
    visitor_ids?: string[];
    /** Also the chats of these Telegram users. Separated by commas, or as repeated `telegram_user_ids` or `telegram_user_ids[]`. */
    telegram_user_ids?: number[];
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type ExportPersonReply = ApiReply<200, PersonExport>;
export type ExportPersonError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ErasePersonRequest {
  path: {
    /** Id of the person. */
    person_id: number;
  };
  headers?: {
    /** Write only if the person still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: ErasureCreate;
}
export type ErasePersonReply = ApiReply<200, ErasurePreview> | ApiReply<202, ErasePersonResult>;
export type ErasePersonError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: LastSuperuserError | IdempotencyInProgressError | ConflictError }
  | { readonly status: 412; readonly body: PreconditionFailedV1Error }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface GetPersonErasureRequest {
  path: {
    /** Id of the person. */
    person_id: number;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type GetPersonErasureReply = ApiReply<200, GetPersonErasureResult>;
export type GetPersonErasureError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface MergePersonRequest {
  path: {
    /** Id of the person to merge into the target. */
    person_id: number;
  };
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: MergeTarget;
}
export type MergePersonReply = ApiReply<200, MergePersonResult>;
export type MergePersonError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdempotencyInProgressError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface UpdateHolonRequest {
  path: {
    /** Id of the holon. */
    holon_id: number;
  };
  headers?: {
    /** Write only if the holon still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: HolonUpdate;
}
export type UpdateHolonReply = ApiReply<200, UpdateHolonResult>;
export type UpdateHolonError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: SlugTakenError | IdempotencyInProgressError | ConflictError }
  | { readonly status: 412; readonly body: PreconditionFailedV1Error }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface CreateExperienceRequest {
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: ExperienceCreate;
}
export type CreateExperienceReply = ApiReply<201, CreateExperienceResult>;
export type CreateExperienceError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdempotencyInProgressError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface UploadExperienceLogoRequest {
  path: {
    /** Id of the experience. */
    experience_id: number;
  };
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  /** The part `logo`. */
  file: Upload;
}
export type UploadExperienceLogoReply = ApiReply<200, UploadExperienceLogoResult>;
export type UploadExperienceLogoError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdempotencyInProgressError | ConflictError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListPersonMembershipsRequest {
  path: {
    /** Id of the person. */
    person_id: number;
  };
  query?: {
    /** Items of a page, default 50, at most 200. */
    limit?: number;
    /** Items to skip. Add `limit` until `has_more` is false. */
    offset?: number;
  };
}
export type ListPersonMembershipsReply = ApiReply<200, ListPersonMembershipsResult>;
export type ListPersonMembershipsError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListHolonMembershipsRequest {
  path: {
    /** Id of the holon. */
    holon_id: number;
  };
  query?: {
    /** Part of the person's name, description or a contact value, ignoring case and accents. */
    q?: string;
    /** Slug of the journey. */
    journey?: string;
    /** Slug of the current step. */
    step_slug?: string;
    /** Person who is responsible. */
    responsible_person_id?: number;
    /** `overdue`, `today`, `future`, or `none` for undated ones. Today's date is in `WORKLIST_TIME_ZONE`. */
    follow_up?: "overdue" | "today" | "future" | "none";
    /** `name` (default: journey name, person name), `-name`, `follow_up_after`, `-follow_up_after` (undated last in both), `person_created`, `-person_created` (when the person was created, not when they joined). */
    sort?: "name" | "-name" | "follow_up_after" | "-follow_up_after" | "person_created" | "-person_created";
    /** Items of a page, default 50, at most 200. */
    limit?: number;
    /** Items to skip. Add `limit` until `has_more` is false. */
    offset?: number;
  };
}
export type ListHolonMembershipsReply = ApiReply<200, ListHolonMembershipsResult>;
export type ListHolonMembershipsError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface CreateMembershipRequest {
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: MembershipCreate;
}
export type CreateMembershipReply = ApiReply<201, CreateMembershipResult>;
export type CreateMembershipError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: ExistingMembership | IdempotencyInProgressError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface DeleteMembershipRequest {
  path: {
    /** Id of the membership. */
    membership_id: number;
  };
  headers?: {
    /** Write only if the membership still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
  };
}
export type DeleteMembershipReply = ApiReply<204, undefined>;
export type DeleteMembershipError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 412; readonly body: PreconditionFailedV1Error }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface UpdateMembershipRequest {
  path: {
    /** Id of the membership. */
    membership_id: number;
  };
  headers?: {
    /** Write only if the membership still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: MembershipUpdate;
}
export type UpdateMembershipReply = ApiReply<200, UpdateMembershipResult>;
export type UpdateMembershipError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdempotencyInProgressError | ConflictError }
  | { readonly status: 412; readonly body: PreconditionFailedV1Error }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface BulkAddMembershipsRequest {
  path: {
    /** Id of the holon. */
    holon_id: number;
  };
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: BulkAdd;
}
export type BulkAddMembershipsReply = ApiReply<200, BulkAdded>;
export type BulkAddMembershipsError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: BulkInProgressError | IdempotencyInProgressError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListHolonRelationshipsRequest {
  path: {
    /** Id of the holon. */
    holon_id: number;
  };
  query?: {
    /** Items of a page, default 50, at most 200. */
    limit?: number;
    /** Items to skip. Add `limit` until it reaches `count`. */
    offset?: number;
  };
}
export type ListHolonRelationshipsReply = ApiReply<200, ListHolonRelationshipsResult>;
export type ListHolonRelationshipsError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface CreateRelationshipRequest {
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: RelationshipCreate;
}
export type CreateRelationshipReply = ApiReply<201, CreateRelationshipResult>;
export type CreateRelationshipError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: ExistingRelationship | IdempotencyInProgressError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface DeleteRelationshipRequest {
  path: {
    /** Id of the relationship. */
    relationship_id: number;
  };
  headers?: {
    /** Write only if the relationship still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
  };
}
export type DeleteRelationshipReply = ApiReply<204, undefined>;
export type DeleteRelationshipError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 412; readonly body: PreconditionFailedV1Error }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface UpdateRelationshipRequest {
  path: {
    /** Id of the relationship. */
    relationship_id: number;
  };
  headers?: {
    /** Write only if the relationship still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: RelationshipUpdate;
}
export type UpdateRelationshipReply = ApiReply<200, UpdateRelationshipResult>;
export type UpdateRelationshipError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdempotencyInProgressError | ConflictError }
  | { readonly status: 412; readonly body: PreconditionFailedV1Error }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListNotesOfPersonRequest {
  path: {
    /** Id of the person. */
    person_id: number;
  };
  query?: {
    /** Items of a page, default 50, at most 200. */
    limit?: number;
    /** Items to skip. Add `limit` until it reaches `count`. */
    offset?: number;
  };
}
export type ListNotesOfPersonReply = ApiReply<200, ListNotesOfPersonResult>;
export type ListNotesOfPersonError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface CreatePersonNoteRequest {
  path: {
    /** Id of the person. */
    person_id: number;
  };
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: PersonNoteCreate;
}
export type CreatePersonNoteReply = ApiReply<201, CreatePersonNoteResult>;
export type CreatePersonNoteError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdempotencyInProgressError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListNotesOfHolonRequest {
  path: {
    /** Id of the holon. */
    holon_id: number;
  };
  query?: {
    /** Items of a page, default 50, at most 200. */
    limit?: number;
    /** Items to skip. Add `limit` until it reaches `count`. */
    offset?: number;
  };
}
export type ListNotesOfHolonReply = ApiReply<200, ListNotesOfHolonResult>;
export type ListNotesOfHolonError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface CreateHolonNoteRequest {
  path: {
    /** Id of the holon. */
    holon_id: number;
  };
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: HolonNoteCreate;
}
export type CreateHolonNoteReply = ApiReply<201, CreateHolonNoteResult>;
export type CreateHolonNoteError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdempotencyInProgressError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface UpdateNoteRequest {
  path: {
    /** Id of the note. */
    note_id: number;
  };
  headers?: {
    /** Write only if the note still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: NoteUpdate;
}
export type UpdateNoteReply = ApiReply<200, UpdateNoteResult>;
export type UpdateNoteError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdempotencyInProgressError | ConflictError }
  | { readonly status: 412; readonly body: PreconditionFailedV1Error }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface DeleteNoteRequest {
  path: {
    /** Id of the note. */
    note_id: number;
  };
  headers?: {
    /** Write only if the note still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
  };
}
export type DeleteNoteReply = ApiReply<204, undefined>;
export type DeleteNoteError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 412; readonly body: PreconditionFailedV1Error }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListResponsibleRequest {
  query?: {
    /** Responsible person. Absent: any or no person. */
    responsible?: number;
    /** `person` for memberships; class slugs for relationships that involve the class or a subclass. Absent: all. Separated by commas, or as repeated `type` or `type[]`. */
    type?: string[];
    /** Subset of `overdue`, `today` and `future`; excludes undated items. Today's date is in `WORKLIST_TIME_ZONE`. Separated by commas, or as repeated `when` or `when[]`. */
    when?: ("overdue" | "today" | "future")[];
    /** Items of a page, default 100, at most 100. */
    limit?: number;
    /** Items to skip. Add `limit` until `has_more` is false. */
    offset?: number;
  };
}
export type ListResponsibleReply = ApiReply<200, ListResponsibleResult>;
export type ListResponsibleError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListSpheresRequest {
  query?: {
    /** Also lists inactive spheres. Requires the right to edit the set-up. */
    include_inactive?: boolean;
    /** Items of a page, default 50, at most 200. */
    limit?: number;
    /** `next` of the previous page. */
    cursor?: string;
  };
}
export type ListSpheresReply = ApiReply<200, ListSpheresResult>;
export type ListSpheresError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface CreateSphereRequest {
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: SphereCreate;
}
export type CreateSphereReply = ApiReply<201, CreateSphereResult>;
export type CreateSphereError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdempotencyInProgressError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface UpdateSphereRequest {
  path: {
    /** Id of the sphere. */
    sphere_id: number;
  };
  headers?: {
    /** Write only if the sphere still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: SphereUpdate;
}
export type UpdateSphereReply = ApiReply<200, UpdateSphereResult>;
export type UpdateSphereError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdempotencyInProgressError | ConflictError }
  | { readonly status: 412; readonly body: PreconditionFailedV1Error }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListPersonHistoryRequest {
  path: {
    /** Id of the person. */
    id: number;
  };
  query?: {
    /** Items of a page, default 50, at most 200. */
    limit?: number;
    /** `next` of the previous page. */
    cursor?: string;
  };
}
export type ListPersonHistoryReply = ApiReply<200, ListPersonHistoryResult>;
export type ListPersonHistoryError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListHolonHistoryRequest {
  path: {
    /** Id of the holon. */
    id: number;
  };
  query?: {
    /** Items of a page, default 50, at most 200. */
    limit?: number;
    /** `next` of the previous page. */
    cursor?: string;
  };
}
export type ListHolonHistoryReply = ApiReply<200, ListHolonHistoryResult>;
export type ListHolonHistoryError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListMembershipHistoryRequest {
  path: {
    /** Id of the membership. */
    id: number;
  };
  query?: {
    /** Items of a page, default 50, at most 200. */
    limit?: number;
    /** `next` of the previous page. */
    cursor?: string;
  };
}
export type ListMembershipHistoryReply = ApiReply<200, ListMembershipHistoryResult>;
export type ListMembershipHistoryError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListRelationshipHistoryRequest {
  path: {
    /** Id of the relationship. */
    id: number;
  };
  query?: {
    /** Items of a page, default 50, at most 200. */
    limit?: number;
    /** `next` of the previous page. */
    cursor?: string;
  };
}
export type ListRelationshipHistoryReply = ApiReply<200, ListRelationshipHistoryResult>;
export type ListRelationshipHistoryError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListJourneyHistoryRequest {
  path: {
    /** Id or slug of the journey. */
    id: string;
  };
  query?: {
    /** Items of a page, default 50, at most 200. */
    limit?: number;
    /** `next` of the previous page. */
    cursor?: string;
  };
}
export type ListJourneyHistoryReply = ApiReply<200, ListJourneyHistoryResult>;
export type ListJourneyHistoryError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListAccountHistoryRequest {
  path: {
    /** Id of the account. */
    id: number;
  };
  query?: {
    /** Items of a page, default 50, at most 200. */
    limit?: number;
    /** `next` of the previous page. */
    cursor?: string;
  };
}
export type ListAccountHistoryReply = ApiReply<200, ListAccountHistoryResult>;
export type ListAccountHistoryError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListClassHistoryRequest {
  path: {
    /** For example `holon`. */
    object_kind: string;
    /** Slug of the class. */
    slug: string;
  };
  query?: {
    /** Items of a page, default 50, at most 200. */
    limit?: number;
    /** `next` of the previous page. */
    cursor?: string;
  };
}
export type ListClassHistoryReply = ApiReply<200, ListClassHistoryResult>;
export type ListClassHistoryError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListWorkspaceAgentsRequest {
  query?: {
    /** Part of the name or slug, ignoring case. */
    q?: string;
    /** Items of a page, default 50, at most 200. */
    limit?: number;
    /** `next` of the previous page. */
    cursor?: string;
  };
}
export type ListWorkspaceAgentsReply = ApiReply<200, ListWorkspaceAgentsResult>;
export type ListWorkspaceAgentsError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface CreateAgentRequest {
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: AgentCreate;
}
export type CreateAgentReply = ApiReply<201, CreateAgentResult>;
export type CreateAgentError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: SlugTakenError | IdempotencyInProgressError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface GetWorkspaceAgentRequest {
  path: {
    /** Slug of the agent. */
    slug: string;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type GetWorkspaceAgentReply = ApiReply<200, GetWorkspaceAgentResult>;
export type GetWorkspaceAgentError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface DeleteAgentRequest {
  path: {
    /** Slug of the agent. */
    slug: string;
  };
  headers?: {
    /** Write only if the agent still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
  };
}
export type DeleteAgentReply = ApiReply<204, undefined>;
export type DeleteAgentError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 412; readonly body: PreconditionFailedV1Error }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface UpdateAgentRequest {
  path: {
    /** Slug of the agent. */
    slug: string;
  };
  headers?: {
    /** Write only if the agent still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: AgentUpdate;
}
export type UpdateAgentReply = ApiReply<200, UpdateAgentResult>;
export type UpdateAgentError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdempotencyInProgressError | ConflictError }
  | { readonly status: 412; readonly body: PreconditionFailedV1Error }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListAgentHistoryRequest {
  path: {
    /** Id or slug of the agent. */
    id: string;
  };
  query?: {
    /** Items of a page, default 50, at most 200. */
    limit?: number;
    /** `next` of the previous page. */
    cursor?: string;
  };
}
export type ListAgentHistoryReply = ApiReply<200, ListAgentHistoryResult>;
export type ListAgentHistoryError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListAccountsRequest {
  query?: {
    /** Part of the email, ignoring case. */
    q?: string;
    /** Only active accounts, or only deactivated ones. */
    active?: boolean;
    /** Only superusers, or only other accounts. */
    superuser?: boolean;
    /** Only members of this group. */
    group?: string;
    /** Items of a page, default 50, at most 200. */
    limit?: number;
    /** `next` of the previous page. */
    cursor?: string;
  };
}
export type ListAccountsReply = ApiReply<200, ListAccountsResult>;
export type ListAccountsError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface CreateAccountRequest {
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: AccountCreate;
}
export type CreateAccountReply = ApiReply<201, CreateAccountResult>;
export type CreateAccountError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: EmailTakenError | IdempotencyInProgressError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface GetAccountRequest {
  path: {
    /** Id of the account. */
    account_id: number;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type GetAccountReply = ApiReply<200, GetAccountResult>;
export type GetAccountError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface DeleteAccountRequest {
  path: {
    /** Id of the account. */
    account_id: number;
  };
  headers?: {
    /** Write only if the account still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
  };
}
export type DeleteAccountReply = ApiReply<204, undefined>;
export type DeleteAccountError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 409; readonly body: LastSuperuserError | ConflictError }
  | { readonly status: 412; readonly body: PreconditionFailedV1Error }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface UpdateAccountRequest {
  path: {
    /** Id of the account. */
    account_id: number;
  };
  headers?: {
    /** Write only if the account still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: AccountUpdate;
}
export type UpdateAccountReply = ApiReply<200, UpdateAccountResult>;
export type UpdateAccountError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: LastSuperuserError | IdempotencyInProgressError | ConflictError }
  | { readonly status: 412; readonly body: PreconditionFailedV1Error }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListAccountIdentitiesRequest {
  path: {
    /** Id of the account. */
    account_id: number;
  };
}
export type ListAccountIdentitiesReply = ApiReply<200, ListAccountIdentitiesResult>;
export type ListAccountIdentitiesError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface LinkAccountIdentityRequest {
  path: {
    /** Id of the account. */
    account_id: number;
  };
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: NamedIdentity;
}
export type LinkAccountIdentityReply = ApiReply<200, LinkAccountIdentityResult>;
export type LinkAccountIdentityError =
  | { readonly status: 400; readonly body: NoIssuerError | ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdentityLinkedError | IdempotencyInProgressError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface UnlinkAccountIdentityRequest {
  path: {
    /** Id of the account. */
    account_id: number;
  };
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: NamedIdentity;
}
export type UnlinkAccountIdentityReply = ApiReply<200, UnlinkAccountIdentityResult>;
export type UnlinkAccountIdentityError =
  | { readonly status: 400; readonly body: NoIssuerError | ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdempotencyInProgressError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ResetAccountPasswordRequest {
  path: {
    /** Id of the account. */
    account_id: number;
  };
  headers?: {
    /** Write only if the account still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body?: Record<string, unknown>;
}
export type ResetAccountPasswordReply = ApiReply<200, ResetAccountPasswordResult>;
export type ResetAccountPasswordError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: AccountInactiveError | IdempotencyInProgressError | ConflictError }
  | { readonly status: 412; readonly body: PreconditionFailedV1Error }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface CreateKeyRequest {
  body: ServiceKeyCreate;
}
export type CreateKeyReply = ApiReply<201, CreateKeyResult>;
export type CreateKeyError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: TooManyKeysError | AccountInactiveError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListKeysRequest {
  query?: {
    /** Only keys of this account. */
    account_id?: number;
    /** Items of a page, default 100, at most 100. */
    limit?: number;
    /** Items to skip. Add `limit` until `has_more` is false. */
    offset?: number;
  };
}
export type ListKeysReply = ApiReply<200, ListKeysResult>;
export type ListKeysError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface GetKeyRequest {
  path: {
    /** Id of the key. */
    key_id: string;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type GetKeyReply = ApiReply<200, GetKeyResult>;
export type GetKeyError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface RotateKeyRequest {
  path: {
    /** Id of the key. */
    key_id: string;
  };
  body?: RotateKeyBody;
}
export type RotateKeyReply = ApiReply<200, RotateKeyResult>;
export type RotateKeyError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: KeyEndedError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface RevokeKeyRequest {
  path: {
    /** Id of the key. */
    key_id: string;
  };
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body?: Record<string, unknown>;
}
export type RevokeKeyReply = ApiReply<200, RevokeKeyResult>;
export type RevokeKeyError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdempotencyInProgressError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListEventsRequest {
  query?: {
    /** Only events after this cursor; absent = from the oldest stored event; `latest` = no events, only the cursor of the current end. */
    after?: string;
    /** Only these types, `conversation.*` for all of a kind. Separated by commas, or as repeated `types` or `types[]`. */
    types?: string[];
    /** Only events of subjects of this type. */
    subject_type?: "conversation" | "person" | "holon" | "membership" | "relationship" | "note" | "webhook_endpoint";
    /** Only events of this subject; requires `subject_type`. */
    subject_id?: number;
    /** Seconds to wait for events when there are none. */
    wait?: number;
    /** Maximum number of events of the page. */
    limit?: number;
  };
}
export type ListEventsReply = ApiReply<200, ListEventsResult>;
export type ListEventsError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 410; readonly body: CursorExpiredError | GoneError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 429; readonly body: RateLimitedError }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface CreateWebhookEndpointRequest {
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: WebhookEndpointCreate;
}
export type CreateWebhookEndpointReply = ApiReply<201, CreateWebhookEndpointResult>;
export type CreateWebhookEndpointError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: TooManyEndpointsError | IdempotencyInProgressError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListWebhookEndpointsRequest {
  query?: {
    /** Only endpoints of this account. */
    account_id?: number;
    /** Items of a page, default 100, at most 200. */
    limit?: number;
    /** Number of items to skip. */
    offset?: number;
  };
}
export type ListWebhookEndpointsReply = ApiReply<200, ListWebhookEndpointsResult>;
export type ListWebhookEndpointsError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface GetWebhookEndpointRequest {
  path: {
    /** Id of the endpoint. */
    endpoint_id: number;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type GetWebhookEndpointReply = ApiReply<200, GetWebhookEndpointResult>;
export type GetWebhookEndpointError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface DeleteWebhookEndpointRequest {
  path: {
    /** Id of the endpoint. */
    endpoint_id: number;
  };
}
export type DeleteWebhookEndpointReply = ApiReply<204, undefined>;
export type DeleteWebhookEndpointError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface UpdateWebhookEndpointRequest {
  path: {
    /** Id of the endpoint. */
    endpoint_id: number;
  };
  headers?: {
    /** Write only if the endpoint still has one of these ETags; otherwise 412. */
    'If-Match'?: string;
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: WebhookEndpointUpdate;
}
export type UpdateWebhookEndpointReply = ApiReply<200, UpdateWebhookEndpointResult>;
export type UpdateWebhookEndpointError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdempotencyInProgressError | ConflictError }
  | { readonly status: 412; readonly body: PreconditionFailedV1Error }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface RotateWebhookSecretRequest {
  path: {
    /** Id of the endpoint. */
    endpoint_id: number;
  };
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body?: RotateWebhookSecretBody;
}
export type RotateWebhookSecretReply = ApiReply<200, RotateWebhookSecretResult>;
export type RotateWebhookSecretError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: IdempotencyInProgressError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface TestWebhookEndpointRequest {
  path: {
    /** Id of the endpoint. */
    endpoint_id: number;
  };
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body?: Record<string, unknown>;
}
export type TestWebhookEndpointReply = ApiReply<200, TestWebhookEndpointResult>;
export type TestWebhookEndpointError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: EndpointDisabledError | IdempotencyInProgressError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListWebhookDeliveriesRequest {
  path: {
    /** Id of the endpoint. */
    endpoint_id: number;
  };
  query?: {
    /** Only deliveries with this status. */
    status?: "pending" | "delivered" | "failed";
    /** Items of a page, default 50, at most 200. */
    limit?: number;
    /** `next` of the previous page. */
    cursor?: string;
  };
}
export type ListWebhookDeliveriesReply = ApiReply<200, ListWebhookDeliveriesResult>;
export type ListWebhookDeliveriesError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface RedeliverWebhookRequest {
  path: {
    /** Id of the endpoint. */
    endpoint_id: number;
    /** Id of the delivery. */
    delivery_id: string;
  };
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body?: Record<string, unknown>;
}
export type RedeliverWebhookReply = ApiReply<200, RedeliverWebhookResult>;
export type RedeliverWebhookError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: EndpointDisabledError | IdempotencyInProgressError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface RecoverWebhookEndpointRequest {
  path: {
    /** Id of the endpoint. */
    endpoint_id: number;
  };
  headers?: {
    /** A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response with `Idempotent-Replayed: true`. */
    'Idempotency-Key'?: string;
  };
  body: RecoverWebhookEndpointBody;
}
export type RecoverWebhookEndpointReply = ApiReply<200, RecoverWebhookEndpointResult>;
export type RecoverWebhookEndpointError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: EndpointDisabledError | IdempotencyInProgressError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: IdempotencyKeyReusedError | InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface GetOverviewRequest {}
export type GetOverviewReply = ApiReply<200, GetOverviewResult>;
export type GetOverviewError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListJobsRequest {
  query?: {
    /** Jobs of this service. */
    service?: "agents" | "conversations" | "directory" | "events" | "media" | "transcripts";
    /** For example `transcripts.transcript-import`. */
    type?: string;
    /** Jobs in this state. */
    state?: "queued" | "running" | "succeeded" | "dead" | "cancelled";
    /** Jobs with this key. */
    key?: string;
    /** Jobs whose error contains this; case matters. */
    error?: string;
    /** Jobs whose payload names the conversation. */
    conversation_id?: number;
    /** Jobs created by this request. */
    request_id?: string;
    /** Jobs created at or after this time. */
    created_after?: string;
    /** Jobs created before this time. */
    created_before?: string;
    /** Rows of a page, default 50, at most 200. */
    limit?: number;
    /** `next` of the previous page. */
    cursor?: string;
  };
}
export type ListJobsReply = ApiReply<200, ListJobsResult>;
export type ListJobsError =
  | { readonly status: 400; readonly body: BadCursorError | ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface GetJobRequest {
  path: {
    /** Service that runs the job. */
    service: string;
    /** Id of the job. */
    job_id: string;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type GetJobReply = ApiReply<200, GetJobResult>;
export type GetJobError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface RedriveJobsRequest {
  body: RedriveJobsBody;
}
export type RedriveJobsReply = ApiReply<200, RedriveJobsResult>;
export type RedriveJobsError =
  | { readonly status: 400; readonly body: EmptyChoiceError | ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface CancelJobsRequest {
  body: CancelJobsBody;
}
export type CancelJobsReply = ApiReply<200, CancelJobsResult>;
export type CancelJobsError =
  | { readonly status: 400; readonly body: EmptyChoiceError | ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListWebhooksRequest {
  query?: {
    /** Webhooks of this kind. */
    kind?: "booking" | "meeting" | "telegram";
    /** Webhooks with this outcome, for example `applied`. */
    outcome?: string;
    /** Webhooks with this person id in their path. */
    person_id?: number;
    /** Webhooks received at or after this time. */
    from?: string;
    /** Webhooks received before this time. */
    to?: string;
    /** Text in the body; case-insensitive for ASCII letters. */
    q?: string;
    /** Rows of a page, default 50, at most 200. */
    limit?: number;
    /** `next` of the previous page. */
    cursor?: string;
  };
}
export type ListWebhooksReply = ApiReply<200, ListWebhooksResult>;
export type ListWebhooksError =
  | { readonly status: 400; readonly body: BadCursorError | ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface GetWebhookRequest {
  path: {
    /** Id of a webhook. */
    receipt_id: number;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type GetWebhookReply = ApiReply<200, GetWebhookResult>;
export type GetWebhookError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ReplayWebhooksRequest {
  body: ReplayWebhooksBody;
}
export type ReplayWebhooksReply = ApiReply<200, ReplayWebhooksResult>;
export type ReplayWebhooksError =
  | { readonly status: 400; readonly body: EmptyChoiceError | ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListPipelinesRequest {
  query?: {
    /** Slug of a journey. */
    journey?: string;
    /** Slug of a step. */
    step?: string;
    /** State of the job of the step; `none` if it has no job. */
    state?: "queued" | "running" | "succeeded" | "dead" | "cancelled" | "none";
    /** Only this conversation. */
    conversation_id?: number;
    /** Rows of a page, default 50, at most 200. */
    limit?: number;
    /** `next` of the previous page. */
    cursor?: string;
  };
}
export type ListPipelinesReply = ApiReply<200, ListPipelinesResult>;
export type ListPipelinesError =
  | { readonly status: 400; readonly body: BadCursorError | ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface RetryPipelineRequest {
  path: {
    /** Id of the conversation. */
    conversation_id: number;
  };
  body?: Record<string, unknown>;
}
export type RetryPipelineReply = ApiReply<200, RetryPipelineResult>;
export type RetryPipelineError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: NoJobError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListThreadsRequest {
  query?: {
    /** Slug of an agent. */
    agent?: string;
    /** Where the visitor writes. */
    channel?: "web" | "telegram";
    /** True: only threads taken over by a person; false: only threads answered by the agent. */
    taken?: boolean;
    /** Rows of a page, default 50, at most 200. */
    limit?: number;
    /** `next` of the previous page. */
    cursor?: string;
  };
}
export type ListThreadsReply = ApiReply<200, ListThreadsResult>;
export type ListThreadsError =
  | { readonly status: 400; readonly body: BadCursorError | ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface GetThreadRequest {
  path: {
    /** Id of the thread. */
    thread_id: number;
  };
  query?: {
    /** Messages before this turn. */
    before?: number;
    /** Messages, default 50, at most 200. */
    limit?: number;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type GetThreadReply = ApiReply<200, GetThreadResult>;
export type GetThreadError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface TakeThreadRequest {
  path: {
    /** Id of the thread. */
    thread_id: number;
  };
  body?: Record<string, unknown>;
}
export type TakeThreadReply = ApiReply<200, TakeThreadResult>;
export type TakeThreadError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: ThreadTakenError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface SayInThreadRequest {
  path: {
    /** Id of the thread. */
    thread_id: number;
  };
  headers?: {
    /** Repeated requests with the same key and body send one message. */
    'Idempotency-Key'?: string;
  };
  body: SayInThreadBody;
}
export type SayInThreadReply = ApiReply<200, SayInThreadResult>;
export type SayInThreadError =
  | { readonly status: 400; readonly body: EmptyMessageError | ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: ThreadTakenError | ThreadNotTakenError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface HandThreadBackRequest {
  path: {
    /** Id of the thread. */
    thread_id: number;
  };
  body?: Record<string, unknown>;
}
export type HandThreadBackReply = ApiReply<200, HandThreadBackResult>;
export type HandThreadBackError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListAllConversationsRequest {
  query?: {
    /** Of this journey. */
    journey_slug?: string;
    /** Of this conversation event. */
    event_slug?: string;
    /** A positive integer; ids are per instance. */
    person_id?: number;
    /** That start at this time or later. */
    since?: string;
    /** That start before this time. */
    until?: string;
    /** Items of a page, default 50, at most 200. */
    limit?: number;
    /** `next` of the previous page. */
    cursor?: string;
  };
}
export type ListAllConversationsReply = ApiReply<200, ListAllConversationsResult>;
export type ListAllConversationsError =
  | { readonly status: 400; readonly body: BadCursorError | ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListDeletedConversationsRequest {
  query?: {
    /** Items of a page, default 50, at most 200. */
    limit?: number;
    /** `next` of the previous page. */
    cursor?: string;
  };
}
export type ListDeletedConversationsReply = ApiReply<200, ListDeletedConversationsResult>;
export type ListDeletedConversationsError =
  | { readonly status: 400; readonly body: BadCursorError | ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface GetConversationDetailsRequest {
  path: {
    /** Id of the conversation. */
    id: number;
  };
  headers?: {
    /** Tags that the caller holds already. */
    'If-None-Match'?: string;
  };
}
export type GetConversationDetailsReply = ApiReply<200, ConversationDetails>;
export type GetConversationDetailsError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListImportEvidenceRequest {
  query?: {
    /** Id of the conversation. */
    conversation_id?: number;
    /** SHA-256 of the artifact, lower-case hex. */
    sha256?: string;
  };
}
export type ListImportEvidenceReply = ApiReply<200, ListImportEvidenceResult>;
export type ListImportEvidenceError =
  | { readonly status: 400; readonly body: AmbiguousSelectionError | ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | NotAnOperatorError | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface FindPeopleRequest {
  query: {
    /** Id, workspace key, email, phone number or name. Numbers are ids or keys. */
    identifier: string;
  };
}
export type FindPeopleReply = ApiReply<200, FindPeopleResult>;
export type FindPeopleError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListDuplicatePeopleRequest {
  query?: {
    /** Items of a page, default 50, at most 200. */
    limit?: number;
    /** `next` of the previous page. */
    cursor?: string;
  };
}
export type ListDuplicatePeopleReply = ApiReply<200, ListDuplicatePeopleResult>;
export type ListDuplicatePeopleError =
  | { readonly status: 400; readonly body: BadCursorError | ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListAgentsRequest {
  query?: {
    /** Rows of a page, default 50, at most 200. */
    limit?: number;
    /** `next` of the previous page. */
    cursor?: string;
  };
}
export type ListAgentsReply = ApiReply<200, ListAgentsResult>;
export type ListAgentsError =
  | { readonly status: 400; readonly body: BadCursorError | ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListAgentUsageRequest {
  query?: {
    /** Slug of the agent. */
    slug?: string;
    /** First day, `YYYY-MM-DD`. */
    since?: string;
    /** Default 100. */
    limit?: number;
  };
}
export type ListAgentUsageReply = ApiReply<200, ListAgentUsageResult>;
export type ListAgentUsageError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | NotAnOperatorError | PermissionDeniedError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListAgentKnowledgeRequest {
  path: {
    /** Slug of the agent. */
    slug: string;
  };
  query?: {
    /** Only sentences in this state. */
    state?: "waiting" | "approved";
    /** Rows of a page, default 50, at most 200. */
    limit?: number;
    /** `next` of the previous page. */
    cursor?: string;
  };
}
export type ListAgentKnowledgeReply = ApiReply<200, ListAgentKnowledgeResult>;
export type ListAgentKnowledgeError =
  | { readonly status: 400; readonly body: BadCursorError | ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ApproveAgentKnowledgeRequest {
  path: {
    /** Slug of the agent. */
    slug: string;
  };
  body: ApproveAgentKnowledgeBody;
}
export type ApproveAgentKnowledgeReply = ApiReply<200, ApproveAgentKnowledgeResult>;
export type ApproveAgentKnowledgeError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | NotAnOperatorError | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: TooMuchKnowledgeError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface RejectAgentKnowledgeRequest {
  path: {
    /** Slug of the agent. */
    slug: string;
  };
  body: RejectAgentKnowledgeBody;
}
export type RejectAgentKnowledgeReply = ApiReply<200, RejectAgentKnowledgeResult>;
export type RejectAgentKnowledgeError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | NotAnOperatorError | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ReadAgentRecordRequest {
  path: {
    /** Slug of the agent. */
    slug: string;
  };
  body?: ReadAgentRecordBody;
}
export type ReadAgentRecordReply = ApiReply<200, ReadAgentRecordResult>;
export type ReadAgentRecordError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | NotAnOperatorError | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ForgetChatsRequest {
  body: ForgetChatsBody;
}
export type ForgetChatsReply = ApiReply<200, ForgetChatsResult>;
export type ForgetChatsError =
  | { readonly status: 400; readonly body: AmbiguousSelectionError | ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | NotAnOperatorError | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface LookUpAgentWebhookRequest {
  path: {
    /** Slug of the agent. */
    slug: string;
  };
}
export type LookUpAgentWebhookReply = ApiReply<200, LookUpAgentWebhookResult>;
export type LookUpAgentWebhookError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | NotAnOperatorError | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 409; readonly body: BotNotConfiguredError | BotApiFailedError | ConflictError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface SetAgentWebhookRequest {
  path: {
    /** Slug of the agent. */
    slug: string;
  };
  body: SetAgentWebhookBody;
}
export type SetAgentWebhookReply = ApiReply<200, SetAgentWebhookResult>;
export type SetAgentWebhookError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | NotASuperuserError | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: BotNotConfiguredError | BotApiFailedError | WebhookSecretMissingError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListAuditRequest {
  query?: {
    /** Email or id of the acting account. */
    actor?: string;
    /** For example `login`. */
    action?: string;
    /** `type:id`, for example `account:7`. */
    target?: string;
    /** Entries at or after this time. */
    from?: string;
    /** Entries before this time. */
    to?: string;
    /** Entries of the log of this service. */
    service?: "agents" | "conversations" | "directory" | "events" | "media" | "transcripts";
    /** Entries of a page, default 50, at most 200. */
    limit?: number;
    /** `next` of the previous page. */
    cursor?: string;
  };
}
export type ListAuditReply = ApiReply<200, ListAuditResult>;
export type ListAuditError =
  | { readonly status: 400; readonly body: BadCursorError | ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | PermissionDeniedError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ListStepConfigAuditRequest {
  path: {
    /** Slug of the journey. */
    journey_slug: string;
    /** Slug of the step. */
    step_slug: string;
  };
  query?: {
    /** Items of a page, default 100, at most 1000. */
    limit?: number;
  };
}
export type ListStepConfigAuditReply = ApiReply<200, ListStepConfigAuditResult>;
export type ListStepConfigAuditError =
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | NotAnOperatorError | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ReconcileBookingsRequest {
  body: ReconcileBookingsBody;
}
export type ReconcileBookingsReply = ApiReply<200, ReconcileBookingsResult>;
export type ReconcileBookingsError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | NotAnOperatorError | PermissionDeniedError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 409; readonly body: NotConfiguredError | ConflictError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface ImportTranscriptRequest {
  path: {
    /** Id of the conversation. */
    conversation_id: number;
  };
  body?: Record<string, unknown>;
}
export type ImportTranscriptReply = ApiReply<200, ImportTranscriptResult>;
export type ImportTranscriptError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | NotAnOperatorError | PermissionDeniedError }
  | { readonly status: 404; readonly body: NotFoundError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

export interface PruneEventsRequest {
  body: PruneEventsBody;
}
export type PruneEventsReply = ApiReply<200, PruneEventsResult>;
export type PruneEventsError =
  | { readonly status: 400; readonly body: ValidationError | FrameworkError }
  | { readonly status: 401; readonly body: UnauthenticatedError }
  | { readonly status: 403; readonly body: InsufficientScopeV1Error | NotAnOperatorError | PermissionDeniedError }
  | { readonly status: 408; readonly body: FrameworkError }
  | { readonly status: 413; readonly body: FrameworkError }
  | { readonly status: 415; readonly body: FrameworkError }
  | { readonly status: 422; readonly body: InvalidInput }
  | { readonly status: 431; readonly body: FrameworkError }
  | { readonly status: 503; readonly body: ServerError }
;

/** The errors of each operation, by its name; see `isErrorOf`. */
export interface OperationErrors {
  findActiveConversations: FindActiveConversationsError;
  createConversation: CreateConversationError;
  getConversation: GetConversationError;
  patchConversation: PatchConversationError;
  deleteConversation: DeleteConversationError;
  markRecorded: MarkRecordedError;
  updateConversation: UpdateConversationError;
  restoreConversation: RestoreConversationError;
  listConversationNotes: ListConversationNotesError;
  createConversationNote: CreateConversationNoteError;
  getConversationTimeline: GetConversationTimelineError;
  getConversationInfos: GetConversationInfosError;
  patchConversationInfos: PatchConversationInfosError;
  recordQuestionChange: RecordQuestionChangeError;
  searchConversations: SearchConversationsError;
  getConversationSummary: GetConversationSummaryError;
  browseHolonConversations: BrowseHolonConversationsError;
  browseJourneyConversations: BrowseJourneyConversationsError;
  browseHolon: BrowseHolonError;
  lookUpPersons: LookUpPersonsError;
  lookUpHolons: LookUpHolonsError;
  listConversationEvents: ListConversationEventsError;
  listEventJourneys: ListEventJourneysError;
  listJourneySteps: ListJourneyStepsError;
  readStepConfig: ReadStepConfigError;
  patchStepConfig: PatchStepConfigError;
  writeRoom: WriteRoomError;
  readRoom: ReadRoomError;
  receiveBooking: ReceiveBookingError;
  explainBookingHook: ExplainBookingHookError;
  receiveMeetingReport: ReceiveMeetingReportError;
  uploadAudio: UploadAudioError;
  downloadAudio: DownloadAudioError;
  getVideo: GetVideoError;
  downloadCaptions: DownloadCaptionsError;
  getAgent: GetAgentError;
  sendChatMessage: SendChatMessageError;
  readChatUpdates: ReadChatUpdatesError;
  receiveAgentUpdate: ReceiveAgentUpdateError;
  downloadTranscript: DownloadTranscriptError;
  searchTranscripts: SearchTranscriptsError;
  readImportEvidence: ReadImportEvidenceError;
  login: LoginError;
  logout: LogoutError;
  whoami: WhoamiError;
  changePassword: ChangePasswordError;
  listSessions: ListSessionsError;
  revokeSession: RevokeSessionError;
  searchDirectory: SearchDirectoryError;
  listPeople: ListPeopleError;
  createPerson: CreatePersonError;
  getPerson: GetPersonError;
  listHolons: ListHolonsError;
  createHolon: CreateHolonError;
  getHolon: GetHolonError;
  deleteHolon: DeleteHolonError;
  getHolonBySlug: GetHolonBySlugError;
  listClasses: ListClassesError;
  createClass: CreateClassError;
  getClass: GetClassError;
  deleteClass: DeleteClassError;
  listJourneys: ListJourneysError;
  createJourney: CreateJourneyError;
  getJourney: GetJourneyError;
  deleteJourney: DeleteJourneyError;
  updateClass: UpdateClassError;
  updateJourney: UpdateJourneyError;
  createStep: CreateStepError;
  updateStep: UpdateStepError;
  deleteStep: DeleteStepError;
  listQuestions: ListQuestionsError;
  createQuestion: CreateQuestionError;
  updateQuestion: UpdateQuestionError;
  updatePerson: UpdatePersonError;
  exportPerson: ExportPersonError;
  erasePerson: ErasePersonError;
  getPersonErasure: GetPersonErasureError;
  mergePerson: MergePersonError;
  updateHolon: UpdateHolonError;
  createExperience: CreateExperienceError;
  uploadExperienceLogo: UploadExperienceLogoError;
  listPersonMemberships: ListPersonMembershipsError;
  listHolonMemberships: ListHolonMembershipsError;
  createMembership: CreateMembershipError;
  deleteMembership: DeleteMembershipError;
  updateMembership: UpdateMembershipError;
  bulkAddMemberships: BulkAddMembershipsError;
  listHolonRelationships: ListHolonRelationshipsError;
  createRelationship: CreateRelationshipError;
  deleteRelationship: DeleteRelationshipError;
  updateRelationship: UpdateRelationshipError;
  listNotesOfPerson: ListNotesOfPersonError;
  createPersonNote: CreatePersonNoteError;
  listNotesOfHolon: ListNotesOfHolonError;
  createHolonNote: CreateHolonNoteError;
  updateNote: UpdateNoteError;
  deleteNote: DeleteNoteError;
  listResponsible: ListResponsibleError;
  listSpheres: ListSpheresError;
  createSphere: CreateSphereError;
  updateSphere: UpdateSphereError;
  listPersonHistory: ListPersonHistoryError;
  listHolonHistory: ListHolonHistoryError;
  listMembershipHistory: ListMembershipHistoryError;
  listRelationshipHistory: ListRelationshipHistoryError;
  listJourneyHistory: ListJourneyHistoryError;
  listAccountHistory: ListAccountHistoryError;
  listClassHistory: ListClassHistoryError;
  listWorkspaceAgents: ListWorkspaceAgentsError;
  createAgent: CreateAgentError;
  getWorkspaceAgent: GetWorkspaceAgentError;
  deleteAgent: DeleteAgentError;
  updateAgent: UpdateAgentError;
  listAgentHistory: ListAgentHistoryError;
  listAccounts: ListAccountsError;
  createAccount: CreateAccountError;
  getAccount: GetAccountError;
  deleteAccount: DeleteAccountError;
  updateAccount: UpdateAccountError;
  listAccountIdentities: ListAccountIdentitiesError;
  linkAccountIdentity: LinkAccountIdentityError;
  unlinkAccountIdentity: UnlinkAccountIdentityError;
  resetAccountPassword: ResetAccountPasswordError;
  createKey: CreateKeyError;
  listKeys: ListKeysError;
  getKey: GetKeyError;
  rotateKey: RotateKeyError;
  revokeKey: RevokeKeyError;
  listEvents: ListEventsError;
  createWebhookEndpoint: CreateWebhookEndpointError;
  listWebhookEndpoints: ListWebhookEndpointsError;
  getWebhookEndpoint: GetWebhookEndpointError;
  deleteWebhookEndpoint: DeleteWebhookEndpointError;
  updateWebhookEndpoint: UpdateWebhookEndpointError;
  rotateWebhookSecret: RotateWebhookSecretError;
  testWebhookEndpoint: TestWebhookEndpointError;
  listWebhookDeliveries: ListWebhookDeliveriesError;
  redeliverWebhook: RedeliverWebhookError;
  recoverWebhookEndpoint: RecoverWebhookEndpointError;
  getOverview: GetOverviewError;
  listJobs: ListJobsError;
  getJob: GetJobError;
  redriveJobs: RedriveJobsError;
  cancelJobs: CancelJobsError;
  listWebhooks: ListWebhooksError;
  getWebhook: GetWebhookError;
  replayWebhooks: ReplayWebhooksError;
  listPipelines: ListPipelinesError;
  retryPipeline: RetryPipelineError;
  listThreads: ListThreadsError;
  getThread: GetThreadError;
  takeThread: TakeThreadError;
  sayInThread: SayInThreadError;
  handThreadBack: HandThreadBackError;
  listAllConversations: ListAllConversationsError;
  listDeletedConversations: ListDeletedConversationsError;
  getConversationDetails: GetConversationDetailsError;
  listImportEvidence: ListImportEvidenceError;
  findPeople: FindPeopleError;
  listDuplicatePeople: ListDuplicatePeopleError;
  listAgents: ListAgentsError;
  listAgentUsage: ListAgentUsageError;
  listAgentKnowledge: ListAgentKnowledgeError;
  approveAgentKnowledge: ApproveAgentKnowledgeError;
  rejectAgentKnowledge: RejectAgentKnowledgeError;
  readAgentRecord: ReadAgentRecordError;
  forgetChats: ForgetChatsError;
  lookUpAgentWebhook: LookUpAgentWebhookError;
  setAgentWebhook: SetAgentWebhookError;
  listAudit: ListAuditError;
  listStepConfigAudit: ListStepConfigAuditError;
  reconcileBookings: ReconcileBookingsError;
  importTranscript: ImportTranscriptError;
  pruneEvents: PruneEventsError;
}

/** One method for every operation. */
export interface Operations {
  /**
   * Find the active conversations of a person and journey, or create one
   * A conversation is active when the person takes part in it, it belongs to the journey, its start is at most five minutes after `time`, and its finish is open or not before `time`. If none is active, an unscheduled one is created at `time` and returned. Ordered by start, then id.
   * `GET /api/coherence/conversations`
   */
  findActiveConversations(request: FindActiveConversationsRequest, options?: CallOptions): Promise<FindActiveConversationsReply>;
  /**
   * Create a conversation
   * Per-user tokens need coherence access or team authority over the event. Without `event_slug`, the journey's only event owns it, if there is exactly one; without `step_slug` it enters the first active step. Forbidden in both fields: `enter-coherence` (its own endpoint writes it), `booking`, `pipeline.*` and `idempotency` (written internally only), `question_changes` and `question_timings`. Forbidden in `config`: `publishing`, `publishing_status`, `publish_decisions`, `publishing_approval`.
   * `POST /api/coherence/conversations`
   */
  createConversation(request: CreateConversationRequest, options?: CallOptions): Promise<CreateConversationReply>;
  /**
   * Read one conversation
   * `GET /api/coherence/conversations/{conversation_id}`
   */
  getConversation(request: GetConversationRequest & Conditional, options?: CallOptions): Promise<GetConversationReply | NotModified>;
  /**
   * Read one conversation
   * `GET /api/coherence/conversations/{conversation_id}`
   */
  getConversation(request: GetConversationRequest, options?: CallOptions): Promise<GetConversationReply>;
  /**
   * Merge infos and config
   * Supplied top-level keys replace whole values; omitted keys do not change. Forbidden in both fields: `enter-coherence` (its own endpoint writes it), `booking`, `pipeline.*` and `idempotency` (written internally only), `question_changes` and `question_timings`. Forbidden in `config`: `publishing`, `publishing_status`, `publish_decisions`, `publishing_approval`.
   * `PATCH /api/coherence/conversations/{conversation_id}`
   */
  patchConversation(request: PatchConversationRequest, options?: CallOptions): Promise<PatchConversationReply>;
  /**
   * Delete a conversation
   * Requires coherence access or team authority over the event of the conversation. It is hidden at once, can be restored for `DELETED_RETENTION_DAYS`, and is then removed with all its data.
   * `DELETE /api/coherence/conversations/{conversation_id}`
   */
  deleteConversation(request: DeleteConversationRequest, options?: CallOptions): Promise<DeleteConversationReply>;
  /**
   * Mark as recorded: advance the step, note it, merge the body
   * With an Idempotency-Key the effects happen once in 24 hours; a repeated call returns the current conversation and only checks the boundary. Without a key, every call advances the step. Forbidden in both fields: `enter-coherence` (its own endpoint writes it), `booking`, `pipeline.*` and `idempotency` (written internally only), `question_changes` and `question_timings`. Forbidden in `config`: `publishing`, `publishing_status`, `publish_decisions`, `publishing_approval`.
   * `POST /api/coherence/conversations/{conversation_id}/recorded`
   */
  markRecorded(request: MarkRecordedRequest, options?: CallOptions): Promise<MarkRecordedReply>;
  /**
   * Change times, people, links, event or step
   * Requires coherence access or team authority over the event of the conversation. Changes the fields in the request, all of them or none; lists are replaced whole. Naming another step enters it, with its job.
   * `POST /api/coherence/conversations/{conversation_id}/update`
   */
  updateConversation(request: UpdateConversationRequest, options?: CallOptions): Promise<UpdateConversationReply>;
  /**
   * Restore a deleted conversation
   * Requires coherence access or team authority over the event of the conversation. The conversation is visible again with all its data.
   * `POST /api/coherence/conversations/{conversation_id}/restore`
   */
  restoreConversation(request: RestoreConversationRequest, options?: CallOptions): Promise<RestoreConversationReply>;
  /**
   * List notes of a conversation
   * Requires coherence access or team authority over the event of the conversation. Newest first.
   * `GET /api/coherence/conversations/{conversation_id}/notes`
   */
  listConversationNotes(request: ListConversationNotesRequest, options?: CallOptions): Promise<ListConversationNotesReply>;
  /**
   * Add a note to a conversation
   * Requires coherence access or team authority over the event of the conversation.
   * `POST /api/coherence/conversations/{conversation_id}/notes`
   */
  createConversationNote(request: CreateConversationNoteRequest, options?: CallOptions): Promise<CreateConversationNoteReply>;
  /**
   * Read the timeline of a conversation
   * What happened to the conversation, oldest first: bookings, room and transcript window, steps, questions, files, imports, failed jobs, publishing and notes. Services that did not answer are listed in `missing`; their items are not in the list.
   * `GET /api/coherence/conversations/{conversation_id}/timeline`
   */
  getConversationTimeline(request: GetConversationTimelineRequest & Conditional, options?: CallOptions): Promise<GetConversationTimelineReply | NotModified>;
  /**
   * Read the timeline of a conversation
   * What happened to the conversation, oldest first: bookings, room and transcript window, steps, questions, files, imports, failed jobs, publishing and notes. Services that did not answer are listed in `missing`; their items are not in the list.
   * `GET /api/coherence/conversations/{conversation_id}/timeline`
   */
  getConversationTimeline(request: GetConversationTimelineRequest, options?: CallOptions): Promise<GetConversationTimelineReply>;
  /**
   * Read infos
   * `GET /api/coherence/conversations/{conversation_id}/infos`
   */
  getConversationInfos(request: GetConversationInfosRequest & Conditional, options?: CallOptions): Promise<GetConversationInfosReply | NotModified>;
  /**
   * Read infos
   * `GET /api/coherence/conversations/{conversation_id}/infos`
   */
  getConversationInfos(request: GetConversationInfosRequest, options?: CallOptions): Promise<GetConversationInfosReply>;
  /**
   * Merge infos
   * Supplied top-level keys replace whole values; omitted keys do not change; nothing is deleted. Never touches `config`. Forbidden: `enter-coherence` and `audio` (their own endpoints write them), `booking`, `pipeline.*` and `idempotency` (written internally only), `question_changes` and `question_timings`.
   * `PATCH /api/coherence/conversations/{conversation_id}/infos`
   */
  patchConversationInfos(request: PatchConversationInfosRequest, options?: CallOptions): Promise<PatchConversationInfosReply>;
  /**
   * Record that a question was displayed
   * Changes may arrive in any order; each is stored at its own `occurredAt`. Order, active question and durations are derived and returned as `question_state` of the conversation. The same key with the same content returns 200 with `replayed: true`. A rejected call does not use up its key.
   * `POST /api/coherence/conversations/{conversation_id}/question-changes`
   */
  recordQuestionChange(request: RecordQuestionChangeRequest, options?: CallOptions): Promise<RecordQuestionChangeReply>;
  /**
   * Search conversations
   * Never creates a conversation. Without filters it lists every conversation that the caller may see; filters combine with AND. Without `limit` the response is streamed and has no size limit. Conversations of a holon of a private class are visible to callers who can see the holon.
   * `GET /api/coherence/conversations/search`
   */
  searchConversations(request?: SearchConversationsRequest, options?: CallOptions): Promise<SearchConversationsReply>;
  /**
   * Read one conversation as a search item
   * `GET /api/coherence/conversations/{conversation_id}/summary`
   */
  getConversationSummary(request: GetConversationSummaryRequest & Conditional, options?: CallOptions): Promise<GetConversationSummaryReply | NotModified>;
  /**
   * Read one conversation as a search item
   * `GET /api/coherence/conversations/{conversation_id}/summary`
   */
  getConversationSummary(request: GetConversationSummaryRequest, options?: CallOptions): Promise<GetConversationSummaryReply>;
  /**
   * Browse the conversations of a holon's events
   * Immediate child events and journeys attached directly to them; nothing is inherited. A conversation is in a group when its journey is the group's and the event owns it or is linked to it. Newest start first, then id.
   * `GET /api/coherence/browse/holons/{holon_slug}/conversations`
   */
  browseHolonConversations(request: BrowseHolonConversationsRequest, options?: CallOptions): Promise<BrowseHolonConversationsReply>;
  /**
   * Browse the conversations of a journey
   * Exactly one of `journey_id` and `journey_slug`. Without `holon_slug` all conversations of the journey, including conversations without a holon; with it the conversations that the event owns or that are linked to it. Newest start first, then id.
   * `GET /api/coherence/browse/conversations`
   */
  browseJourneyConversations(request?: BrowseJourneyConversationsRequest, options?: CallOptions): Promise<BrowseJourneyConversationsReply>;
  /**
   * Browse the conversation events of a holon
   * Immediate child events, by name and id, and the conversation journeys attached directly to each, in the order in which they are attached. Nothing is inherited.
   * `GET /api/coherence/browse/holons/{holon_slug}`
   */
  browseHolon(request: BrowseHolonRequest & Conditional, options?: CallOptions): Promise<BrowseHolonReply | NotModified>;
  /**
   * Browse the conversation events of a holon
   * Immediate child events, by name and id, and the conversation journeys attached directly to each, in the order in which they are attached. Nothing is inherited.
   * `GET /api/coherence/browse/holons/{holon_slug}`
   */
  browseHolon(request: BrowseHolonRequest, options?: CallOptions): Promise<BrowseHolonReply>;
  /**
   * Look up people by id
   * Unknown ids are skipped; the order is not guaranteed.
   * `GET /api/coherence/browse/persons`
   */
  lookUpPersons(request: LookUpPersonsRequest, options?: CallOptions): Promise<LookUpPersonsReply>;
  /**
   * Look up holons by id
   * Unknown ids and holons that are not visible to the caller are skipped; the order is not guaranteed.
   * `GET /api/coherence/browse/holons`
   */
  lookUpHolons(request: LookUpHolonsRequest, options?: CallOptions): Promise<LookUpHolonsReply>;
  /**
   * List conversation events
   * With `holon_slug` the holon itself, if it is an event, and every event below it at any depth. Ordered by name, then id. Holons of private classes are listed for callers who can see them.
   * `GET /api/coherence/conversation-events`
   */
  listConversationEvents(request?: ListConversationEventsRequest, options?: CallOptions): Promise<ListConversationEventsReply>;
  /**
   * List the conversation journeys of an event
   * Journeys attached to the event itself, in the order in which they are attached. An event can have several journeys; none is the default.
   * `GET /api/coherence/conversation-events/{event_slug}/journeys`
   */
  listEventJourneys(request: ListEventJourneysRequest, options?: CallOptions): Promise<ListEventJourneysReply>;
  /**
   * List the steps of a journey
   * In pipeline order, archived steps included, without their configuration.
   * `GET /api/coherence/journeys/{journey_slug}/steps`
   */
  listJourneySteps(request: ListJourneyStepsRequest, options?: CallOptions): Promise<ListJourneyStepsReply>;
  /**
   * Read the configuration of a step's pipeline job
   * Fields allowed by the job's field policy, with the defaults of its model, and the read-only `pipeline_job`. A step without a registered job has neither model nor policy: all stored fields are returned.
   * `GET /api/coherence/journeys/{journey_slug}/steps/{step_slug}/config`
   */
  readStepConfig(request: ReadStepConfigRequest & Conditional, options?: CallOptions): Promise<ReadStepConfigReply | NotModified>;
  /**
   * Read the configuration of a step's pipeline job
   * Fields allowed by the job's field policy, with the defaults of its model, and the read-only `pipeline_job`. A step without a registered job has neither model nor policy: all stored fields are returned.
   * `GET /api/coherence/journeys/{journey_slug}/steps/{step_slug}/config`
   */
  readStepConfig(request: ReadStepConfigRequest, options?: CallOptions): Promise<ReadStepConfigReply>;
  /**
   * Update the configuration of a step's pipeline job
   * Merged recursively, then checked against the job's model; a deleted key falls back to the model's default. Takes effect for every conversation processed or retried afterwards. Null for a stored key that the model does not declare deletes it. A rejected write changes nothing.
   * `PATCH /api/coherence/journeys/{journey_slug}/steps/{step_slug}/config`
   */
  patchStepConfig(request: PatchStepConfigRequest, options?: CallOptions): Promise<PatchStepConfigReply>;
  /**
   * Write room state and the transcript window
   * Every field is optional and merged separately. `meetingId` and the two boundaries of the transcript window are write-once; sending the same value again succeeds. A rejected request writes nothing. A write never moves the journey step.
   * `POST /api/coherence/conversations/{conversation_id}/enter-coherence`
   */
  writeRoom(request: WriteRoomRequest, options?: CallOptions): Promise<WriteRoomReply>;
  /**
   * Read room state and the transcript window
   * `GET /api/coherence/conversations/{conversation_id}/enter-coherence`
   */
  readRoom(request: ReadRoomRequest & Conditional, options?: CallOptions): Promise<ReadRoomReply | NotModified>;
  /**
   * Read room state and the transcript window
   * `GET /api/coherence/conversations/{conversation_id}/enter-coherence`
   */
  readRoom(request: ReadRoomRequest, options?: CallOptions): Promise<ReadRoomReply>;
  /**
   * Receive a booking webhook
   * Every request returns 200; the receipt shows the outcome. Only requests signed with `X-Cal-Signature-256` are applied.
   * `POST /api/coherence/hook/booking/{person_id}`
   */
  receiveBooking(request: ReceiveBookingRequest, options?: CallOptions): Promise<ReceiveBookingReply>;
  /**
   * Show how to register the webhook
   * `GET /api/coherence/hook/booking/{person_id}`
   */
  explainBookingHook(request: ExplainBookingHookRequest & Conditional, options?: CallOptions): Promise<ExplainBookingHookReply | NotModified>;
  /**
   * Show how to register the webhook
   * `GET /api/coherence/hook/booking/{person_id}`
   */
  explainBookingHook(request: ExplainBookingHookRequest, options?: CallOptions): Promise<ExplainBookingHookReply>;
  /**
   * Receive a webhook of the meeting provider
   * Every request returns 200; the receipt shows the outcome. The provider's signature `rtk-signature` is checked later; a delivery (`rtk-uuid`) is processed once.
   * `POST /api/hook/meetings`
   */
  receiveMeetingReport(request?: ReceiveMeetingReportRequest, options?: CallOptions): Promise<ReceiveMeetingReportReply>;
  /**
   * Upload and replace the canonical audio
   * The previous audio remains until the new one is stored. Adds a note with the acting user, the file name and the byte count. Future transcription runs use the new audio; an existing transcript does not change.
   * `POST /api/coherence/conversations/{conversation_id}/audio`
   */
  uploadAudio(request: UploadAudioRequest, options?: CallOptions): Promise<UploadAudioReply>;
  /**
   * Download the canonical audio
   * Streams the stored file. Requests for several ranges return the whole file.
   * `GET /api/coherence/conversations/{conversation_id}/audio`
   */
  downloadAudio(request: DownloadAudioRequest & Conditional, options?: CallOptions): Promise<DownloadAudioReply | NotModified>;
  /**
   * Download the canonical audio
   * Streams the stored file. Requests for several ranges return the whole file.
   * `GET /api/coherence/conversations/{conversation_id}/audio`
   */
  downloadAudio(request: DownloadAudioRequest, options?: CallOptions): Promise<DownloadAudioReply>;
  /**
   * Get the URL and name of the recording
   * A front-trimmed recording that is not finalized takes precedence over the full recording. The URL needs no token and supports ranges; its marker `?v=` changes with the file.
   * `GET /api/coherence/conversations/{conversation_id}/video`
   */
  getVideo(request: GetVideoRequest & Conditional, options?: CallOptions): Promise<GetVideoReply | NotModified>;
  /**
   * Get the URL and name of the recording
   * A front-trimmed recording that is not finalized takes precedence over the full recording. The URL needs no token and supports ranges; its marker `?v=` changes with the file.
   * `GET /api/coherence/conversations/{conversation_id}/video`
   */
  getVideo(request: GetVideoRequest, options?: CallOptions): Promise<GetVideoReply>;
  /**
   * Download captions of the recording
   * WebVTT of the transcript. Times are relative to the current recording: an untrimmed recording starts before the conversation, so its captions start later.
   * `GET /api/coherence/conversations/{conversation_id}/captions.vtt`
   */
  downloadCaptions(request: DownloadCaptionsRequest & Conditional, options?: CallOptions): Promise<DownloadCaptionsReply | NotModified>;
  /**
   * Download captions of the recording
   * WebVTT of the transcript. Times are relative to the current recording: an untrimmed recording starts before the conversation, so its captions start later.
   * `GET /api/coherence/conversations/{conversation_id}/captions.vtt`
   */
  downloadCaptions(request: DownloadCaptionsRequest, options?: CallOptions): Promise<DownloadCaptionsReply>;
  /**
   * One agent by slug
   * `GET /api/agents/{slug}/`
   */
  getAgent(request: GetAgentRequest & Conditional, options?: CallOptions): Promise<GetAgentReply | NotModified>;
  /**
   * One agent by slug
   * `GET /api/agents/{slug}/`
   */
  getAgent(request: GetAgentRequest, options?: CallOptions): Promise<GetAgentReply>;
  /**
   * Send a message to an agent and wait for its reply
   * Visitors have no account. Omit `visitor_id` in the first message and send the returned value to continue the thread; an unknown value starts a new thread. Messages of one thread are answered in order. If the agent cannot reply, nothing is recorded. After a lost response, repeat the request with the same Idempotency-Key: the message is recorded once and the same turn is returned.
   * `POST /api/chat/{agent_slug}/message/`
   */
  sendChatMessage(request: SendChatMessageRequest, options?: CallOptions): Promise<SendChatMessageReply>;
  /**
   * Read replies from a person
   * After a person has taken over a conversation, responses to messages have `waits_for: "person"`, and this operation returns what the person wrote. Poll with `wait`, or every few seconds while `waits_for` is set. The message limits apply, counted separately. This is a `POST` because `visitor_id` is a secret that must not be in a URL; it changes nothing. An unknown `visitor_id` has no updates.
   * `POST /api/chat/{agent_slug}/updates/`
   */
  readChatUpdates(request: ReadChatUpdatesRequest, options?: CallOptions): Promise<ReadChatUpdatesReply>;
  /**
   * Receive an update of the messaging platform
   * For Telegram: register `{base_url}/api/hook/agents/{slug}` with `setWebhook` and the `secret_token` of the agent. Every request returns 200 once it is stored. The reply is sent through the Bot API; the receipt shows the outcome.
   * `POST /api/hook/agents/{slug}`
   */
  receiveAgentUpdate(request: ReceiveAgentUpdateRequest, options?: CallOptions): Promise<ReceiveAgentUpdateReply>;
  /**
   * Download the transcript
   * As Markdown: metadata of the conversation and all speakers in chronological order, consecutive utterances of one speaker merged, with the time (`MM:SS` from the conversation's start, minutes can exceed 59) of the first utterance. JSON, WebVTT, SubRip and plain text: one entry per utterance. `format` selects the format, then the header `Accept`; default: Markdown.
   * `GET /api/coherence/conversations/{conversation_id}/transcript`
   */
  downloadTranscript<Format extends keyof DownloadTranscriptFormats = 'md'>(request: DownloadTranscriptRequest<Format> & Conditional, options?: CallOptions): Promise<DownloadTranscriptReply<Format> | NotModified>;
  /**
   * Download the transcript
   * As Markdown: metadata of the conversation and all speakers in chronological order, consecutive utterances of one speaker merged, with the time (`MM:SS` from the conversation's start, minutes can exceed 59) of the first utterance. JSON, WebVTT, SubRip and plain text: one entry per utterance. `format` selects the format, then the header `Accept`; default: Markdown.
   * `GET /api/coherence/conversations/{conversation_id}/transcript`
   */
  downloadTranscript<Format extends keyof DownloadTranscriptFormats = 'md'>(request: DownloadTranscriptRequest<Format>, options?: CallOptions): Promise<DownloadTranscriptReply<Format>>;
  /**
   * Search transcripts
   * Utterances that contain all words of `q`, best first, then newest, in conversations that the caller can read. Supports `"a phrase"`, `-excluded` and `prefix*`; case and accents are ignored. Erased people are not found.
   * `GET /api/coherence/transcripts/search`
   */
  searchTranscripts(request: SearchTranscriptsRequest, options?: CallOptions): Promise<SearchTranscriptsReply>;
  /**
   * Read the import evidence
   * Aggregates and digests only: no rows, no text, no speakers of excluded sentences. Does not run an import.
   * `GET /api/coherence/conversations/{conversation_id}/transcript/import-evidence`
   */
  readImportEvidence(request: ReadImportEvidenceRequest & Conditional, options?: CallOptions): Promise<ReadImportEvidenceReply | NotModified>;
  /**
   * Read the import evidence
   * Aggregates and digests only: no rows, no text, no speakers of excluded sentences. Does not run an import.
   * `GET /api/coherence/conversations/{conversation_id}/transcript/import-evidence`
   */
  readImportEvidence(request: ReadImportEvidenceRequest, options?: CallOptions): Promise<ReadImportEvidenceReply>;
  /**
   * Exchange credentials for a token
   * A wrong gate key, email or password and an inactive account return the same error. The token is valid for 24 hours.
   * `POST /api/v1/auth/login`
   */
  login(request: LoginRequest, options?: CallOptions): Promise<LoginReply>;
  /**
   * Revoke the current token
   * `POST /api/v1/auth/logout`
   */
  logout(request?: LogoutRequest, options?: CallOptions): Promise<LogoutReply>;
  /**
   * Read the person of the token
   * `GET /api/v1/auth/whoami`
   */
  whoami(request: WhoamiRequest & Conditional, options?: CallOptions): Promise<WhoamiReply | NotModified>;
  /**
   * Read the person of the token
   * `GET /api/v1/auth/whoami`
   */
  whoami(request?: WhoamiRequest, options?: CallOptions): Promise<WhoamiReply>;
  /**
   * Change your password
   * Ends all sessions of the account, including the session of this request. Wrong passwords count as failed logins.
   * `POST /api/v1/auth/password`
   */
  changePassword(request: ChangePasswordRequest, options?: CallOptions): Promise<ChangePasswordReply>;
  /**
   * List your sessions
   * Sessions of the account with valid tokens, newest first.
   * `GET /api/v1/auth/sessions`
   */
  listSessions(request?: ListSessionsRequest, options?: CallOptions): Promise<ListSessionsReply>;
  /**
   * End one of your sessions
   * Revokes the token of the session. The operation can be repeated, and can end the session of the request itself.
   * `POST /api/v1/auth/sessions/{session_id}/revoke`
   */
  revokeSession(request: RevokeSessionRequest, options?: CallOptions): Promise<RevokeSessionReply>;
  /**
   * Search people and holons
   * Best first: the exact name, the start of the name, the start of a word in it, any part of it. Contact values of people and link values of holons rank like names; matches in the description only rank last. Equal ranks are ordered by name and id.
   * `GET /api/v1/search`
   */
  searchDirectory(request: SearchDirectoryRequest, options?: CallOptions): Promise<SearchDirectoryReply>;
  /**
   * Search people by name
   * Timestamps refer to the person, not to memberships.
   * `GET /api/v1/people`
   */
  listPeople(request: ListPeopleRequest, options?: CallOptions): Promise<ListPeopleReply>;
  /**
   * Create a person
   * Requires global edit access. With a membership, the note is listed for person and holon; otherwise for the person only. All objects are created in one transaction.
   * `POST /api/v1/people`
   */
  createPerson(request: CreatePersonRequest, options?: CallOptions): Promise<CreatePersonReply>;
  /**
   * Read one person
   * `GET /api/v1/people/{person_id}`
   */
  getPerson(request: GetPersonRequest & Conditional, options?: CallOptions): Promise<GetPersonReply | NotModified>;
  /**
   * Read one person
   * `GET /api/v1/people/{person_id}`
   */
  getPerson(request: GetPersonRequest, options?: CallOptions): Promise<GetPersonReply>;
  /**
   * Search holons
   * At least one of `q` and `class` is required. Holons that are not visible to the caller are neither listed nor counted.
   * `GET /api/v1/holons`
   */
  listHolons(request?: ListHolonsRequest, options?: CallOptions): Promise<ListHolonsReply>;
  /**
   * Create a holon
   * Requires global edit access, or edit rights on a parent whose class allows the class. A slug that is absent is made from the name.
   * `POST /api/v1/holons`
   */
  createHolon(request: CreateHolonRequest, options?: CallOptions): Promise<CreateHolonReply>;
  /**
   * Read one holon
   * `GET /api/v1/holons/{holon_id}`
   */
  getHolon(request: GetHolonRequest & Conditional, options?: CallOptions): Promise<GetHolonReply | NotModified>;
  /**
   * Read one holon
   * `GET /api/v1/holons/{holon_id}`
   */
  getHolon(request: GetHolonRequest, options?: CallOptions): Promise<GetHolonReply>;
  /**
   * Delete a holon
   * Requires the right to create the holon at its place. Its own notes, journeys and team authority are deleted too.
   * `DELETE /api/v1/holons/{holon_id}`
   */
  deleteHolon(request: DeleteHolonRequest, options?: CallOptions): Promise<DeleteHolonReply>;
  /**
   * Read one holon by its slug
   * `GET /api/v1/holons/by-slug/{slug}`
   */
  getHolonBySlug(request: GetHolonBySlugRequest & Conditional, options?: CallOptions): Promise<GetHolonBySlugReply | NotModified>;
  /**
   * Read one holon by its slug
   * `GET /api/v1/holons/by-slug/{slug}`
   */
  getHolonBySlug(request: GetHolonBySlugRequest, options?: CallOptions): Promise<GetHolonBySlugReply>;
  /**
   * List the active classes
   * Ordered by `sort_order` and slug. A holon can have a retired class, which is not in this list.
   * `GET /api/v1/classes`
   */
  listClasses(request?: ListClassesRequest, options?: CallOptions): Promise<ListClassesReply>;
  /**
   * Create a class
   * For superusers and members of the group `workspace_editors`.
   * `POST /api/v1/classes`
   */
  createClass(request: CreateClassRequest, options?: CallOptions): Promise<CreateClassReply>;
  /**
   * Read one active class
   * `GET /api/v1/classes/{object_kind}/{slug}`
   */
  getClass(request: GetClassRequest & Conditional, options?: CallOptions): Promise<GetClassReply | NotModified>;
  /**
   * Read one active class
   * `GET /api/v1/classes/{object_kind}/{slug}`
   */
  getClass(request: GetClassRequest, options?: CallOptions): Promise<GetClassReply>;
  /**
   * Delete a class
   * For superusers and members of the group `workspace_editors`. Only while no holon, subclass, journey or list of allowed children refers to the class.
   * `DELETE /api/v1/classes/{object_kind}/{slug}`
   */
  deleteClass(request: DeleteClassRequest, options?: CallOptions): Promise<DeleteClassReply>;
  /**
   * List journeys with usage counts
   * Ordered by name and id. Filters combine with AND.
   * `GET /api/v1/journeys`
   */
  listJourneys(request?: ListJourneysRequest, options?: CallOptions): Promise<ListJourneysReply>;
  /**
   * Create a journey
   * For superusers and members of the group `workspace_editors`. Steps and questions have the order of their lists.
   * `POST /api/v1/journeys`
   */
  createJourney(request: CreateJourneyRequest, options?: CallOptions): Promise<CreateJourneyReply>;
  /**
   * Read one journey with its steps
   * `GET /api/v1/journeys/{slug}`
   */
  getJourney(request: GetJourneyRequest & Conditional, options?: CallOptions): Promise<GetJourneyReply | NotModified>;
  /**
   * Read one journey with its steps
   * `GET /api/v1/journeys/{slug}`
   */
  getJourney(request: GetJourneyRequest, options?: CallOptions): Promise<GetJourneyReply>;
  /**
   * Delete a journey
   * For superusers and members of the group `workspace_editors`. Only while no membership, relationship, conversation or catalogue has the journey. Deleted conversations count until they are removed permanently.
   * `DELETE /api/v1/journeys/{slug}`
   */
  deleteJourney(request: DeleteJourneyRequest, options?: CallOptions): Promise<DeleteJourneyReply>;
  /**
   * Change a class
   * For superusers and members of the group `workspace_editors`. Changes the fields in the request. Retired classes can be changed too.
   * `POST /api/v1/classes/{object_kind}/{slug}/update`
   */
  updateClass(request: UpdateClassRequest, options?: CallOptions): Promise<UpdateClassReply>;
  /**
   * Change a journey
   * For superusers and members of the group `workspace_editors`. Changes the fields in the request; `texts` are replaced.
   * `POST /api/v1/journeys/{slug}/update`
   */
  updateJourney(request: UpdateJourneyRequest, options?: CallOptions): Promise<UpdateJourneyReply>;
  /**
   * Add a step to a journey
   * For superusers and members of the group `workspace_editors`.
   * `POST /api/v1/journeys/{slug}/steps`
   */
  createStep(request: CreateStepRequest, options?: CallOptions): Promise<CreateStepReply>;
  /**
   * Change a step
   * For superusers and members of the group `workspace_editors`. Changes the fields in the request. Its configuration has operations of its own.
   * `POST /api/v1/journeys/{slug}/steps/{step_slug}/update`
   */
  updateStep(request: UpdateStepRequest, options?: CallOptions): Promise<UpdateStepReply>;
  /**
   * Delete a step
   * For superusers and members of the group `workspace_editors`. Only while no membership, relationship or conversation is at the step.
   * `DELETE /api/v1/journeys/{slug}/steps/{step_slug}`
   */
  deleteStep(request: DeleteStepRequest, options?: CallOptions): Promise<DeleteStepReply>;
  /**
   * List questions of a journey
   * For superusers and members of the group `workspace_editors`. In their order, including archived ones.
   * `GET /api/v1/journeys/{slug}/questions`
   */
  listQuestions(request: ListQuestionsRequest, options?: CallOptions): Promise<ListQuestionsReply>;
  /**
   * Add a question to a journey
   * For superusers and members of the group `workspace_editors`.
   * `POST /api/v1/journeys/{slug}/questions`
   */
  createQuestion(request: CreateQuestionRequest, options?: CallOptions): Promise<CreateQuestionReply>;
  /**
   * Change a question
   * For superusers and members of the group `workspace_editors`. An archived question is not displayed any more; recorded changes still refer to it.
   * `POST /api/v1/journeys/{slug}/questions/{question_id}/update`
   */
  updateQuestion(request: UpdateQuestionRequest, options?: CallOptions): Promise<UpdateQuestionReply>;
  /**
   * Update a person
   * For global editors and the person of the account. Changes the fields in the request, all of them or none. `contact` is merged per channel.
   * `POST /api/v1/people/{person_id}/update`
   */
  updatePerson(request: UpdatePersonRequest, options?: CallOptions): Promise<UpdatePersonReply>;
  /**
   * Export all data of a person
   * For superusers and the person of the account. Contains no hashes of passwords and tokens. Superusers can add chats of the chat page and of Telegram by their ids.
   * `GET /api/v1/people/{person_id}/export`
   */
  exportPerson(request: ExportPersonRequest & Conditional, options?: CallOptions): Promise<ExportPersonReply | NotModified>;
  /**
   * Export all data of a person
   * For superusers and the person of the account. Contains no hashes of passwords and tokens. Superusers can add chats of the chat page and of Telegram by their ids.
   * `GET /api/v1/people/{person_id}/export`
   */
  exportPerson(request: ExportPersonRequest, options?: CallOptions): Promise<ExportPersonReply>;
  /**
   * Erase a person
   * For superusers. Closes the accounts of the person at once, and removes the person from every service in the background. Cannot be undone. A repeated request resumes an erasure that failed.
   * `POST /api/v1/people/{person_id}/erase`
   */
  erasePerson(request: ErasePersonRequest, options?: CallOptions): Promise<ErasePersonReply>;
  /**
   * Read the erasure of a person
   * For superusers, also when the person no longer exists, for 30 days after the end of the erasure.
   * `GET /api/v1/people/{person_id}/erasure`
   */
  getPersonErasure(request: GetPersonErasureRequest & Conditional, options?: CallOptions): Promise<GetPersonErasureReply | NotModified>;
  /**
   * Read the erasure of a person
   * For superusers, also when the person no longer exists, for 30 days after the end of the erasure.
   * `GET /api/v1/people/{person_id}/erasure`
   */
  getPersonErasure(request: GetPersonErasureRequest, options?: CallOptions): Promise<GetPersonErasureReply>;
  /**
   * Merge a person into another
   * For superusers. Moves memberships, notes, conversations, utterances, accounts and bookings to the target person. Missing contact data and description of the target are filled in. The id in the path returns 404 afterwards.
   * `POST /api/v1/people/{person_id}/merge`
   */
  mergePerson(request: MergePersonRequest, options?: CallOptions): Promise<MergePersonReply>;
  /**
   * Edit fields of a holon
   * Changes the fields in the request, all of them or none.
   * `POST /api/v1/holons/{holon_id}/update`
   */
  updateHolon(request: UpdateHolonRequest, options?: CallOptions): Promise<UpdateHolonReply>;
  /**
   * Create an experience
   * Creates a holon of an experience class below a holon whose class allows it.
   * `POST /api/v1/experiences`
   */
  createExperience(request: CreateExperienceRequest, options?: CallOptions): Promise<CreateExperienceReply>;
  /**
   * Upload the logo of an experience
   * Overrides the background image. The file type is detected from its bytes; metadata is removed. `logo_url` of the experience is the URL of the new logo, which needs no token. If the logo is rejected, the previous one remains.
   * `POST /api/v1/experiences/{experience_id}/logo`
   */
  uploadExperienceLogo(request: UploadExperienceLogoRequest, options?: CallOptions): Promise<UploadExperienceLogoReply>;
  /**
   * List the memberships of a person
   * Ordered by journey name, holon name and id. Memberships have no creation time.
   * `GET /api/v1/people/{person_id}/memberships`
   */
  listPersonMemberships(request: ListPersonMembershipsRequest, options?: CallOptions): Promise<ListPersonMembershipsReply>;
  /**
   * List the memberships in a holon
   * `GET /api/v1/holons/{holon_id}/memberships`
   */
  listHolonMemberships(request: ListHolonMembershipsRequest, options?: CallOptions): Promise<ListHolonMembershipsReply>;
  /**
   * Create a membership
   * Bulk-add restrictions of the journey do not apply. With `note`, a note is listed for person and holon.
   * `POST /api/v1/memberships`
   */
  createMembership(request: CreateMembershipRequest, options?: CallOptions): Promise<CreateMembershipReply>;
  /**
   * Delete a membership
   * Notes about the membership remain listed for person and holon.
   * `DELETE /api/v1/memberships/{membership_id}`
   */
  deleteMembership(request: DeleteMembershipRequest, options?: CallOptions): Promise<DeleteMembershipReply>;
  /**
   * Update a membership, with a note
   * All changes of one request are applied together or not at all. This is the only way to move a membership to another journey.
   * `POST /api/v1/memberships/{membership_id}/update`
   */
  updateMembership(request: UpdateMembershipRequest, options?: CallOptions): Promise<UpdateMembershipReply>;
  /**
   * Add up to 500 memberships to a holon
   * Each item has an outcome of its own; items that fail do not stop the others. The request can be repeated: existing memberships have the outcome `already_present`. Bulk writes of one holon run in sequence.
   * `POST /api/v1/holons/{holon_id}/memberships:bulk-add`
   */
  bulkAddMemberships(request: BulkAddMembershipsRequest, options?: CallOptions): Promise<BulkAddMembershipsReply>;
  /**
   * List the relationships of a holon
   * In both directions, ordered by journey name, name of the other holon and id.
   * `GET /api/v1/holons/{holon_id}/relationships`
   */
  listHolonRelationships(request: ListHolonRelationshipsRequest, options?: CallOptions): Promise<ListHolonRelationshipsReply>;
  /**
   * Create a relationship
   * Requires the right to edit one of the holons. With `note`, a note is listed for both.
   * `POST /api/v1/relationships`
   */
  createRelationship(request: CreateRelationshipRequest, options?: CallOptions): Promise<CreateRelationshipReply>;
  /**
   * Delete a relationship
   * Notes about the relationship remain listed for both holons.
   * `DELETE /api/v1/relationships/{relationship_id}`
   */
  deleteRelationship(request: DeleteRelationshipRequest, options?: CallOptions): Promise<DeleteRelationshipReply>;
  /**
   * Update a relationship, with a note
   * All changes of one request are applied together or not at all.
   * `POST /api/v1/relationships/{relationship_id}/update`
   */
  updateRelationship(request: UpdateRelationshipRequest, options?: CallOptions): Promise<UpdateRelationshipReply>;
  /**
   * List the notes of a person
   * Notes on the person and their memberships, newest first.
   * `GET /api/v1/people/{person_id}/notes`
   */
  listNotesOfPerson(request: ListNotesOfPersonRequest, options?: CallOptions): Promise<ListNotesOfPersonReply>;
  /**
   * Write a note on a person
   * Requires global edit access, or with `holon_id` the right to edit that holon. The note is listed for the person, and for the holon if given.
   * `POST /api/v1/people/{person_id}/notes`
   */
  createPersonNote(request: CreatePersonNoteRequest, options?: CallOptions): Promise<CreatePersonNoteReply>;
  /**
   * List the notes of a holon
   * Notes on the holon itself, its memberships and its relationships, newest first.
   * `GET /api/v1/holons/{holon_id}/notes`
   */
  listNotesOfHolon(request: ListNotesOfHolonRequest, options?: CallOptions): Promise<ListNotesOfHolonReply>;
  /**
   * Write a note on a holon
   * `POST /api/v1/holons/{holon_id}/notes`
   */
  createHolonNote(request: CreateHolonNoteRequest, options?: CallOptions): Promise<CreateHolonNoteReply>;
  /**
   * Change a note
   * For the author and superusers. Notes of the platform cannot be changed.
   * `POST /api/v1/notes/{note_id}/update`
   */
  updateNote(request: UpdateNoteRequest, options?: CallOptions): Promise<UpdateNoteReply>;
  /**
   * Delete a note
   * For the author and superusers. Notes of the platform cannot be deleted.
   * `DELETE /api/v1/notes/{note_id}`
   */
  deleteNote(request: DeleteNoteRequest, options?: CallOptions): Promise<DeleteNoteReply>;
  /**
   * List the follow-up worklist
   * Memberships and relationships ordered by `follow_up_after`, undated last, then by id.
   * `GET /api/v1/responsible`
   */
  listResponsible(request?: ListResponsibleRequest, options?: CallOptions): Promise<ListResponsibleReply>;
  /**
   * List the active spheres
   * In the order of their creation.
   * `GET /api/v1/spheres`
   */
  listSpheres(request?: ListSpheresRequest, options?: CallOptions): Promise<ListSpheresReply>;
  /**
   * Create a sphere
   * For superusers and members of `workspace_editors`.
   * `POST /api/v1/spheres`
   */
  createSphere(request: CreateSphereRequest, options?: CallOptions): Promise<CreateSphereReply>;
  /**
   * Update a sphere
   * For superusers and members of `workspace_editors`. Holons keep retired spheres.
   * `POST /api/v1/spheres/{sphere_id}/update`
   */
  updateSphere(request: UpdateSphereRequest, options?: CallOptions): Promise<UpdateSphereReply>;
  /**
   * List changes of a person
   * Newest first. Entries are stored for `HISTORY_RETENTION_DAYS`. Values of secrets are not stored; an entry says only that they changed.
   * `GET /api/v1/people/{id}/history`
   */
  listPersonHistory(request: ListPersonHistoryRequest, options?: CallOptions): Promise<ListPersonHistoryReply>;
  /**
   * List changes of a holon
   * Newest first. Entries are stored for `HISTORY_RETENTION_DAYS`. Values of secrets are not stored; an entry says only that they changed.
   * `GET /api/v1/holons/{id}/history`
   */
  listHolonHistory(request: ListHolonHistoryRequest, options?: CallOptions): Promise<ListHolonHistoryReply>;
  /**
   * List changes of a membership
   * Newest first. Entries are stored for `HISTORY_RETENTION_DAYS`. Values of secrets are not stored; an entry says only that they changed.
   * `GET /api/v1/memberships/{id}/history`
   */
  listMembershipHistory(request: ListMembershipHistoryRequest, options?: CallOptions): Promise<ListMembershipHistoryReply>;
  /**
   * List changes of a relationship
   * Newest first. Entries are stored for `HISTORY_RETENTION_DAYS`. Values of secrets are not stored; an entry says only that they changed.
   * `GET /api/v1/relationships/{id}/history`
   */
  listRelationshipHistory(request: ListRelationshipHistoryRequest, options?: CallOptions): Promise<ListRelationshipHistoryReply>;
  /**
   * List changes of a journey
   * Newest first. Entries are stored for `HISTORY_RETENTION_DAYS`. Values of secrets are not stored; an entry says only that they changed.
   * `GET /api/v1/journeys/{id}/history`
   */
  listJourneyHistory(request: ListJourneyHistoryRequest, options?: CallOptions): Promise<ListJourneyHistoryReply>;
  /**
   * List changes of a account
   * Newest first. Entries are stored for `HISTORY_RETENTION_DAYS`. Values of secrets are not stored; an entry says only that they changed.
   * `GET /api/v1/accounts/{id}/history`
   */
  listAccountHistory(request: ListAccountHistoryRequest, options?: CallOptions): Promise<ListAccountHistoryReply>;
  /**
   * List changes of a class
   * Newest first. Entries are stored for `HISTORY_RETENTION_DAYS`. Values of secrets are not stored; an entry says only that they changed.
   * `GET /api/v1/classes/{object_kind}/{slug}/history`
   */
  listClassHistory(request: ListClassHistoryRequest, options?: CallOptions): Promise<ListClassHistoryReply>;
  /**
   * List agents with their settings
   * For superusers and the group `workspace_editors`. A page can have fewer items than `limit`.
   * `GET /api/v1/agents`
   */
  listWorkspaceAgents(request?: ListWorkspaceAgentsRequest, options?: CallOptions): Promise<ListWorkspaceAgentsReply>;
  /**
   * Create an agent
   * Validated like an agent of the workspace file.
   * `POST /api/v1/agents`
   */
  createAgent(request: CreateAgentRequest, options?: CallOptions): Promise<CreateAgentReply>;
  /**
   * Read one agent with its settings
   * Secrets of `config` are returned as `{"set": true}`.
   * `GET /api/v1/agents/{slug}`
   */
  getWorkspaceAgent(request: GetWorkspaceAgentRequest & Conditional, options?: CallOptions): Promise<GetWorkspaceAgentReply | NotModified>;
  /**
   * Read one agent with its settings
   * Secrets of `config` are returned as `{"set": true}`.
   * `GET /api/v1/agents/{slug}`
   */
  getWorkspaceAgent(request: GetWorkspaceAgentRequest, options?: CallOptions): Promise<GetWorkspaceAgentReply>;
  /**
   * Delete an agent
   * Its settings are removed. Operators can still read its threads.
   * `DELETE /api/v1/agents/{slug}`
   */
  deleteAgent(request: DeleteAgentRequest, options?: CallOptions): Promise<DeleteAgentReply>;
  /**
   * Change an agent
   * Changes the fields in the request, all of them or none. `infos` is replaced, `config` is merged.
   * `POST /api/v1/agents/{slug}/update`
   */
  updateAgent(request: UpdateAgentRequest, options?: CallOptions): Promise<UpdateAgentReply>;
  /**
   * List changes of an agent
   * Newest first. Entries are stored for `HISTORY_RETENTION_DAYS`. Values of secrets are not stored; an entry says only that they changed.
   * `GET /api/v1/agents/{id}/history`
   */
  listAgentHistory(request: ListAgentHistoryRequest, options?: CallOptions): Promise<ListAgentHistoryReply>;
  /**
   * List accounts
   * For superusers. Ordered by email.
   * `GET /api/v1/accounts`
   */
  listAccounts(request?: ListAccountsRequest, options?: CallOptions): Promise<ListAccountsReply>;
  /**
   * Create an account with an invitation
   * For superusers. The account has no password until the invited person sets one at `url`. Of a service key, `accounts:write` is as powerful as `*`: it can create superusers.
   * `POST /api/v1/accounts`
   */
  createAccount(request: CreateAccountRequest, options?: CallOptions): Promise<CreateAccountReply>;
  /**
   * Read one account
   * `GET /api/v1/accounts/{account_id}`
   */
  getAccount(request: GetAccountRequest & Conditional, options?: CallOptions): Promise<GetAccountReply | NotModified>;
  /**
   * Read one account
   * `GET /api/v1/accounts/{account_id}`
   */
  getAccount(request: GetAccountRequest, options?: CallOptions): Promise<GetAccountReply>;
  /**
   * Delete an account
   * For superusers. Permanent. Ends sessions, service keys and the invitation; its person remains.
   * `DELETE /api/v1/accounts/{account_id}`
   */
  deleteAccount(request: DeleteAccountRequest, options?: CallOptions): Promise<DeleteAccountReply>;
  /**
   * Change an account
   * For superusers. Deactivating ends sessions, service keys and the invitation. Changed rights are effective immediately.
   * `POST /api/v1/accounts/{account_id}/update`
   */
  updateAccount(request: UpdateAccountRequest, options?: CallOptions): Promise<UpdateAccountReply>;
  /**
   * List identities of an account
   * For superusers. Oldest first.
   * `GET /api/v1/accounts/{account_id}/identities`
   */
  listAccountIdentities(request: ListAccountIdentitiesRequest, options?: CallOptions): Promise<ListAccountIdentitiesReply>;
  /**
   * Link an identity to an account
   * For superusers. The identity can then log in as the account.
   * `POST /api/v1/accounts/{account_id}/identities/link`
   */
  linkAccountIdentity(request: LinkAccountIdentityRequest, options?: CallOptions): Promise<LinkAccountIdentityReply>;
  /**
   * Unlink an identity from an account
   * For superusers. Ends the sessions of the account. Identities are no longer linked to it by email until one is linked again.
   * `POST /api/v1/accounts/{account_id}/identities/unlink`
   */
  unlinkAccountIdentity(request: UnlinkAccountIdentityRequest, options?: CallOptions): Promise<UnlinkAccountIdentityReply>;
  /**
   * Replace the password by an invitation
   * For superusers. Removes the password, and ends all sessions and the previous invitation.
   * `POST /api/v1/accounts/{account_id}/reset-password`
   */
  resetAccountPassword(request: ResetAccountPasswordRequest, options?: CallOptions): Promise<ResetAccountPasswordReply>;
  /**
   * Create a service key
   * The token is returned only once. Store it. Superusers can create keys for every account, other callers for their own.
   * `POST /api/v1/keys`
   */
  createKey(request: CreateKeyRequest, options?: CallOptions): Promise<CreateKeyReply>;
  /**
   * List service keys
   * Superusers see the keys of all accounts, other callers their own. The list includes revoked and expired keys.
   * `GET /api/v1/keys`
   */
  listKeys(request?: ListKeysRequest, options?: CallOptions): Promise<ListKeysReply>;
  /**
   * Read one service key
   * `GET /api/v1/keys/{key_id}`
   */
  getKey(request: GetKeyRequest & Conditional, options?: CallOptions): Promise<GetKeyReply | NotModified>;
  /**
   * Read one service key
   * `GET /api/v1/keys/{key_id}`
   */
  getKey(request: GetKeyRequest, options?: CallOptions): Promise<GetKeyReply>;
  /**
   * Rotate the secret of a service key
   * The new token is returned only once. Store it. The old token is accepted until the overlap ends.
   * `POST /api/v1/keys/{key_id}/rotate`
   */
  rotateKey(request: RotateKeyRequest, options?: CallOptions): Promise<RotateKeyReply>;
  /**
   * Revoke a service key
   * Permanently revokes the key and all its secrets, effective immediately. Repeating the request changes nothing. The response lists the webhook endpoints created by the key; they remain.
   * `POST /api/v1/keys/{key_id}/revoke`
   */
  revokeKey(request: RevokeKeyRequest, options?: CallOptions): Promise<RevokeKeyReply>;
  /**
   * Follow the event feed
   * Events in order, limited to objects that the caller can read. Store `next` and send it as `after` in the next request; with `wait` the request waits for new events. Every event is returned once; no event appears before a cursor later.
   * `GET /api/v1/events`
   */
  listEvents(request?: ListEventsRequest, options?: CallOptions): Promise<ListEventsReply>;
  /**
   * Create a webhook endpoint
   * New events that the account can read are sent to the URL, signed as defined by Standard Webhooks. The secret is returned only once. Store it. Receivers must return 2xx within 15 seconds and detect duplicates by `webhook-id`.
   * `POST /api/v1/webhook-endpoints`
   */
  createWebhookEndpoint(request: CreateWebhookEndpointRequest, options?: CallOptions): Promise<CreateWebhookEndpointReply>;
  /**
   * List webhook endpoints
   * Superusers see the endpoints of all accounts, other callers their own.
   * `GET /api/v1/webhook-endpoints`
   */
  listWebhookEndpoints(request?: ListWebhookEndpointsRequest, options?: CallOptions): Promise<ListWebhookEndpointsReply>;
  /**
   * Read one webhook endpoint
   * `GET /api/v1/webhook-endpoints/{endpoint_id}`
   */
  getWebhookEndpoint(request: GetWebhookEndpointRequest & Conditional, options?: CallOptions): Promise<GetWebhookEndpointReply | NotModified>;
  /**
   * Read one webhook endpoint
   * `GET /api/v1/webhook-endpoints/{endpoint_id}`
   */
  getWebhookEndpoint(request: GetWebhookEndpointRequest, options?: CallOptions): Promise<GetWebhookEndpointReply>;
  /**
   * Delete a webhook endpoint
   * Stops sending events and deletes the stored deliveries.
   * `DELETE /api/v1/webhook-endpoints/{endpoint_id}`
   */
  deleteWebhookEndpoint(request: DeleteWebhookEndpointRequest, options?: CallOptions): Promise<DeleteWebhookEndpointReply>;
  /**
   * Change a webhook endpoint
   * Changes the fields in the request. Disabling drops pending deliveries; after enabling, new events are sent.
   * `POST /api/v1/webhook-endpoints/{endpoint_id}/update`
   */
  updateWebhookEndpoint(request: UpdateWebhookEndpointRequest, options?: CallOptions): Promise<UpdateWebhookEndpointReply>;
  /**
   * Rotate the secret of a webhook endpoint
   * The new secret is returned only once. Store it. Until the overlap ends, deliveries are signed with both secrets.
   * `POST /api/v1/webhook-endpoints/{endpoint_id}/rotate-secret`
   */
  rotateWebhookSecret(request: RotateWebhookSecretRequest, options?: CallOptions): Promise<RotateWebhookSecretReply>;
  /**
   * Send a test event to a webhook endpoint
   * Sends an event `webhook_endpoint.test` regardless of the types of the endpoint. It is signed like other events and is not in the feed.
   * `POST /api/v1/webhook-endpoints/{endpoint_id}/test`
   */
  testWebhookEndpoint(request: TestWebhookEndpointRequest, options?: CallOptions): Promise<TestWebhookEndpointReply>;
  /**
   * List deliveries of a webhook endpoint
   * Deliveries with their attempts, newest first, limited to events that the caller can read.
   * `GET /api/v1/webhook-endpoints/{endpoint_id}/deliveries`
   */
  listWebhookDeliveries(request: ListWebhookDeliveriesRequest, options?: CallOptions): Promise<ListWebhookDeliveriesReply>;
  /**
   * Redeliver an event
   * Sends the event again with the same `webhook-id`, even if it was delivered.
   * `POST /api/v1/webhook-endpoints/{endpoint_id}/deliveries/{delivery_id}/redeliver`
   */
  redeliverWebhook(request: RedeliverWebhookRequest, options?: CallOptions): Promise<RedeliverWebhookReply>;
  /**
   * Send undelivered events since a time
   * Includes events from while the endpoint was disabled, within the retention of the feed and since the creation of the endpoint.
   * `POST /api/v1/webhook-endpoints/{endpoint_id}/recover`
   */
  recoverWebhookEndpoint(request: RecoverWebhookEndpointRequest, options?: CallOptions): Promise<RecoverWebhookEndpointReply>;
  /**
   * Get the platform status
   * One process of each service reports its status. A service that does not answer is not ready, and its figures are missing. Counts are at most two seconds old.
   * `GET /api/ops/overview`
   */
  getOverview(request?: GetOverviewRequest, options?: CallOptions): Promise<GetOverviewReply>;
  /**
   * List jobs
   * Jobs of all services, newest first. Succeeded and cancelled jobs are stored for a week, dead jobs until they are redriven or discarded.
   * `GET /api/ops/jobs`
   */
  listJobs(request?: ListJobsRequest, options?: CallOptions): Promise<ListJobsReply>;
  /**
   * Read one job
   * With payload, result and every attempt. Secrets are replaced by `[redacted]`.
   * `GET /api/ops/jobs/{service}/{job_id}`
   */
  getJob(request: GetJobRequest & Conditional, options?: CallOptions): Promise<GetJobReply | NotModified>;
  /**
   * Read one job
   * With payload, result and every attempt. Secrets are replaced by `[redacted]`.
   * `GET /api/ops/jobs/{service}/{job_id}`
   */
  getJob(request: GetJobRequest, options?: CallOptions): Promise<GetJobReply>;
  /**
   * Redrive dead jobs
   * Queues dead jobs again with a full number of attempts, selected by filter or id. Cancelled jobs can be redriven by id only.
   * `POST /api/ops/jobs/redrive`
   */
  redriveJobs(request: RedriveJobsRequest, options?: CallOptions): Promise<RedriveJobsReply>;
  /**
   * Cancel jobs
   * Cancels queued and running jobs, selected by filter or id; running attempts are aborted. Dead jobs are discarded if selected by id or by the state `dead`.
   * `POST /api/ops/jobs/cancel`
   */
  cancelJobs(request: CancelJobsRequest, options?: CallOptions): Promise<CancelJobsReply>;
  /**
   * List inbound webhooks
   * Bookings, meeting provider reports and messages to agents with their outcomes, newest first.
   * `GET /api/ops/webhooks`
   */
  listWebhooks(request?: ListWebhooksRequest, options?: CallOptions): Promise<ListWebhooksReply>;
  /**
   * Read one inbound webhook
   * With the received body and headers; secrets are replaced by `[redacted]`. The body of ignored and rejected webhooks is not stored, except for unreadable ones.
   * `GET /api/ops/webhooks/{receipt_id}`
   */
  getWebhook(request: GetWebhookRequest & Conditional, options?: CallOptions): Promise<GetWebhookReply | NotModified>;
  /**
   * Read one inbound webhook
   * With the received body and headers; secrets are replaced by `[redacted]`. The body of ignored and rejected webhooks is not stored, except for unreadable ones.
   * `GET /api/ops/webhooks/{receipt_id}`
   */
  getWebhook(request: GetWebhookRequest, options?: CallOptions): Promise<GetWebhookReply>;
  /**
   * Replay webhooks
   * Processes webhooks again, selected by filter or id, oldest first. Applied webhooks do not change anything; webhooks without a stored body are skipped.
   * `POST /api/ops/webhooks/replay`
   */
  replayWebhooks(request: ReplayWebhooksRequest, options?: CallOptions): Promise<ReplayWebhooksReply>;
  /**
   * List conversations in pipeline steps
   * With the time they entered the step, what they wait for and the last error; newest first. With a `state`, a page can have fewer rows than `limit` and still have a `next`.
   * `GET /api/ops/pipelines`
   */
  listPipelines(request?: ListPipelinesRequest, options?: CallOptions): Promise<ListPipelinesReply>;
  /**
   * Run the job of a conversation now
   * Runs the waiting, dead or cancelled job of the conversation immediately. A running job is not changed. No second job is created.
   * `POST /api/ops/pipelines/{conversation_id}/retry`
   */
  retryPipeline(request: RetryPipelineRequest, options?: CallOptions): Promise<RetryPipelineReply>;
  /**
   * List chats with agents
   * Threads without their messages, last message first.
   * `GET /api/ops/threads`
   */
  listThreads(request?: ListThreadsRequest, options?: CallOptions): Promise<ListThreadsReply>;
  /**
   * Read a chat with an agent
   * The newest messages with their authors, oldest first.
   * `GET /api/ops/threads/{thread_id}`
   */
  getThread(request: GetThreadRequest & Conditional, options?: CallOptions): Promise<GetThreadReply | NotModified>;
  /**
   * Read a chat with an agent
   * The newest messages with their authors, oldest first.
   * `GET /api/ops/threads/{thread_id}`
   */
  getThread(request: GetThreadRequest, options?: CallOptions): Promise<GetThreadReply>;
  /**
   * Take over a chat
   * The agent does not reply until the thread is handed back. Only one operator can take over a thread; repeating the request with the same account succeeds.
   * `POST /api/ops/threads/{thread_id}/take`
   */
  takeThread(request: TakeThreadRequest, options?: CallOptions): Promise<TakeThreadReply>;
  /**
   * Send a message in a chat that you have taken over
   * The message is recorded with your account and shown on the chat page or sent through the messenger.
   * `POST /api/ops/threads/{thread_id}/message`
   */
  sayInThread(request: SayInThreadRequest, options?: CallOptions): Promise<SayInThreadReply>;
  /**
   * Hand a chat back to the agent
   * Any operator can hand back a thread. The agent replies to the next message with the full history.
   * `POST /api/ops/threads/{thread_id}/hand-back`
   */
  handThreadBack(request: HandThreadBackRequest, options?: CallOptions): Promise<HandThreadBackReply>;
  /**
   * List conversations
   * Conversations that are not deleted, newest first.
   * `GET /api/ops/conversations`
   */
  listAllConversations(request?: ListAllConversationsRequest, options?: CallOptions): Promise<ListAllConversationsReply>;
  /**
   * List deleted conversations
   * Conversations that can be restored, latest deletion first.
   * `GET /api/ops/conversations/deleted`
   */
  listDeletedConversations(request?: ListDeletedConversationsRequest, options?: CallOptions): Promise<ListDeletedConversationsReply>;
  /**
   * Read one conversation with all its data
   * Also a deleted conversation.
   * `GET /api/ops/conversations/{id}`
   */
  getConversationDetails(request: GetConversationDetailsRequest & Conditional, options?: CallOptions): Promise<GetConversationDetailsReply | NotModified>;
  /**
   * Read one conversation with all its data
   * Also a deleted conversation.
   * `GET /api/ops/conversations/{id}`
   */
  getConversationDetails(request: GetConversationDetailsRequest, options?: CallOptions): Promise<GetConversationDetailsReply>;
  /**
   * List the import evidence of an artifact or a conversation
   * Enough to recompute the evidence from a copy of the artifact. Counts and digests only.
   * `GET /api/ops/import-evidence`
   */
  listImportEvidence(request?: ListImportEvidenceRequest, options?: CallOptions): Promise<ListImportEvidenceReply>;
  /**
   * Find people by an identifier
   * Compares the id, then the workspace key, the email of contact and accounts, the phone number and the name, and returns the people who match first. Identifiers of merged people return the surviving person; ids also return erased people.
   * `GET /api/ops/people`
   */
  findPeople(request: FindPeopleRequest, options?: CallOptions): Promise<FindPeopleReply>;
  /**
   * List possible duplicates
   * People who share an email or LinkedIn address, compared as on creation.
   * `GET /api/ops/people/duplicates`
   */
  listDuplicatePeople(request?: ListDuplicatePeopleRequest, options?: CallOptions): Promise<ListDuplicatePeopleReply>;
  /**
   * List agents
   * By slug, with the number of sentences pending review.
   * `GET /api/ops/agents`
   */
  listAgents(request?: ListAgentsRequest, options?: CallOptions): Promise<ListAgentsReply>;
  /**
   * List the use of the language model
   * Calls, tokens and duration by day (UTC), agent and purpose, newest day first.
   * `GET /api/ops/agents/usage`
   */
  listAgentUsage(request?: ListAgentUsageRequest, options?: CallOptions): Promise<ListAgentUsageReply>;
  /**
   * List the knowledge of an agent
   * Sentences extracted from conversations, oldest first. `mode` says how they are used.
   * `GET /api/ops/agents/{slug}/knowledge`
   */
  listAgentKnowledge(request: ListAgentKnowledgeRequest, options?: CallOptions): Promise<ListAgentKnowledgeReply>;
  /**
   * Approve sentences of an agent
   * Approves all of the sentences or none. Approved sentences are part of the prompt for all visitors.
   * `POST /api/ops/agents/{slug}/knowledge/approve`
   */
  approveAgentKnowledge(request: ApproveAgentKnowledgeRequest, options?: CallOptions): Promise<ApproveAgentKnowledgeReply>;
  /**
   * Delete sentences of an agent
   * Permanently deletes all of the sentences, approved or not, and their derived data, or none of them.
   * `POST /api/ops/agents/{slug}/knowledge/reject`
   */
  rejectAgentKnowledge(request: RejectAgentKnowledgeRequest, options?: CallOptions): Promise<RejectAgentKnowledgeReply>;
  /**
   * Read the stored chats of an agent
   * Threads with messages and memory, oldest first; or the messages of one thread. Thread keys give access to chats: `thread_key` is in the body, because it must not be in a URL. Changes nothing.
   * `POST /api/ops/agents/{slug}/record`
   */
  readAgentRecord(request: ReadAgentRecordRequest, options?: CallOptions): Promise<ReadAgentRecordReply>;
  /**
   * Delete chats with agents
   * Permanently deletes threads with their messages, facts and the knowledge derived from them. Chats of a visitor are deleted again after a restore.
   * `POST /api/ops/agents/forget`
   */
  forgetChats(request: ForgetChatsRequest, options?: CallOptions): Promise<ForgetChatsReply>;
  /**
   * Read the webhook of an agent at Telegram
   * As Telegram reports it.
   * `GET /api/ops/agents/{slug}/webhook`
   */
  lookUpAgentWebhook(request: LookUpAgentWebhookRequest, options?: CallOptions): Promise<LookUpAgentWebhookReply>;
  /**
   * Register the webhook of an agent at Telegram
   * Registers address, secret and update types. Superusers only. Can be repeated.
   * `POST /api/ops/agents/{slug}/webhook`
   */
  setAgentWebhook(request: SetAgentWebhookRequest, options?: CallOptions): Promise<SetAgentWebhookReply>;
  /**
   * List audit log entries
   * Logins, account and configuration changes, and operator actions, newest first. Entries are immutable and stored for `AUDIT_RETENTION_DAYS`.
   * `GET /api/ops/audit`
   */
  listAudit(request?: ListAuditRequest, options?: CallOptions): Promise<ListAuditReply>;
  /**
   * List changes of the configuration of a step
   * Account and changed dotted paths without values, newest first; stored permanently.
   * `GET /api/ops/journeys/{journey_slug}/steps/{step_slug}/config-audit`
   */
  listStepConfigAudit(request: ListStepConfigAuditRequest, options?: CallOptions): Promise<ListStepConfigAuditReply>;
  /**
   * Import missing Cal.com bookings
   * Starts a job that compares the bookings of Cal.com with the known ones and processes missing ones like webhooks. Its result has the counts.
   * `POST /api/ops/bookings/reconcile`
   */
  reconcileBookings(request: ReconcileBookingsRequest, options?: CallOptions): Promise<ReconcileBookingsReply>;
  /**
   * Import the transcript of a conversation
   * Starts the transcript import, whatever step the conversation is in.
   * `POST /api/ops/conversations/{conversation_id}/import-transcript`
   */
  importTranscript(request: ImportTranscriptRequest, options?: CallOptions): Promise<ImportTranscriptReply>;
  /**
   * Remove old events of the feed
   * Earlier cursors then return 410.
   * `POST /api/ops/events/prune`
   */
  pruneEvents(request: PruneEventsRequest, options?: CallOptions): Promise<PruneEventsReply>;
}

/** What the transport has to know of each operation. */
export const operationTable = {
  findActiveConversations: { method: 'GET', path: '/api/coherence/conversations', credential: 'token', replies: [200] },
  createConversation: { method: 'POST', path: '/api/coherence/conversations', credential: 'token', replies: [201], body: 'json', key: true },
  getConversation: { method: 'GET', path: '/api/coherence/conversations/{conversation_id}', credential: 'token', replies: [200,304] },
  patchConversation: { method: 'PATCH', path: '/api/coherence/conversations/{conversation_id}', credential: 'token', replies: [200], body: 'json' },
  deleteConversation: { method: 'DELETE', path: '/api/coherence/conversations/{conversation_id}', credential: 'token', replies: [204] },
  markRecorded: { method: 'POST', path: '/api/coherence/conversations/{conversation_id}/recorded', credential: 'token', replies: [200], body: 'json', key: true },
  updateConversation: { method: 'POST', path: '/api/coherence/conversations/{conversation_id}/update', credential: 'token', replies: [200], body: 'json', key: true },
  restoreConversation: { method: 'POST', path: '/api/coherence/conversations/{conversation_id}/restore', credential: 'token', replies: [200], key: true },
  listConversationNotes: { method: 'GET', path: '/api/coherence/conversations/{conversation_id}/notes', credential: 'token', replies: [200] },
  createConversationNote: { method: 'POST', path: '/api/coherence/conversations/{conversation_id}/notes', credential: 'token', replies: [201], body: 'json', key: true },
  getConversationTimeline: { method: 'GET', path: '/api/coherence/conversations/{conversation_id}/timeline', credential: 'token', replies: [200,304] },
  getConversationInfos: { method: 'GET', path: '/api/coherence/conversations/{conversation_id}/infos', credential: 'token', replies: [200,304] },
  patchConversationInfos: { method: 'PATCH', path: '/api/coherence/conversations/{conversation_id}/infos', credential: 'token', replies: [200], body: 'json' },
  recordQuestionChange: { method: 'POST', path: '/api/coherence/conversations/{conversation_id}/question-changes', credential: 'token', replies: [200,201], body: 'json', key: true },
  searchConversations: { method: 'GET', path: '/api/coherence/conversations/search', credential: 'token', replies: [200] },
  getConversationSummary: { method: 'GET', path: '/api/coherence/conversations/{conversation_id}/summary', credential: 'token', replies: [200,304] },
  browseHolonConversations: { method: 'GET', path: '/api/coherence/browse/holons/{holon_slug}/conversations', credential: 'token', replies: [200] },
  browseJourneyConversations: { method: 'GET', path: '/api/coherence/browse/conversations', credential: 'token', replies: [200] },
  browseHolon: { method: 'GET', path: '/api/coherence/browse/holons/{holon_slug}', credential: 'token', replies: [200,304] },
  lookUpPersons: { method: 'GET', path: '/api/coherence/browse/persons', credential: 'token', replies: [200] },
  lookUpHolons: { method: 'GET', path: '/api/coherence/browse/holons', credential: 'token', replies: [200] },
  listConversationEvents: { method: 'GET', path: '/api/coherence/conversation-events', credential: 'token', replies: [200] },
  listEventJourneys: { method: 'GET', path: '/api/coherence/conversation-events/{event_slug}/journeys', credential: 'token', replies: [200] },
  listJourneySteps: { method: 'GET', path: '/api/coherence/journeys/{journey_slug}/steps', credential: 'token', replies: [200] },
  readStepConfig: { method: 'GET', path: '/api/coherence/journeys/{journey_slug}/steps/{step_slug}/config', credential: 'token', replies: [200,304] },
  patchStepConfig: { method: 'PATCH', path: '/api/coherence/journeys/{journey_slug}/steps/{step_slug}/config', credential: 'token', replies: [200], body: 'json' },
  writeRoom: { method: 'POST', path: '/api/coherence/conversations/{conversation_id}/enter-coherence', credential: 'token', replies: [200], body: 'json' },
  readRoom: { method: 'GET', path: '/api/coherence/conversations/{conversation_id}/enter-coherence', credential: 'token', replies: [200,304] },
  receiveBooking: { method: 'POST', path: '/api/coherence/hook/booking/{person_id}', credential: 'none', replies: [200], body: 'json' },
  explainBookingHook: { method: 'GET', path: '/api/coherence/hook/booking/{person_id}', credential: 'none', replies: [200,304] },
  receiveMeetingReport: { method: 'POST', path: '/api/hook/meetings', credential: 'none', replies: [200], body: 'json' },
  uploadAudio: { method: 'POST', path: '/api/coherence/conversations/{conversation_id}/audio', credential: 'token', replies: [201], body: 'multipart', part: 'audio', deadlineMs: 3600000 },
  downloadAudio: { method: 'GET', path: '/api/coherence/conversations/{conversation_id}/audio', credential: 'token', replies: [200,206,304] },
  getVideo: { method: 'GET', path: '/api/coherence/conversations/{conversation_id}/video', credential: 'token', replies: [200,304] },
  downloadCaptions: { method: 'GET', path: '/api/coherence/conversations/{conversation_id}/captions.vtt', credential: 'token', replies: [200,304], deadlineMs: 60000 },
  getAgent: { method: 'GET', path: '/api/agents/{slug}/', credential: 'token', replies: [200,304] },
  sendChatMessage: { method: 'POST', path: '/api/chat/{agent_slug}/message/', credential: 'none', replies: [200], body: 'json', key: true, deadlineMs: 140000 },
  readChatUpdates: { method: 'POST', path: '/api/chat/{agent_slug}/updates/', credential: 'none', replies: [200], body: 'json' },
  receiveAgentUpdate: { method: 'POST', path: '/api/hook/agents/{slug}', credential: 'none', replies: [200], body: 'json' },
  downloadTranscript: { method: 'GET', path: '/api/coherence/conversations/{conversation_id}/transcript', credential: 'token', replies: [200,304], deadlineMs: 60000 },
  searchTranscripts: { method: 'GET', path: '/api/coherence/transcripts/search', credential: 'token', replies: [200] },
  readImportEvidence: { method: 'GET', path: '/api/coherence/conversations/{conversation_id}/transcript/import-evidence', credential: 'token', replies: [200,304] },
  login: { method: 'POST', path: '/api/v1/auth/login', credential: 'login-key', replies: [200], body: 'json' },
  logout: { method: 'POST', path: '/api/v1/auth/logout', credential: 'token', replies: [200], body: 'json' },
  whoami: { method: 'GET', path: '/api/v1/auth/whoami', credential: 'token', replies: [200,304] },
  changePassword: { method: 'POST', path: '/api/v1/auth/password', credential: 'token', replies: [200], body: 'json' },
  listSessions: { method: 'GET', path: '/api/v1/auth/sessions', credential: 'token', replies: [200] },
  revokeSession: { method: 'POST', path: '/api/v1/auth/sessions/{session_id}/revoke', credential: 'token', replies: [200], body: 'json' },
  searchDirectory: { method: 'GET', path: '/api/v1/search', credential: 'token', replies: [200] },
  listPeople: { method: 'GET', path: '/api/v1/people', credential: 'token', replies: [200] },
  createPerson: { method: 'POST', path: '/api/v1/people', credential: 'token', replies: [201], body: 'json', key: true },
  getPerson: { method: 'GET', path: '/api/v1/people/{person_id}', credential: 'token', replies: [200,304] },
  listHolons: { method: 'GET', path: '/api/v1/holons', credential: 'token', replies: [200] },
  createHolon: { method: 'POST', path: '/api/v1/holons', credential: 'token', replies: [201], body: 'json', key: true },
  getHolon: { method: 'GET', path: '/api/v1/holons/{holon_id}', credential: 'token', replies: [200,304] },
  deleteHolon: { method: 'DELETE', path: '/api/v1/holons/{holon_id}', credential: 'token', replies: [204] },
  getHolonBySlug: { method: 'GET', path: '/api/v1/holons/by-slug/{slug}', credential: 'token', replies: [200,304] },
  listClasses: { method: 'GET', path: '/api/v1/classes', credential: 'token', replies: [200] },
  createClass: { method: 'POST', path: '/api/v1/classes', credential: 'token', replies: [201], body: 'json', key: true },
  getClass: { method: 'GET', path: '/api/v1/classes/{object_kind}/{slug}', credential: 'token', replies: [200,304] },
  deleteClass: { method: 'DELETE', path: '/api/v1/classes/{object_kind}/{slug}', credential: 'token', replies: [204] },
  listJourneys: { method: 'GET', path: '/api/v1/journeys', credential: 'token', replies: [200] },
  createJourney: { method: 'POST', path: '/api/v1/journeys', credential: 'token', replies: [201], body: 'json', key: true },
  getJourney: { method: 'GET', path: '/api/v1/journeys/{slug}', credential: 'token', replies: [200,304] },
  deleteJourney: { method: 'DELETE', path: '/api/v1/journeys/{slug}', credential: 'token', replies: [204] },
  updateClass: { method: 'POST', path: '/api/v1/classes/{object_kind}/{slug}/update', credential: 'token', replies: [200], body: 'json', key: true },
  updateJourney: { method: 'POST', path: '/api/v1/journeys/{slug}/update', credential: 'token', replies: [200], body: 'json', key: true },
  createStep: { method: 'POST', path: '/api/v1/journeys/{slug}/steps', credential: 'token', replies: [201], body: 'json', key: true },
  updateStep: { method: 'POST', path: '/api/v1/journeys/{slug}/steps/{step_slug}/update', credential: 'token', replies: [200], body: 'json', key: true },
  deleteStep: { method: 'DELETE', path: '/api/v1/journeys/{slug}/steps/{step_slug}', credential: 'token', replies: [204] },
  listQuestions: { method: 'GET', path: '/api/v1/journeys/{slug}/questions', credential: 'token', replies: [200] },
  createQuestion: { method: 'POST', path: '/api/v1/journeys/{slug}/questions', credential: 'token', replies: [201], body: 'json', key: true },
  updateQuestion: { method: 'POST', path: '/api/v1/journeys/{slug}/questions/{question_id}/update', credential: 'token', replies: [200], body: 'json', key: true },
  updatePerson: { method: 'POST', path: '/api/v1/people/{person_id}/update', credential: 'token', replies: [200], body: 'json', key: true },
  exportPerson: { method: 'GET', path: '/api/v1/people/{person_id}/export', credential: 'token', replies: [200,304], deadlineMs: 60000 },
  erasePerson: { method: 'POST', path: '/api/v1/people/{person_id}/erase', credential: 'token', replies: [200,202], body: 'json', key: true, deadlineMs: 120000 },
  getPersonErasure: { method: 'GET', path: '/api/v1/people/{person_id}/erasure', credential: 'token', replies: [200,304] },
  mergePerson: { method: 'POST', path: '/api/v1/people/{person_id}/merge', credential: 'token', replies: [200], body: 'json', key: true, deadlineMs: 55000 },
  updateHolon: { method: 'POST', path: '/api/v1/holons/{holon_id}/update', credential: 'token', replies: [200], body: 'json', key: true },
  createExperience: { method: 'POST', path: '/api/v1/experiences', credential: 'token', replies: [201], body: 'json', key: true },
  uploadExperienceLogo: { method: 'POST', path: '/api/v1/experiences/{experience_id}/logo', credential: 'token', replies: [200], body: 'multipart', part: 'logo', key: true, deadlineMs: 120000 },
  listPersonMemberships: { method: 'GET', path: '/api/v1/people/{person_id}/memberships', credential: 'token', replies: [200] },
  listHolonMemberships: { method: 'GET', path: '/api/v1/holons/{holon_id}/memberships', credential: 'token', replies: [200] },
  createMembership: { method: 'POST', path: '/api/v1/memberships', credential: 'token', replies: [201], body: 'json', key: true },
  deleteMembership: { method: 'DELETE', path: '/api/v1/memberships/{membership_id}', credential: 'token', replies: [204] },
  updateMembership: { method: 'POST', path: '/api/v1/memberships/{membership_id}/update', credential: 'token', replies: [200], body: 'json', key: true },
  bulkAddMemberships: { method: 'POST', path: '/api/v1/holons/{holon_id}/memberships:bulk-add', credential: 'token', replies: [200], body: 'json', key: true, deadlineMs: 25000 },
  listHolonRelationships: { method: 'GET', path: '/api/v1/holons/{holon_id}/relationships', credential: 'token', replies: [200] },
  createRelationship: { method: 'POST', path: '/api/v1/relationships', credential: 'token', replies: [201], body: 'json', key: true },
  deleteRelationship: { method: 'DELETE', path: '/api/v1/relationships/{relationship_id}', credential: 'token', replies: [204] },
  updateRelationship: { method: 'POST', path: '/api/v1/relationships/{relationship_id}/update', credential: 'token', replies: [200], body: 'json', key: true },
  listNotesOfPerson: { method: 'GET', path: '/api/v1/people/{person_id}/notes', credential: 'token', replies: [200] },
  createPersonNote: { method: 'POST', path: '/api/v1/people/{person_id}/notes', credential: 'token', replies: [201], body: 'json', key: true },
  listNotesOfHolon: { method: 'GET', path: '/api/v1/holons/{holon_id}/notes', credential: 'token', replies: [200] },
  createHolonNote: { method: 'POST', path: '/api/v1/holons/{holon_id}/notes', credential: 'token', replies: [201], body: 'json', key: true },
  updateNote: { method: 'POST', path: '/api/v1/notes/{note_id}/update', credential: 'token', replies: [200], body: 'json', key: true },
  deleteNote: { method: 'DELETE', path: '/api/v1/notes/{note_id}', credential: 'token', replies: [204] },
  listResponsible: { method: 'GET', path: '/api/v1/responsible', credential: 'token', replies: [200] },
  listSpheres: { method: 'GET', path: '/api/v1/spheres', credential: 'token', replies: [200] },
  createSphere: { method: 'POST', path: '/api/v1/spheres', credential: 'token', replies: [201], body: 'json', key: true },
  updateSphere: { method: 'POST', path: '/api/v1/spheres/{sphere_id}/update', credential: 'token', replies: [200], body: 'json', key: true },
  listPersonHistory: { method: 'GET', path: '/api/v1/people/{id}/history', credential: 'token', replies: [200] },
  listHolonHistory: { method: 'GET', path: '/api/v1/holons/{id}/history', credential: 'token', replies: [200] },
  listMembershipHistory: { method: 'GET', path: '/api/v1/memberships/{id}/history', credential: 'token', replies: [200] },
  listRelationshipHistory: { method: 'GET', path: '/api/v1/relationships/{id}/history', credential: 'token', replies: [200] },
  listJourneyHistory: { method: 'GET', path: '/api/v1/journeys/{id}/history', credential: 'token', replies: [200] },
  listAccountHistory: { method: 'GET', path: '/api/v1/accounts/{id}/history', credential: 'token', replies: [200] },
  listClassHistory: { method: 'GET', path: '/api/v1/classes/{object_kind}/{slug}/history', credential: 'token', replies: [200] },
  listWorkspaceAgents: { method: 'GET', path: '/api/v1/agents', credential: 'token', replies: [200] },
  createAgent: { method: 'POST', path: '/api/v1/agents', credential: 'token', replies: [201], body: 'json', key: true },
  getWorkspaceAgent: { method: 'GET', path: '/api/v1/agents/{slug}', credential: 'token', replies: [200,304] },
  deleteAgent: { method: 'DELETE', path: '/api/v1/agents/{slug}', credential: 'token', replies: [204] },
  updateAgent: { method: 'POST', path: '/api/v1/agents/{slug}/update', credential: 'token', replies: [200], body: 'json', key: true },
  listAgentHistory: { method: 'GET', path: '/api/v1/agents/{id}/history', credential: 'token', replies: [200] },
  listAccounts: { method: 'GET', path: '/api/v1/accounts', credential: 'token', replies: [200] },
  createAccount: { method: 'POST', path: '/api/v1/accounts', credential: 'token', replies: [201], body: 'json', key: true },
  getAccount: { method: 'GET', path: '/api/v1/accounts/{account_id}', credential: 'token', replies: [200,304] },
  deleteAccount: { method: 'DELETE', path: '/api/v1/accounts/{account_id}', credential: 'token', replies: [204] },
  updateAccount: { method: 'POST', path: '/api/v1/accounts/{account_id}/update', credential: 'token', replies: [200], body: 'json', key: true },
  listAccountIdentities: { method: 'GET', path: '/api/v1/accounts/{account_id}/identities', credential: 'token', replies: [200] },
  linkAccountIdentity: { method: 'POST', path: '/api/v1/accounts/{account_id}/identities/link', credential: 'token', replies: [200], body: 'json', key: true },
  unlinkAccountIdentity: { method: 'POST', path: '/api/v1/accounts/{account_id}/identities/unlink', credential: 'token', replies: [200], body: 'json', key: true },
  resetAccountPassword: { method: 'POST', path: '/api/v1/accounts/{account_id}/reset-password', credential: 'token', replies: [200], body: 'json', key: true },
  createKey: { method: 'POST', path: '/api/v1/keys', credential: 'token', replies: [201], body: 'json' },
  listKeys: { method: 'GET', path: '/api/v1/keys', credential: 'token', replies: [200] },
  getKey: { method: 'GET', path: '/api/v1/keys/{key_id}', credential: 'token', replies: [200,304] },
  rotateKey: { method: 'POST', path: '/api/v1/keys/{key_id}/rotate', credential: 'token', replies: [200], body: 'json' },
  revokeKey: { method: 'POST', path: '/api/v1/keys/{key_id}/revoke', credential: 'token', replies: [200], body: 'json', key: true },
  listEvents: { method: 'GET', path: '/api/v1/events', credential: 'token', replies: [200], deadlineMs: 40000 },
  createWebhookEndpoint: { method: 'POST', path: '/api/v1/webhook-endpoints', credential: 'token', replies: [201], body: 'json', key: true },
  listWebhookEndpoints: { method: 'GET', path: '/api/v1/webhook-endpoints', credential: 'token', replies: [200] },
  getWebhookEndpoint: { method: 'GET', path: '/api/v1/webhook-endpoints/{endpoint_id}', credential: 'token', replies: [200,304] },
  deleteWebhookEndpoint: { method: 'DELETE', path: '/api/v1/webhook-endpoints/{endpoint_id}', credential: 'token', replies: [204] },
  updateWebhookEndpoint: { method: 'POST', path: '/api/v1/webhook-endpoints/{endpoint_id}/update', credential: 'token', replies: [200], body: 'json', key: true },
  rotateWebhookSecret: { method: 'POST', path: '/api/v1/webhook-endpoints/{endpoint_id}/rotate-secret', credential: 'token', replies: [200], body: 'json', key: true },
  testWebhookEndpoint: { method: 'POST', path: '/api/v1/webhook-endpoints/{endpoint_id}/test', credential: 'token', replies: [200], body: 'json', key: true },
  listWebhookDeliveries: { method: 'GET', path: '/api/v1/webhook-endpoints/{endpoint_id}/deliveries', credential: 'token', replies: [200] },
  redeliverWebhook: { method: 'POST', path: '/api/v1/webhook-endpoints/{endpoint_id}/deliveries/{delivery_id}/redeliver', credential: 'token', replies: [200], body: 'json', key: true },
  recoverWebhookEndpoint: { method: 'POST', path: '/api/v1/webhook-endpoints/{endpoint_id}/recover', credential: 'token', replies: [200], body: 'json', key: true },
  getOverview: { method: 'GET', path: '/api/ops/overview', credential: 'token', replies: [200] },
  listJobs: { method: 'GET', path: '/api/ops/jobs', credential: 'token', replies: [200] },
  getJob: { method: 'GET', path: '/api/ops/jobs/{service}/{job_id}', credential: 'token', replies: [200,304] },
  redriveJobs: { method: 'POST', path: '/api/ops/jobs/redrive', credential: 'token', replies: [200], body: 'json', deadlineMs: 60000 },
  cancelJobs: { method: 'POST', path: '/api/ops/jobs/cancel', credential: 'token', replies: [200], body: 'json', deadlineMs: 60000 },
  listWebhooks: { method: 'GET', path: '/api/ops/webhooks', credential: 'token', replies: [200] },
  getWebhook: { method: 'GET', path: '/api/ops/webhooks/{receipt_id}', credential: 'token', replies: [200,304] },
  replayWebhooks: { method: 'POST', path: '/api/ops/webhooks/replay', credential: 'token', replies: [200], body: 'json', deadlineMs: 60000 },
  listPipelines: { method: 'GET', path: '/api/ops/pipelines', credential: 'token', replies: [200] },
  retryPipeline: { method: 'POST', path: '/api/ops/pipelines/{conversation_id}/retry', credential: 'token', replies: [200], body: 'json' },
  listThreads: { method: 'GET', path: '/api/ops/threads', credential: 'token', replies: [200] },
  getThread: { method: 'GET', path: '/api/ops/threads/{thread_id}', credential: 'token', replies: [200,304] },
  takeThread: { method: 'POST', path: '/api/ops/threads/{thread_id}/take', credential: 'token', replies: [200], body: 'json' },
  sayInThread: { method: 'POST', path: '/api/ops/threads/{thread_id}/message', credential: 'token', replies: [200], body: 'json', key: true },
  handThreadBack: { method: 'POST', path: '/api/ops/threads/{thread_id}/hand-back', credential: 'token', replies: [200], body: 'json' },
  listAllConversations: { method: 'GET', path: '/api/ops/conversations', credential: 'token', replies: [200] },
  listDeletedConversations: { method: 'GET', path: '/api/ops/conversations/deleted', credential: 'token', replies: [200] },
  getConversationDetails: { method: 'GET', path: '/api/ops/conversations/{id}', credential: 'token', replies: [200,304] },
  listImportEvidence: { method: 'GET', path: '/api/ops/import-evidence', credential: 'token', replies: [200] },
  findPeople: { method: 'GET', path: '/api/ops/people', credential: 'token', replies: [200] },
  listDuplicatePeople: { method: 'GET', path: '/api/ops/people/duplicates', credential: 'token', replies: [200], deadlineMs: 30000 },
  listAgents: { method: 'GET', path: '/api/ops/agents', credential: 'token', replies: [200] },
  listAgentUsage: { method: 'GET', path: '/api/ops/agents/usage', credential: 'token', replies: [200] },
  listAgentKnowledge: { method: 'GET', path: '/api/ops/agents/{slug}/knowledge', credential: 'token', replies: [200] },
  approveAgentKnowledge: { method: 'POST', path: '/api/ops/agents/{slug}/knowledge/approve', credential: 'token', replies: [200], body: 'json' },
  rejectAgentKnowledge: { method: 'POST', path: '/api/ops/agents/{slug}/knowledge/reject', credential: 'token', replies: [200], body: 'json' },
  readAgentRecord: { method: 'POST', path: '/api/ops/agents/{slug}/record', credential: 'token', replies: [200], body: 'json', deadlineMs: 60000 },
  forgetChats: { method: 'POST', path: '/api/ops/agents/forget', credential: 'token', replies: [200], body: 'json', deadlineMs: 60000 },
  lookUpAgentWebhook: { method: 'GET', path: '/api/ops/agents/{slug}/webhook', credential: 'token', replies: [200], deadlineMs: 40000 },
  setAgentWebhook: { method: 'POST', path: '/api/ops/agents/{slug}/webhook', credential: 'token', replies: [200], body: 'json', deadlineMs: 40000 },
  listAudit: { method: 'GET', path: '/api/ops/audit', credential: 'token', replies: [200] },
  listStepConfigAudit: { method: 'GET', path: '/api/ops/journeys/{journey_slug}/steps/{step_slug}/config-audit', credential: 'token', replies: [200] },
  reconcileBookings: { method: 'POST', path: '/api/ops/bookings/reconcile', credential: 'token', replies: [200], body: 'json' },
  importTranscript: { method: 'POST', path: '/api/ops/conversations/{conversation_id}/import-transcript', credential: 'token', replies: [200], body: 'json' },
  pruneEvents: { method: 'POST', path: '/api/ops/events/prune', credential: 'token', replies: [200], body: 'json', deadlineMs: 60000 },
} as const satisfies OperationTable;
