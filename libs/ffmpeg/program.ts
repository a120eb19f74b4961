/** ffmpeg and ffprobe as child processes: killed with their job, their output bounded, reading from nothing but what their user names. */
import { spawn, type ChildProcess } from 'node:child_process';
import { basename, dirname, join } from 'node:path';
import { PermanentJobError } from '#libs/jobs';

/** What may be read. Input is bytes of somebody else: playlists that name other files or addresses are neither recordings nor audio. */
export interface InputLimits {
  /** Protocols, comma-separated. */
  readonly protocols: string;
  /** Containers by the names of their demuxers, comma-separated. */
  readonly formats: string;
}

/** Recordings come in two containers, and through the local object port alone. */
export const recordingInput: InputLimits = { protocols: 'http,tcp', formats: 'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm' };
/** What the canonical audio may be, as a file on the disk. */
export const audioInput: InputLimits = { protocols: 'file', formats: 'aac,flac,mov,mp4,m4a,3gp,3g2,mj2,mp3,ogg,wav,matroska,webm' };

const quiet = ['-hide_banner', '-loglevel', 'error'] as const;
const versionTimeoutMs = 10_000;
const maxErrorLength = 2_000;
const maxLineLength = 4_096;

export const ffmpegMissingMessage =
  'ffmpeg is not there: install it (Debian and Ubuntu: apt-get install ffmpeg; Alpine: apk add ffmpeg; macOS: brew install ffmpeg) or set FFMPEG_PATH, then redrive the job';

/** ffmpeg ended with an error; its own words are for the log. */
export class FfmpegError extends Error {
  readonly output: string;
  /** By somebody else, not by its own decision. */
  readonly isKilled: boolean;

  constructor(program: string, end: string, output: string, isKilled: boolean) {
    super(`${program} ${end}`);
    this.name = 'FfmpegFailed';
    this.output = output;
    this.isKilled = isKilled;
  }
}

export interface RunOptions {
  readonly signal: AbortSignal;
  /** Called with seconds of output written so far. */
  readonly onProgress?: (seconds: number) => void;
  /** Called with each line of the standard output, which is then not kept. */
  readonly onLine?: (line: string) => void;
  /** More on the standard output than this is a failure; default 16 MiB. */
  readonly maxOutputBytes?: number;
}

export interface Ffmpeg {
  /** First line of `ffmpeg -version`; undefined when it cannot be run. */
  version(): Promise<string | undefined>;
  /** Arguments that read from an address or a file within the limits, seeking to so many seconds first. */
  input(url: string, seekSeconds?: number): string[];
  /** Runs ffmpeg; resolves with its standard output. @throws FfmpegFailed, PermanentJobError without ffmpeg, the signal's reason */
  run(args: readonly string[], options: RunOptions): Promise<Buffer>;
  /** As `run`, with ffprobe. */
  probe(args: readonly string[], options: RunOptions): Promise<Buffer>;
}

/** @param path FFMPEG_PATH; ffprobe is beside it, or on the PATH when it is a bare name. */
export function createFfmpeg(path: string, { protocols, formats }: InputLimits = recordingInput): Ffmpeg {
  const inputLimits = ['-protocol_whitelist', protocols, '-format_whitelist', formats];
  const probePath = basename(path) === path ? 'ffprobe' : join(dirname(path), 'ffprobe');
  return {
    version: async () => {
      try {
        const output = await runProgram(path, ['-version'], { signal: AbortSignal.timeout(versionTimeoutMs) });
        await runProgram(probePath, ['-version'], { signal: AbortSignal.timeout(versionTimeoutMs) });
        return output.toString('utf8').split('\n', 1)[0];
      } catch {
        return undefined;
      }
    },
    input: (url, seekSeconds) => [...inputLimits, ...(seekSeconds === undefined ? [] : ['-ss', seekSeconds.toFixed(6)]), '-i', url],
    run: (args, options) => {
      const progress = options.onProgress === undefined ? [] : ['-progress', 'pipe:1', '-nostats'];
      return runProgram(path, [...quiet, '-nostdin', '-y', ...progress, ...args], options);
    },
    probe: (args, options) => runProgram(probePath, [...quiet, ...inputLimits, ...args], options),
  };
}

async function runProgram(program: string, args: readonly string[], options: RunOptions): Promise<Buffer> {
  const { signal, onProgress, onLine, maxOutputBytes = 16 * 1_048_576 } = options;
  signal.throwIfAborted();
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  try {
    const [output, errors, end] = await Promise.all([
      onProgress === undefined && onLine === undefined ? collect(child, maxOutputBytes) : followLines(child, { onProgress, onLine }),
      collectTail(child),
      waitForEnd(child),
    ]);
    signal.throwIfAborted();
    if (end !== undefined) throw new FfmpegError(basename(program), end.text, errors, end.isKilled);
    return output;
  } finally {
    signal.removeEventListener('abort', kill);
    kill();
  }
}

/** Undefined after a good end. @throws PermanentJobError when the program is not there */
function waitForEnd(child: ChildProcess): Promise<{ text: string; isKilled: boolean } | undefined> {
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === 'ENOENT' || error.code === 'EACCES';
      reject(isMissing ? new PermanentJobError(ffmpegMissingMessage) : error);
    });
    child.once('close', (code, signal) =>
      resolve(code === 0 ? undefined : { text: `ended with ${signal ?? `status ${code}`}`, isKilled: signal !== null }),
    );
  });
}

async function collect(child: ChildProcess, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new FfmpegError('ffmpeg', `wrote more than ${maxBytes} bytes`, '', false);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function collectTail(child: ChildProcess): Promise<string> {
  let tail = '';
  for await (const chunk of child.stderr as AsyncIterable<Buffer>) tail = (tail + chunk.toString('utf8')).slice(-maxErrorLength);
  return tail;
}

/** Lines as they come; among them `out_time_us=…` of `-progress`. */
async function followLines(
  child: ChildProcess,
  { onProgress, onLine }: { onProgress: RunOptions['onProgress']; onLine: RunOptions['onLine'] },
): Promise<Buffer> {
  let rest = '';
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    const lines = (rest + chunk.toString('utf8')).split('\n');
    rest = (lines.pop() ?? '').slice(-maxLineLength);
    for (const line of lines) {
      onLine?.(line);
      const micros = /^out_time_us=(\d+)$/.exec(line)?.[1];
      if (micros !== undefined) onProgress?.(Number(micros) / 1e6);
    }
  }
  return Buffer.alloc(0);
}
