/**
 * Runs one server (PostgreSQL, NATS, the object store) as a child process. The process has its own session, so that
 * only the launcher receives Ctrl-C, writes its output to a file, and ends when the launcher ends for any reason.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pickBasics } from './process-environment.ts';
import { identifyProcess, type ProcessIdentity } from '#libs/infrastructure/process-identity';

export interface ServerCommand {
  /** Name in messages, e.g. `PostgreSQL`. */
  name: string;
  command: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Program and arguments prepended to the command, e.g. to change the user. */
  prefix?: readonly string[];
  logFile: string;
  stopSignal: NodeJS.Signals;
  /** Called every 25 ms until it returns true; `pid` is the server's. */
  isReady: (pid: number) => boolean | Promise<boolean>;
  readyTimeoutMs?: number;
}

export interface ServerProcess {
  readonly name: string;
  readonly identity: ProcessIdentity;
  readonly stopSignal: NodeJS.Signals;
  /** Resolves with a description when the process ends. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

const maxLogBytes = 10 * 1024 * 1024;
const stopTimeoutMs = 15_000;

/**
 * Whether `setpriv` (util-linux) can make the kernel signal a child when its parent ends. Without it, the next start
 * ends the remaining server.
 */
const canFollowParent =
  process.platform === 'linux' && spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true']).status === 0;

/**
 * Starts the server and waits until it is ready.
 * @throws Error with the last lines of the log when the server ends or is not ready in time
 */
export async function startServerProcess(options: ServerCommand): Promise<ServerProcess> {
  const log = openLog(options.logFile);
  const follow = canFollowParent ? ['setpriv', '--pdeathsig', options.stopSignal.replace('SIG', ''), '--'] : [];
  const [program = options.command, ...args] = [...(options.prefix ?? []), ...follow, options.command, ...options.args];
  const child = spawn(program, args, {
    stdio: ['ignore', log.fd, log.fd],
    detached: true,
    env: { ...pickBasics(), ...options.env },
  });
  closeSync(log.fd);
  const ended = describeEnd(child);
  let end: string | undefined;
  void ended.then((text) => (end = text));
  const stop = (): Promise<void> => stopChild(child, ended, options.stopSignal);

  const deadline = Date.now() + (options.readyTimeoutMs ?? 60_000);
  while (end === undefined && !(await options.isReady(child.pid ?? 0))) {
    if (Date.now() > deadline) {
      await stop();
      end = `was not ready within ${(options.readyTimeoutMs ?? 60_000) / 1000} s`;
    }
    await sleep(25);
  }
  const identity = child.pid === undefined ? undefined : identifyProcess(child.pid);
  if (end !== undefined || identity === undefined) {
    throw new Error(`${options.name} ${end ?? 'ended'}. Its log ${options.logFile} ends with:\n${log.readTail()}`);
  }
  return { name: options.name, identity, stopSignal: options.stopSignal, ended, stop };
}

const maxLines = 15;
const maxBytes = 16 * 1024;

/** A log file to which output is appended. */
export interface Log {
  readonly file: string;
  readonly fd: number;
  /** Returns the last lines that were written since the log was opened, indented. */
  readTail(): string;
  /** Returns the rest of the last line with this prefix; searches only the end of the file. */
  findLast(beginning: string): string | undefined;
}

/** Opens a log for appending; a log larger than 10 MiB is renamed to `<file>.1`. */
export function openLog(file: string): Log {
  mkdirSync(dirname(file), { recursive: true });
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > maxLogBytes) renameSync(file, `${file}.1`);
  const start = size > maxLogBytes ? 0 : size;
  return {
    file,
    fd: openSync(file, 'a'),
    readTail: () => {
      const lines = readLastLines(file, start).slice(-maxLines);
      return lines.length === 0 ? '    (nothing)' : lines.map((line) => `    ${line}`).join('\n');
    },
    findLast: (beginning) =>
      readLastLines(file, start)
        .findLast((line) => line.startsWith(beginning))
        ?.slice(beginning.length),
  };
}

function readLastLines(file: string, start: number): string[] {
  const fd = openSync(file, 'r');
  try {
    const end = fstatSync(fd).size;
    const from = Math.max(start, end - maxBytes);
    const bytes = Buffer.alloc(Math.max(0, end - from));
    const text = bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, from)).trimEnd();
    return text === '' ? [] : text.split('\n');
  } finally {
    closeSync(fd);
  }
}

/** Resolves when the process has ended, with a description. Includes the reason if `findReason` returns one. */
export function describeEnd(
  child: ChildProcess,
  findReason: () => string | undefined = () => undefined,
): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`could not be started (${error.message})`));
    child.once('exit', (code, signal) => {
      if (signal !== null) return resolve(`was ended by ${signal}`);
      const reason = code === 0 ? undefined : findReason();
      resolve(`ended with status ${code}${reason === undefined ? '' : ` (${reason})`}`);
    });
  });
}

async function stopChild(child: ChildProcess, ended: Promise<string>, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
  await ended;
  clearTimeout(timer);
}
