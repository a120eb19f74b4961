/**
 * The front trim: the file begins with the frame at the cut, and nothing from before it is left inside. On a keyframe the streams are copied;
 * anywhere else everything is encoded anew (docs/adr/media-files.md).
 */
import { stat } from 'node:fs/promises';
import { unavailable } from '#libs/errors';
import { PermanentJobError } from '#libs/jobs';
import type { Ffmpeg } from '#libs/ffmpeg';
import { findKeyframe, type Probed, probeRecording } from './probe.ts';

/** Codecs that every browser plays from an MP4. */
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
/** A result that is shorter than it must be by more than this was broken off. */
const toleratedSeconds = 2;
const watchMs = 1_000;

export type TrimMethod = 'copied' | 'encoded';

export interface TrimOptions {
  readonly ffmpeg: Ffmpeg;
  /** Address of the recording. */
  readonly url: string;
  readonly probed: Probed;
  /** Seconds from the recording's beginning. */
  readonly cutSeconds: number;
  /** Where the result is written. */
  readonly file: string;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly onProgress: (fraction: number) => void;
}

/** @throws FfmpegFailed, PermanentJobError (no ffmpeg, too large), AppError unavailable when the result is too short */
export async function trimFront(options: TrimOptions): Promise<TrimMethod> {
  const { ffmpeg, url, probed, cutSeconds, signal } = options;
  const keyframe = await findCopyStart(options);
  const leftSeconds = probed.durationSeconds - cutSeconds;
  const args =
    keyframe === undefined
      ? [...ffmpeg.input(url, cutSeconds), ...streams(probed), ...encodedVideo, ...encodedAudio]
      : // A millisecond behind the keyframe, so that rounding never seeks to the one before it.
        [...ffmpeg.input(url, keyframe - probed.startSeconds + 0.001), ...streams(probed), '-c', 'copy', '-avoid_negative_ts', 'make_zero'];
  const watched = watchSize(options);
  try {
    await ffmpeg.run([...args, ...outputOptions, options.file], {
      signal: AbortSignal.any([signal, watched.signal]),
      onProgress: (seconds) => options.onProgress(Math.min(1, seconds / leftSeconds)),
    });
  } finally {
    watched.stop();
  }
  const result = await probeFile(options);
  if (result.durationSeconds < leftSeconds - Math.max(toleratedSeconds, leftSeconds / 100)) {
    throw unavailable('the trimmed recording is shorter than it must be');
  }
  return keyframe === undefined ? 'encoded' : 'copied';
}

/** Where a copy may begin; undefined when the streams have to be encoded. */
async function findCopyStart({ ffmpeg, url, probed, cutSeconds, signal }: TrimOptions): Promise<number | undefined> {
  const { video, audio, startSeconds, frameSeconds } = probed;
  if (audio !== undefined && !copiedAudio.has(audio)) return undefined;
  const atSeconds = startSeconds + cutSeconds;
  if (video === undefined) return atSeconds; // sound can be cut anywhere
  return copiedVideo.has(video) ? findKeyframe(ffmpeg, url, { atSeconds, frameSeconds }, signal) : undefined;
}

function streams({ video, audio }: Probed): string[] {
  return [...(video === undefined ? [] : ['-map', '0:v:0']), ...(audio === undefined ? [] : ['-map', '0:a:0'])];
}

async function probeFile({ ffmpeg, file, signal }: TrimOptions): Promise<Probed> {
  // Our own file: the limit on protocols is for what others made.
  return probeRecording({ ...ffmpeg, probe: (args, run) => ffmpeg.probe(['-protocol_whitelist', 'file', ...args], run) }, file, signal);
}

/** Ends the run when the result takes more room than it may. */
function watchSize({ file, maxBytes }: TrimOptions): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController();
  const timer = setInterval(() => {
    void stat(file).then(
      ({ size }) => {
        if (size > maxBytes)
          controller.abort(new PermanentJobError(`the trimmed recording is larger than MEDIA_SCRATCH_MAX_BYTES (${maxBytes})`));
      },
      () => undefined,
    );
  }, watchMs);
  return { signal: controller.signal, stop: () => clearInterval(timer) };
}
