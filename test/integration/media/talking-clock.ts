/**
 * A video that encodes its time: the brightness of the left half is the second, the brightness of the right half the
 * frame within the second, and the tone rises each second. A decoded frame thus shows its position in the original
 * video.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const framesPerSecond = 10;
/** `base` is the brightness of zero; the steps are added per second and per frame. */
const base = 16;
const secondStep = 8;
const frameStep = 20;

export interface Programs {
  readonly ffmpeg: string;
  readonly ffprobe: string;
}

/** Creates a clock video with keyframes only at multiples of `keyframeSeconds`. */
export async function makeClock({ ffmpeg }: Programs, seconds: number, keyframeSeconds: number): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'clock-'));
  const file = join(folder, 'clock.mp4');
  try {
    await run(ffmpeg, [
      '-loglevel',
      'error',
      '-y',
      '-f',
      'lavfi',
      '-i',
      `color=c=black:s=160x120:r=${framesPerSecond}:d=${seconds}`,
      '-f',
      'lavfi',
      '-i',
      `aevalsrc=0.3*sin(2*PI*(200+100*floor(t))*t):d=${seconds}`,
      '-vf',
      `geq=lum='${base}+if(lt(X,W/2),${secondStep}*floor(T),${frameStep}*mod(N,${framesPerSecond}))':cb=128:cr=128`,
      '-c:v',
      'libx264',
      '-preset',
      'ultrafast',
      '-crf',
      '4',
      '-bf',
      '0',
      '-g',
      String(framesPerSecond * keyframeSeconds),
      '-keyint_min',
      String(framesPerSecond * keyframeSeconds),
      '-sc_threshold',
      '0',
      '-pix_fmt',
      'yuv420p',
      '-c:a',
      'aac',
      '-shortest',
      '-f',
      'mp4',
      file,
    ]);
    return await readFile(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export interface ReadClock {
  /** Time in the original of the first displayed frame. */
  readonly firstSeconds: number;
  readonly frames: number;
  readonly durationSeconds: number;
  /** Earliest time of any frame in the file, displayed or hidden by an edit list. */
  readonly earliestSeconds: number;
  readonly hasAudio: boolean;
  /** Whether the index precedes the data, so that playback can start during the download. */
  readonly isFastStart: boolean;
}

/** Decodes every frame of a clock, or one picture. */
export async function readClock({ ffmpeg, ffprobe }: Programs, bytes: Uint8Array): Promise<ReadClock> {
  const folder = await mkdtemp(join(tmpdir(), 'clock-'));
  const file = join(folder, 'read.mp4');
  try {
    await writeFile(file, bytes);
    const decode = async (options: readonly string[]): Promise<number[]> => {
      const args = [
        '-loglevel',
        'error',
        ...options,
        '-i',
        file,
        '-map',
        '0:v:0',
        '-vf',
        'scale=2:1:flags=area,format=gray',
        '-f',
        'rawvideo',
        '-',
      ];
      const { stdout } = await run(ffmpeg, args, { encoding: 'buffer', maxBuffer: 1 << 26 });
      return Array.from({ length: stdout.length / 2 }, (_, frame) =>
        secondsOf(stdout[2 * frame] ?? 0, stdout[2 * frame + 1] ?? 0),
      );
    };
    const shown = await decode([]);
    const isPicture = bytes[0] === 0xff;
    const all = isPicture ? shown : await decode(['-ignore_editlist', '1']);
    const { stdout } = await run(ffprobe, [
      '-v',
      'error',
      '-of',
      'json',
      '-show_entries',
      'format=duration:stream=codec_type',
      file,
    ]);
    const facts = JSON.parse(stdout) as { format: { duration?: string }; streams: { codec_type: string }[] };
    return {
      firstSeconds: shown[0] ?? Number.NaN,
      frames: shown.length,
      durationSeconds: Number(facts.format.duration ?? 0),
      earliestSeconds: Math.min(...all),
      hasAudio: facts.streams.some(({ codec_type: type }) => type === 'audio'),
      isFastStart: Buffer.from(bytes).indexOf('moov') < Buffer.from(bytes).indexOf('mdat'),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the time that the brightness encodes. The decoder maps luma 16 to 235 to grey 0 to 255. */
function secondsOf(left: number, right: number): number {
  const unit = (brightness: number, step: number): number => Math.round((brightness * 219) / 255 / step);
  return unit(left, secondStep) + unit(right, frameStep) / framesPerSecond;
}
