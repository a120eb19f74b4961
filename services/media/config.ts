/** Settings of the media service (architecture#configuration). */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Type } from '#libs/infrastructure/contract';
import {
  actorSettings,
  databaseSettings,
  drainSettings,
  loadConfig,
  logSettings,
  hostSetting,
  telemetrySettings,
  natsSettings,
  replySettings,
  outboundSettings,
  portSetting,
  s3Settings,
  secret,
  urlSetting,
} from '#libs/infrastructure/config';
import { maxRecordingBytes } from './contract.ts';

const gibibyte = 1024 ** 3;

export const mediaSettings = Type.Object({
  ...natsSettings,
  ...replySettings,
  ...actorSettings,
  ...databaseSettings,
  ...s3Settings,
  ...logSettings,
  ...telemetrySettings,
  ...drainSettings,
  ...outboundSettings,
  HOST: hostSetting('the HTTP server for bytes'),
  PORT: portSetting('HTTP server of the files under `/media`, which need no token', 8081),
  INTERNAL_PORT: portSetting(
    'internal HTTP server for bytes, reached by gateway, transcripts and admin CLI alone',
    8082,
  ),
  MEDIA_MAX_UPLOADS: Type.Integer({
    default: 16,
    minimum: 1,
    maximum: 1000,
    description: 'concurrent uploads, 10 MiB of buffers each',
  }),
  MEDIA_REPLACED_GRACE_SECONDS: Type.Integer({
    default: 3600,
    minimum: 0,
    maximum: 604_800,
    description: 'retention of a replaced file for running downloads',
  }),
  MEDIA_UPLOAD_LEASE_SECONDS: Type.Integer({
    default: 120,
    minimum: 1,
    maximum: 86_400,
    description: 'lease of an upload; removed without a renewal',
  }),
  BACKUP_EXPECTED: Type.Boolean({ default: false, description: 'backups are scheduled: report if none has succeeded' }),
  REALTIMEKIT_BASE_URL: Type.Optional(
    urlSetting('meeting provider, ends before /sessions; unset = imports wait for it', 'http|https'),
  ),
  REALTIMEKIT_API_TOKEN: secret(Type.String({ default: '', description: 'token of the meeting provider' })),
  MEDIA_RECORDING_MAX_BYTES: Type.Integer({
    default: 20 * gibibyte,
    minimum: 1,
    maximum: maxRecordingBytes,
    description: 'maximum bytes of a recording',
  }),
  MEDIA_RECORDING_DOWNLOAD_TIMEOUT_SECONDS: Type.Integer({
    default: 7_200,
    minimum: 1,
    maximum: 20_000,
    description: 'timeout of one download of a recording; the next attempt continues',
  }),
  FFMPEG_PATH: Type.String({
    default: 'ffmpeg',
    minLength: 1,
    description: 'path of ffmpeg, with ffprobe beside it; required for trimming',
  }),
  MEDIA_SCRATCH_DIR: Type.String({
    default: join(tmpdir(), 'coherence-media'),
    minLength: 1,
    description: 'folder for one trimmed recording; emptied at start',
  }),
  YOUTUBE_CLIENT_ID: Type.String({ default: '', description: 'OAuth client of the video host; empty = videos wait' }),
  YOUTUBE_CLIENT_SECRET: secret(Type.String({ default: '', description: 'secret of that client' })),
  YOUTUBE_API_URL: {
    ...urlSetting('API of the video host, up to before /upload', 'http|https'),
    default: 'https://www.googleapis.com',
  },
  YOUTUBE_TOKEN_URL: {
    ...urlSetting('where the video host gives access tokens', 'http|https'),
    default: 'https://oauth2.googleapis.com/token',
  },
  VIDEOHOST_CHUNK_BYTES: Type.Integer({
    default: 8_388_608,
    minimum: 262_144,
    maximum: 268_435_456,
    multipleOf: 262_144,
    description: 'bytes per chunk of a video, in memory; a multiple of 262 144',
  }),
  MEDIA_SCRATCH_MAX_BYTES: Type.Integer({
    default: 20 * gibibyte,
    minimum: 1,
    maximum: maxRecordingBytes,
    description: 'maximum bytes of a trimmed recording in MEDIA_SCRATCH_DIR',
  }),
});

export type MediaConfig = ReturnType<typeof loadMediaConfig>;

/** @throws ConfigError with every problem. */
export function loadMediaConfig(env?: Readonly<Record<string, string | undefined>>) {
  return loadConfig(mediaSettings, env);
}
