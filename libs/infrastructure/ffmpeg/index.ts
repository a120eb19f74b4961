/**
 * Runs ffmpeg and ffprobe as child processes with limited input and output, and creates temporary directories for their
 * results. The processes are killed when their job ends.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { PermanentJobError } from '#libs/infrastructure/jobs';
import type { Logger } from '#libs/infrastructure/logger';

/** Allowed input. Files are untrusted: playlists that refer to other files or addresses are rejected. */
interface InputLimits {
  /** Allowed protocols, comma-separated. */
  readonly protocols: string;
  /** Allowed containers by demuxer name, comma-separated. */
  readonly formats: string;
}

/** Recordings are read through the local object port, in these containers only. */
const recordingInput: InputLimits = { protocols: 'http,tcp', formats: 'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm' };
/** Formats of canonical audio, read from disk. */
export const audioInput: InputLimits = {
  protocols: 'file',
  formats: 'aac,flac,mov,mp4,m4a,3gp,3g2,mj2,mp3,ogg,wav,matroska,webm',
};

const quiet = ['-hide_banner', '-loglevel', 'error'] as const;
const versionTimeoutMs = 10_000;
const maxErrorLength = 2_000;
const maxLineLength = 4_096;

export const ffmpegMissingMessage =
  'ffmpeg was not found. Install it (Debian and Ubuntu: apt-get install ffmpeg; Alpine: apk add ffmpeg; macOS: brew install ffmpeg) or set FFMPEG_PATH, then redrive the job.';

/** Error when ffmpeg or ffprobe fails. `output` is the error output, for the log. */
export class FfmpegError extends Error {
  readonly output: string;
  /** True when the program was killed by a signal that this process did not send. */
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
  /** Called with each line of standard output; `run` and `probe` then do not return the output. */
  readonly onLine?: (line: string) => void;
  /** Maximum size of standard output; a larger one is an error. Default: 16 MiB. */
  readonly maxOutputBytes?: number;
}

export interface Ffmpeg {
  /** Returns the first line of `ffmpeg -version`; undefined when ffmpeg or ffprobe cannot run. */
  version(): Promise<string | undefined>;
  /** Returns the arguments that read an address or file within the limits, starting at `seekSeconds`. */
  input(url: string, seekSeconds?: number): string[];
  /**
   * Runs ffmpeg and returns its standard output. @throws FfmpegError; PermanentJobError when ffmpeg is not installed;
   * the signal's reason
   */
  run(args: readonly string[], options: RunOptions): Promise<Buffer>;
  /** Runs ffprobe and returns its standard output. Throws the same errors as `run`. */
  probe(args: readonly string[], options: RunOptions): Promise<Buffer>;
}

/** @param path FFMPEG_PATH; ffprobe must be in the same folder, or on the PATH if `path` is a bare name. */
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
    input: (url, seekSeconds) => [
      ...inputLimits,
      ...(seekSeconds === undefined ? [] : ['-ss', seekSeconds.toFixed(6)]),
      '-i',
      url,
    ],
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
      onProgress === undefined && onLine === undefined
        ? collect(child, maxOutputBytes)
        : followLines(child, { onProgress, onLine }),
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

/**
 * Waits for the end of the process. Returns undefined on success, otherwise a description of the failure. @throws
 * PermanentJobError when the program does not exist
 */
function waitForEnd(child: ChildProcess): Promise<{ text: string; isKilled: boolean } | undefined> {
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === 'ENOENT' || error.code === 'EACCES';
      reject(isMissing ? new PermanentJobError(ffmpegMissingMessage) : error);
    });
    child.once('close', (code, signal) =>
      resolve(
        code === 0 ? undefined : { text: `exited with ${signal ?? `status ${code}`}`, isKilled: signal !== null },
      ),
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
  for await (const chunk of child.stderr as AsyncIterable<Buffer>)
    tail = (tail + chunk.toString('utf8')).slice(-maxErrorLength);
  return tail;
}

/** Calls the callbacks for the lines of standard output, including `out_time_us=…` of `-progress`. */
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

export interface ScratchDirectory {
  /** Removes directories of processes that have ended. */
  sweep(): Promise<void>;
  /** Runs `work` with a new directory and removes it afterwards. */
  run<T>(work: (folder: string) => Promise<T>): Promise<T>;
}

/** @param prefix distinguishes directories of one kind of work from other entries of `dir`. */
export function createScratchDirectory(dir: string, prefix: string, logger: Logger): ScratchDirectory {
  const named = new RegExp(`^${prefix}-(\\d+)-`);
  const running = new Set<string>();
  return {
    sweep: async () => {
      const names = await readdir(dir).catch(() => []);
      for (const name of names) {
        const pid = Number(named.exec(name)?.[1]);
        if (!Number.isSafeInteger(pid) || running.has(name) || (pid !== process.pid && isAlive(pid))) continue;
        await rm(join(dir, name), { recursive: true, force: true });
        logger.info({ folder: name }, 'ffmpeg: removed the directory of an ended process');
      }
    },
    run: async (work) => {
      await mkdir(dir, { recursive: true });
      const folder = await mkdtemp(join(dir, `${prefix}-${process.pid}-`));
      const name = folder.slice(dir.length + 1);
      running.add(name);
      try {
        return await work(folder);
      } finally {
        await rm(folder, { recursive: true, force: true });
        running.delete(name);
      }
    },
  };
}

/**
 * Returns whether a process with this id is running. Callers exclude the id of this process: the first process of every
 * container has the same id, so its directory can be from the previous container.
 */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
