/**
 * Declarations of all pipeline jobs that a journey step can name as its `pipeline_job` (rules/steps#pipeline-jobs). To
 * add a job, declare it here, list it in `declaredJobs`, and implement it in the service that owns it.
 */
import { Type, type Static } from '#libs/infrastructure/contract';
import { advanceOnSuccess, type PipelineJob, waitingPolicy } from './declaration.ts';

const transcriptImportConfig = Type.Object({ advance_on_success: advanceOnSuccess }, { additionalProperties: false });

/** Imports the provider's transcript of a recorded conversation; retries as described in D7a. */
export const transcriptImport: PipelineJob<typeof transcriptImportConfig> = Object.freeze({
  name: 'transcript_import',
  summary: "Imports the meeting provider's transcript, cut to the approved window.",
  jobType: 'transcripts.transcript-import',
  policy: {
    ...waitingPolicy,
    timeoutMs: 1_800_000,
    concurrency: 2,
  },
  restartOnWindowComplete: true,
  waitsForProvider: true,
  config: transcriptImportConfig,
  fields: Object.freeze({ advance_on_success: 'read_write' }),
});

const recordingImportConfig = Type.Object(
  {
    trim: Type.Boolean({
      default: true,
      description: 'Trim the part before `conversationStartedAt`. The whole recording is stored as well.',
    }),
    thumbnails: Type.Integer({
      default: 3,
      minimum: 0,
      maximum: 5,
      description: 'Number of thumbnails, taken at 10 %, 30 %, 50 %, 70 % and 90 % of the conversation; 0 = none.',
    }),
    advance_on_success: advanceOnSuccess,
  },
  { additionalProperties: false },
);

export type RecordingImportConfig = Static<typeof recordingImportConfig>;

/** Imports the provider's recording; waits for a late recording (D7a). */
export const recordingImport: PipelineJob<typeof recordingImportConfig> = Object.freeze({
  name: 'recording_import',
  summary: "Imports the meeting provider's recording, trims the part before the conversation and creates thumbnails.",
  jobType: 'media.recording-import',
  policy: {
    ...waitingPolicy,
    timeoutMs: 6 * 3_600_000,
    concurrency: 1,
  },
  restartOnWindowComplete: true,
  waitsForProvider: true,
  config: recordingImportConfig,
  fields: Object.freeze({ trim: 'read_write', thumbnails: 'read_write', advance_on_success: 'read_write' }),
});

const audioTranscriptionConfig = Type.Object(
  {
    language: Type.String({
      default: '',
      pattern: '^([a-z]{2})?$',
      description: 'Spoken language, ISO 639-1; empty = detected by the server.',
    }),
    vocabulary: Type.String({
      default: '',
      maxLength: 600,
      description: 'Likely names and words, as a hint for the server.',
    }),
    audio_offset_seconds: Type.Number({
      default: 0,
      minimum: -86_400,
      maximum: 86_400,
      description:
        'Start of the audio in seconds after `conversationStartedAt`; negative = before it. Audio outside the window is never sent.',
    }),
    replace_existing: Type.Boolean({
      default: false,
      description: 'Replace an existing transcript.',
    }),
    advance_on_success: advanceOnSuccess,
  },
  { additionalProperties: false },
);

export type AudioTranscriptionConfig = Static<typeof audioTranscriptionConfig>;

/**
 * Transcribes the canonical audio when the provider has no transcript; waits for the audio and the transcript window.
 */
export const audioTranscription: PipelineJob<typeof audioTranscriptionConfig> = Object.freeze({
  name: 'audio_transcription',
  summary: 'Transcribes the canonical audio within the approved window, unless a transcript exists.',
  jobType: 'transcripts.audio-transcription',
  policy: {
    ...waitingPolicy,
    timeoutMs: 6 * 3_600_000,
    concurrency: 1,
  },
  restartOnWindowComplete: true,
  config: audioTranscriptionConfig,
  fields: Object.freeze({
    language: 'read_write',
    vocabulary: 'read_write',
    audio_offset_seconds: 'read_write',
    replace_existing: 'read_write',
    advance_on_success: 'read_write',
  }),
});

const publishingSummaryConfig = Type.Object(
  {
    language: Type.String({
      default: '',
      maxLength: 40,
      description: 'Language of the texts, e.g. `English`; empty = the language of the conversation.',
    }),
    guidance: Type.String({
      default: '',
      maxLength: 2_000,
      description: 'Further instructions for the model, e.g. the audience.',
    }),
    advance_on_success: advanceOnSuccess,
  },
  { additionalProperties: false },
);

export type PublishingSummaryConfig = Static<typeof publishingSummaryConfig>;

/** Maximum attempts in which the model returns no usable reply. Attempts that wait for late input are not counted. */
const maxUselessAnswers = 12;

/** Writes title, summary and description from the transcript; waits for a late transcript. */
export const publishingSummary: PipelineJob<typeof publishingSummaryConfig> = Object.freeze({
  name: 'publishing_summary',
  summary:
    'Writes title, summary and description of the conversation from its transcript. Texts written by a person are preserved.',
  jobType: 'agents.publishing-summary',
  policy: {
    ...waitingPolicy,
    maxAttempts: maxUselessAnswers,
    timeoutMs: 3_600_000,
    concurrency: 1,
  },
  restartOnWindowComplete: true,
  config: publishingSummaryConfig,
  fields: Object.freeze({ language: 'read_write', guidance: 'read_write', advance_on_success: 'read_write' }),
});

const videohostPublishConfig = Type.Object(
  {
    privacy: Type.Union([Type.Literal('private'), Type.Literal('unlisted'), Type.Literal('public')], {
      default: 'unlisted',
      description: 'Who can watch the video on the host.',
    }),
    category_id: Type.String({
      default: '22',
      pattern: '^[0-9]{1,4}$',
      description: "The host's category; 22 = people and blogs.",
    }),
    tags: Type.Array(Type.String({ minLength: 1, maxLength: 60 }), {
      default: [],
      maxItems: 15,
      description: 'Tags of the video.',
    }),
    set_thumbnail: Type.Boolean({ default: true, description: "Upload the conversation's first thumbnail." }),
    captions_language: Type.String({
      default: 'en',
      pattern: '^([a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3})?$',
      description: 'Language of the captions, BCP 47; empty = no captions are uploaded.',
    }),
    videohost_refresh_token: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'OAuth refresh token of the channel; set in the workspace file, never returned.',
      }),
    ),
    advance_on_success: advanceOnSuccess,
  },
  { additionalProperties: false },
);

export type VideohostPublishConfig = Static<typeof videohostPublishConfig>;

/** Uploads the recording to the video host once and adds captions later; waits for a late recording. */
export const videohostPublish: PipelineJob<typeof videohostPublishConfig> = Object.freeze({
  name: 'videohost_publish',
  summary: 'Uploads the recording to the video host with title, description, thumbnail and captions, once.',
  jobType: 'media.videohost-publish',
  policy: {
    ...waitingPolicy,
    timeoutMs: 6 * 3_600_000,
    concurrency: 1,
  },
  config: videohostPublishConfig,
  fields: Object.freeze({
    privacy: 'read_write',
    category_id: 'read_write',
    tags: 'read_write',
    set_thumbnail: 'read_write',
    captions_language: 'read_write',
    videohost_refresh_token: 'hidden',
    advance_on_success: 'read_write',
  }),
});

export const declaredJobs: readonly PipelineJob[] = [
  transcriptImport,
  recordingImport,
  audioTranscription,
  publishingSummary,
  videohostPublish,
];
