import { Type, type Static } from 'typebox';
import { advanceOnSuccess, type PipelineJob } from './declaration.ts';
import { waitingPolicy } from './waiting-policy.ts';

const config = Type.Object(
  {
    language: Type.String({
      default: '',
      pattern: '^([a-z]{2})?$',
      description: 'Language that is spoken, ISO 639-1; empty: the server finds out.',
    }),
    vocabulary: Type.String({ default: '', maxLength: 600, description: 'Names and words that are likely, as a hint to the server.' }),
    audio_offset_seconds: Type.Number({
      default: 0,
      minimum: -86_400,
      maximum: 86_400,
      description:
        'When the audio begins, seconds from `conversationStartedAt`; negative: before it. Whatever lies outside the window is never sent.',
    }),
    replace_existing: Type.Boolean({
      default: false,
      description: 'Also when the conversation has a transcript, which the new one then replaces.',
    }),
    advance_on_success: advanceOnSuccess,
  },
  { additionalProperties: false },
);

export type AudioTranscriptionConfig = Static<typeof config>;

/** Writes the transcript from the canonical audio where the provider has none; waits for audio and window as an import does. */
export const audioTranscription: PipelineJob<typeof config> = Object.freeze({
  name: 'audio_transcription',
  summary: 'Transcribes the canonical audio, cut to the approved window, unless there is a transcript.',
  jobType: 'transcripts.audio-transcription',
  policy: {
    ...waitingPolicy,
    timeoutMs: 6 * 3_600_000,
    concurrency: 1,
  },
  startsAgainWithWindow: true,
  config,
  fields: Object.freeze({
    language: 'read_write',
    vocabulary: 'read_write',
    audio_offset_seconds: 'read_write',
    replace_existing: 'read_write',
    advance_on_success: 'read_write',
  }),
});
