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
} from '#libs/config';
import { Type } from '#libs/contract';

const mebibyte = 1_048_576;

export const transcriptsSettings = Type.Object({
  ...natsSettings,
  ...replySettings,
  ...actorSettings,
  ...databaseSettings,
  ...logSettings,
  ...telemetrySettings,
  ...outboundSettings,
  REALTIMEKIT_BASE_URL: Type.Optional(urlSetting('meeting provider, ends before /sessions; unset = imports wait for it', 'http|https')),
  REALTIMEKIT_API_TOKEN: secret(Type.String({ default: '', description: 'token of the meeting provider' })),
  TRANSCRIPT_MAX_BYTES: Type.Integer({
    default: 512 * mebibyte,
    minimum: 1,
    maximum: 4_096 * mebibyte,
    description: 'largest transcript artifact that is read, bytes',
  }),
  TRANSCRIPT_DOWNLOAD_TIMEOUT_SECONDS: Type.Integer({
    default: 600,
    minimum: 1,
    maximum: 1_500,
    description: 'time for one download of a transcript artifact',
  }),
  MEDIA_INTERNAL_URL: { ...urlSetting('internal HTTP of the media service', 'http|https'), default: 'http://localhost:8082' },
  LLM_BASE_URL: Type.String({
    default: '',
    pattern: '^($|https?://[^\\s]+$)',
    errorMessage: 'must be empty or a URL that starts with http:// or https://',
    description: 'OpenAI-compatible server, up to before /audio/transcriptions; empty = transcriptions of audio wait',
  }),
  LLM_API_KEY: secret(Type.String({ default: '', description: 'key of that server; empty for one that asks for none' })),
  TRANSCRIPTION_MODEL: Type.String({ default: '', description: 'model that transcribes audio; empty = transcriptions of audio wait' }),
  TRANSCRIPTION_TIMEOUT_MS: Type.Integer({
    default: 300_000,
    minimum: 10,
    maximum: 3_600_000,
    description: 'time for one attempt to transcribe one part of the audio; there are two',
  }),
  TRANSCRIPTION_PART_SECONDS: Type.Integer({
    default: 600,
    minimum: 1,
    maximum: 3_600,
    description: 'longest part of the audio that is transcribed at once; it is cut in silence where there is some',
  }),
  FFMPEG_PATH: Type.String({
    default: 'ffmpeg',
    minLength: 1,
    description: 'ffmpeg, a path or a name on the PATH; ffprobe must be beside it; without it audio is not transcribed',
  }),
  TRANSCRIPTION_SCRATCH_DIR: Type.String({
    default: join(tmpdir(), 'coherence-transcripts'),
    minLength: 1,
    description: 'folder for one audio file and its parts, up to 1 GiB; emptied at start',
  }),
});

export type TranscriptsConfig = ReturnType<typeof loadTranscriptsConfig>;

/** @throws ConfigError with every problem. */
export function loadTranscriptsConfig(env?: Readonly<Record<string, string | undefined>>) {
  return loadConfig(transcriptsSettings, env);
}
