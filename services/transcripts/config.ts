/** Settings of the transcripts service (architecture#configuration). */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  actorSettings,
  databaseSettings,
  loadConfig,
  logSettings,
  telemetrySettings,
  natsSettings,
  replySettings,
  outboundSettings,
  secret,
  urlSetting,
} from '#libs/infrastructure/config';
import { Type } from '#libs/infrastructure/contract';

const mebibyte = 1_048_576;

export const transcriptsSettings = Type.Object({
  ...natsSettings,
  ...replySettings,
  ...actorSettings,
  ...databaseSettings,
  ...logSettings,
  ...telemetrySettings,
  ...outboundSettings,
  REALTIMEKIT_BASE_URL: Type.Optional(
    urlSetting('meeting provider, ends before /sessions; unset = imports wait for it', 'http|https'),
  ),
  REALTIMEKIT_API_TOKEN: secret(Type.String({ default: '', description: 'token of the meeting provider' })),
  TRANSCRIPT_MAX_BYTES: Type.Integer({
    default: 512 * mebibyte,
    minimum: 1,
    maximum: 4_096 * mebibyte,
    description: 'maximum bytes of a transcript artifact',
  }),
  TRANSCRIPT_DOWNLOAD_TIMEOUT_SECONDS: Type.Integer({
    default: 600,
    minimum: 1,
    maximum: 1_500,
    description: 'timeout of one download of a transcript artifact',
  }),
  MEDIA_INTERNAL_URL: {
    ...urlSetting('internal HTTP of the media service', 'http|https'),
    default: 'http://localhost:8082',
  },
  LLM_BASE_URL: Type.String({
    default: '',
    pattern: '^($|https?://[^\\s]+$)',
    errorMessage: 'must be empty or a URL that starts with http:// or https://',
    description: 'OpenAI-compatible server, up to before /audio/transcriptions; empty = transcriptions of audio wait',
  }),
  LLM_API_KEY: secret(Type.String({ default: '', description: 'API key of that server; empty = none' })),
  TRANSCRIPTION_MODEL: Type.String({
    default: '',
    description: 'model that transcribes audio; empty = transcriptions of audio wait',
  }),
  TRANSCRIPTION_TIMEOUT_MS: Type.Integer({
    default: 300_000,
    minimum: 10,
    maximum: 3_600_000,
    description: 'timeout of one attempt to transcribe a part; there are two',
  }),
  TRANSCRIPTION_PART_SECONDS: Type.Integer({
    default: 600,
    minimum: 1,
    maximum: 3_600,
    description: 'maximum length of an audio part, cut in silence if possible',
  }),
  FFMPEG_PATH: Type.String({
    default: 'ffmpeg',
    minLength: 1,
    description: 'path of ffmpeg, with ffprobe beside it; required for transcription',
  }),
  TRANSCRIPTION_SCRATCH_DIR: Type.String({
    default: join(tmpdir(), 'coherence-transcripts'),
    minLength: 1,
    description: 'folder for one audio file and its parts, up to 1 GiB; emptied at start',
  }),
});

export type TranscriptsConfig = ReturnType<typeof loadTranscriptsConfig>;

/** Reads the settings of the transcripts service. @throws ConfigError with every problem. */
export function loadTranscriptsConfig(env?: Readonly<Record<string, string | undefined>>) {
  return loadConfig(transcriptsSettings, env);
}
