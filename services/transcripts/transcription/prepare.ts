/**
 * Prepares audio for the model server: cuts out the window, converts it to compressed mono, and splits it at silences
 * into parts of limited size. Files are on disk; memory does not depend on the length of the audio.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Ffmpeg, FfmpegError } from '#libs/infrastructure/ffmpeg';

/** A part of the prepared audio. Times are seconds from the start of the prepared audio. */
export interface AudioPart {
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

/** A range of the audio file in seconds. */
export interface AudioRange {
  readonly start: number;
  readonly end: number;
}

export interface PrepareOptions {
  readonly folder: string;
  readonly range: AudioRange;
  readonly limits: SplitLimits;
  readonly signal: AbortSignal;
  /** Called with the number of seconds prepared so far. */
  readonly onProgress: (seconds: number) => void;
}

/** Silence is quieter than -35 dB for at least half a second. Speech over a phone line is louder. */
const silence = 'silencedetect=noise=-35dB:d=0.5';
const sampleRate = 16_000;
/** The encoder adds padding at the ends. A remainder of at most this length does not become a part. */
const encoderPaddingSeconds = 0.1;
/** Encodes speech in Opus: ten minutes are 1.8 MB, far below the servers' limit of 25 MB. */
const encoder = ['-ac', '1', '-c:a', 'libopus', '-b:a', '24k', '-application', 'voip', '-f', 'ogg'] as const;

/**
 * Prepares the audio and returns its parts. Returns an empty list when the file has no audio in the range. @throws
 * FfmpegError, PermanentJobError without ffmpeg, the signal's reason
 */
export async function prepareAudio(ffmpeg: Ffmpeg, file: string, options: PrepareOptions): Promise<AudioPart[]> {
  const { folder, range, signal } = options;
  if (range.end <= range.start) return [];
  const whole = join(folder, 'window.ogg');
  let writtenSeconds = 0;
  const plan = new SplitPlan(options.limits);
  let silentSince: number | undefined;
  // The filter fills gaps in the timestamps of the file, so that later audio has the correct position.
  const filters = [
    `aresample=${sampleRate}:async=1:first_pts=0`,
    `atrim=start=${range.start.toFixed(6)}:end=${range.end.toFixed(6)}`,
    'asetpts=PTS-STARTPTS',
    silence,
    'ametadata=mode=print:direct=1:file=-',
  ];
  const output = ['-map', '0:a:0', '-vn', '-af', filters.join(','), ...encoder, whole];
  const running = ffmpeg.run([...ffmpeg.input(file), ...output], {
    signal,
    onProgress: (seconds) => {
      writtenSeconds = seconds;
      options.onProgress(seconds);
    },
    onLine: (line) => {
      const [, edge, seconds] = /^lavfi\.silence_(start|end)=(-?[\d.]+)$/.exec(line) ?? [];
      if (edge === 'start') silentSince = Math.max(0, Number(seconds));
      else if (edge === 'end' && silentSince !== undefined) plan.silence(silentSince, Number(seconds));
    },
  });
  await running.catch((error: unknown) => {
    // Newer releases of ffmpeg fail when the output is empty, which is not an error here.
    if (!(error instanceof FfmpegError && error.output.includes('received no packets'))) throw error;
  });
  // ffprobe fails for a file without packets, so an empty file is not passed to it.
  if (writtenSeconds === 0) return [];
  // The duration is limited to the range: padding that the encoder adds at the end is not speech of the window.
  const duration = Math.min(await readDuration(ffmpeg, whole, signal), range.end - range.start);
  const cuts = plan.finish(duration - encoderPaddingSeconds);
  if (cuts.length === 0) return [{ file: whole, start: 0, end: duration }];
  return (await split(ffmpeg, whole, cuts, options)).map((part) => ({ ...part, end: Math.min(part.end, duration) }));
}

async function readDuration(ffmpeg: Ffmpeg, file: string, signal: AbortSignal): Promise<number> {
  const output = await ffmpeg.probe(
    ['-show_entries', 'format=duration', '-of', 'csv=p=0', ...ffmpeg.input(file).slice(-2)],
    { signal },
  );
  const duration = Number(output.toString('utf8').trim());
  if (!(duration > 0)) throw new FfmpegError('ffprobe', 'returned no duration', '', false);
  return duration;
}

async function split(
  ffmpeg: Ffmpeg,
  file: string,
  cuts: readonly number[],
  { folder, signal }: PrepareOptions,
): Promise<AudioPart[]> {
  const list = join(folder, 'parts.csv');
  const times = cuts.map((cut) => cut.toFixed(6)).join(',');
  const segments = ['-f', 'segment', '-segment_format', 'ogg', '-segment_times', times, '-reset_timestamps', '1'];
  const output = [
    '-c',
    'copy',
    ...segments,
    '-segment_list',
    list,
    '-segment_list_type',
    'csv',
    join(folder, 'part-%05d.ogg'),
  ];
  await ffmpeg.run([...ffmpeg.input(file), ...output], { signal });
  return (await readFile(list, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => {
      const [name = '', start, end] = line.split(',');
      const part = { file: join(folder, name), start: Number(start), end: Number(end) };
      if (!(part.end >= part.start)) throw new FfmpegError('ffmpeg', 'returned no times of the parts', '', false);
      return part;
    });
}

/**
 * Decides where to cut long audio: at silences, as late as the maximum length allows. It processes silences as they are
 * found and stores only the cuts and the latest candidate.
 */

export interface SplitLimits {
  /** Maximum length of a part in seconds. */
  readonly maxSeconds: number;
  /** Minimum length of a part in seconds. Earlier silences are ignored. */
  readonly minSeconds: number;
}

/** Collects cuts from silences in ascending order. */
export class SplitPlan {
  readonly #limits: SplitLimits;
  readonly #cuts: number[] = [];
  /** Middle of the latest silence at which the current part may end. */
  #candidate: number | undefined;

  constructor(limits: SplitLimits) {
    this.#limits = limits;
  }

  /** Adds the next silence, in seconds from the start of the audio. */
  silence(start: number, end: number): void {
    const middle = (start + end) / 2;
    this.#cutUntil(middle);
    if (middle - this.#begin >= this.#limits.minSeconds) this.#candidate = middle;
  }

  /** Returns all cuts in ascending order. Each part between them is at most `maxSeconds` long. */
  finish(durationSeconds: number): number[] {
    this.#cutUntil(durationSeconds);
    return [...this.#cuts];
  }

  get #begin(): number {
    return this.#cuts.at(-1) ?? 0;
  }

  /** Adds cuts until the part that ends at `seconds` is short enough. */
  #cutUntil(seconds: number): void {
    while (seconds - this.#begin > this.#limits.maxSeconds) {
      this.#cuts.push(this.#candidate ?? this.#begin + this.#limits.maxSeconds);
      this.#candidate = undefined;
    }
  }
}
