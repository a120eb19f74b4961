/**
 * Reads and trims recordings with ffmpeg, and extracts pictures. A trimmed file starts with the frame at the cut and
 * contains no earlier content. For a cut at a keyframe the streams are copied, otherwise the file is encoded again
 * (docs/adr/media-files.md).
 */
import { stat } from 'node:fs/promises';
import { PermanentJobError } from '#libs/infrastructure/jobs';
import { isJsonObject } from '#libs/infrastructure/json';
import { type Ffmpeg, FfmpegError } from '#libs/infrastructure/ffmpeg';
import { unavailable } from '#libs/infrastructure/errors';

export interface ProbeResult {
  readonly durationSeconds: number;
  /** First timestamp of the file. Cuts are relative to this timestamp. */
  readonly startSeconds: number;
  /** Codec name; undefined when the file has no such stream. */
  readonly video: string | undefined;
  readonly audio: string | undefined;
  readonly frameSeconds: number;
}

const defaultFrameSeconds = 1 / 30;
/** Seconds after the cut in which keyframes are searched. */
const lookAheadSeconds = 0.5;
const entries =
  'format=duration,start_time:stream=codec_type,codec_name,avg_frame_rate:stream_disposition=attached_pic';

/**
 * Returns duration, start and codecs of a recording. @throws PermanentJobError when ffmpeg cannot read the recording
 */
export async function probeRecording(ffmpeg: Ffmpeg, url: string, signal: AbortSignal): Promise<ProbeResult> {
  let text: string;
  try {
    text = (await ffmpeg.probe(['-of', 'json', '-show_entries', entries, '-i', url], { signal })).toString('utf8');
  } catch (error) {
    if (error instanceof FfmpegError) throw new PermanentJobError('ffmpeg cannot read the recording', { cause: error });
    throw error;
  }
  const parsed: unknown = JSON.parse(text);
  const format = isJsonObject(parsed) && isJsonObject(parsed['format']) ? parsed['format'] : {};
  const streams =
    isJsonObject(parsed) && Array.isArray(parsed['streams']) ? parsed['streams'].filter(isJsonObject) : [];
  const video = streams.find((stream) => stream['codec_type'] === 'video' && !isCoverPicture(stream));
  const audio = streams.find((stream) => stream['codec_type'] === 'audio');
  const durationSeconds = Number(format['duration']);
  if (!Number.isFinite(durationSeconds) || durationSeconds <= 0 || (video ?? audio) === undefined) {
    throw new PermanentJobError('the recording has no video, no audio or no duration');
  }
  return {
    durationSeconds,
    startSeconds: Number.isFinite(Number(format['start_time'])) ? Number(format['start_time']) : 0,
    video: nameOf(video),
    audio: nameOf(audio),
    frameSeconds: readFrameSeconds(video?.['avg_frame_rate']),
  };
}

/**
 * Returns the time of the keyframe within half a frame of the cut, in seconds of the file's clock; returns undefined
 * when there is no such keyframe.
 */
export async function findKeyframe(
  ffmpeg: Ffmpeg,
  url: string,
  cut: { atSeconds: number; frameSeconds: number },
  signal: AbortSignal,
): Promise<number | undefined> {
  const interval = `${cut.atSeconds.toFixed(6)}%${(cut.atSeconds + lookAheadSeconds).toFixed(6)}`;
  const args = [
    '-select_streams',
    'v:0',
    '-show_entries',
    'packet=pts_time,flags',
    '-of',
    'csv=p=0',
    '-read_intervals',
    interval,
    '-i',
    url,
  ];
  const lines = (await ffmpeg.probe(args, { signal })).toString('utf8').split('\n');
  for (const line of lines) {
    const [time = '', flags = ''] = line.split(',');
    const seconds = Number(time);
    if (time === '' || !flags.startsWith('K') || !Number.isFinite(seconds)) continue;
    if (Math.abs(seconds - cut.atSeconds) <= cut.frameSeconds / 2) return seconds;
  }
  return undefined;
}

function nameOf(stream: Record<string, unknown> | undefined): string | undefined {
  const name = stream?.['codec_name'];
  return stream === undefined ? undefined : typeof name === 'string' ? name : 'unknown';
}

function isCoverPicture(stream: Record<string, unknown>): boolean {
  const disposition = stream['disposition'];
  return isJsonObject(disposition) && disposition['attached_pic'] === 1;
}

/** Returns the duration of a frame for a rate such as `30000/1001`. */
function readFrameSeconds(rate: unknown): number {
  const [, frames, seconds] = /^(\d+)\/(\d+)$/.exec(typeof rate === 'string' ? rate : '') ?? [];
  const value = Number(seconds) / Number(frames);
  return Number.isFinite(value) && value > 0 && value <= 1 ? value : defaultFrameSeconds;
}

/** Codecs that every browser can play in an MP4 file. */
const copiedVideo = new Set(['h264', 'av1', 'vp9', 'hevc']);
const copiedAudio = new Set(['aac', 'mp3', 'opus']);
const outputOptions = ['-map_metadata', '-1', '-movflags', '+faststart', '-f', 'mp4'] as const;
const encodedVideo = [
  '-c:v',
  'libx264',
  '-preset',
  'veryfast',
  '-crf',
  '21',
  '-pix_fmt',
  'yuv420p',
  '-vf',
  'scale=trunc(iw/2)*2:trunc(ih/2)*2',
] as const;
const encodedAudio = ['-c:a', 'aac', '-b:a', '128k'] as const;
/** Tolerance of the duration in seconds. A shorter result means that trimming was interrupted. */
const toleranceSeconds = 2;
const sizeCheckIntervalMs = 1_000;

export type TrimMethod = 'copied' | 'encoded';

export interface TrimOptions {
  readonly ffmpeg: Ffmpeg;
  /** URL of the recording. */
  readonly url: string;
  readonly probed: ProbeResult;
  /** Seconds from the start of the recording. */
  readonly cutSeconds: number;
  /** Path of the trimmed file. */
  readonly file: string;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly onProgress: (fraction: number) => void;
}

/**
 * Trims the start of a recording. @throws FfmpegError, PermanentJobError (no ffmpeg, too large), AppError unavailable
 * when the result is too short
 */
export async function trimFront(options: TrimOptions): Promise<TrimMethod> {
  const { ffmpeg, url, probed, cutSeconds, signal } = options;
  const keyframe = await findStreamCopyStart(options);
  const remainingSeconds = probed.durationSeconds - cutSeconds;
  const args =
    keyframe === undefined
      ? [...ffmpeg.input(url, cutSeconds), ...streams(probed), ...encodedVideo, ...encodedAudio]
      : // The copy starts one millisecond after the keyframe, so that rounding never seeks to the previous keyframe.
        [
          ...ffmpeg.input(url, keyframe - probed.startSeconds + 0.001),
          ...streams(probed),
          '-c',
          'copy',
          '-avoid_negative_ts',
          'make_zero',
        ];
  const sizeLimit = limitFileSize(options);
  try {
    await ffmpeg.run([...args, ...outputOptions, options.file], {
      signal: AbortSignal.any([signal, sizeLimit.signal]),
      onProgress: (seconds) => options.onProgress(Math.min(1, seconds / remainingSeconds)),
    });
  } finally {
    sizeLimit.stop();
  }
  const result = await probeFile(options);
  if (result.durationSeconds < remainingSeconds - Math.max(toleranceSeconds, remainingSeconds / 100)) {
    throw unavailable('the trimmed recording is too short');
  }
  return keyframe === undefined ? 'encoded' : 'copied';
}

/** Returns the start of a stream copy; returns undefined when the streams must be encoded. */
async function findStreamCopyStart({
  ffmpeg,
  url,
  probed,
  cutSeconds,
  signal,
}: TrimOptions): Promise<number | undefined> {
  const { video, audio, startSeconds, frameSeconds } = probed;
  if (audio !== undefined && !copiedAudio.has(audio)) return undefined;
  const atSeconds = startSeconds + cutSeconds;
  if (video === undefined) return atSeconds; // audio can be cut at any time
  return copiedVideo.has(video) ? findKeyframe(ffmpeg, url, { atSeconds, frameSeconds }, signal) : undefined;
}

function streams({ video, audio }: ProbeResult): string[] {
  return [...(video === undefined ? [] : ['-map', '0:v:0']), ...(audio === undefined ? [] : ['-map', '0:a:0'])];
}

async function probeFile({ ffmpeg, file, signal }: TrimOptions): Promise<ProbeResult> {
  // The result is a local file. The usual protocol restriction applies only to untrusted input.
  return probeRecording(
    { ...ffmpeg, probe: (args, run) => ffmpeg.probe(['-protocol_whitelist', 'file', ...args], run) },
    file,
    signal,
  );
}

/** Returns a signal that aborts when the trimmed file exceeds `maxBytes`. */
function limitFileSize({ file, maxBytes }: TrimOptions): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController();
  const timer = setInterval(() => {
    void stat(file).then(
      ({ size }) => {
        if (size > maxBytes)
          controller.abort(
            new PermanentJobError(`the trimmed recording is larger than MEDIA_SCRATCH_MAX_BYTES (${maxBytes})`),
          );
      },
      () => undefined,
    );
  }, sizeCheckIntervalMs);
  return { signal: controller.signal, stop: () => clearInterval(timer) };
}

const maxPictureBytes = 4 * 1_048_576;

/** Returns the picture at a time of the recording, as JPEG. @throws FfmpegError */
export async function extractPicture(
  ffmpeg: Ffmpeg,
  url: string,
  seconds: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const filter = "scale='min(1280,iw)':-2";
  const output = [
    '-map',
    '0:v:0',
    '-frames:v',
    '1',
    '-vf',
    filter,
    '-q:v',
    '3',
    '-c:v',
    'mjpeg',
    '-f',
    'image2pipe',
    'pipe:1',
  ];
  const bytes = await ffmpeg.run([...ffmpeg.input(url, seconds), ...output], {
    signal,
    maxOutputBytes: maxPictureBytes,
  });
  if (bytes.byteLength === 0) throw new FfmpegError('ffmpeg', 'returned no picture', '', false);
  return bytes;
}
