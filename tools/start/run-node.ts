import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { pickBasics } from '../../libs/product/servers/process-environment.ts';
import { openLog } from '../../libs/product/servers/server-process.ts';

/**
 * Runs a program of this repository, and writes its output to a log file. @throws Error with the end of the log on
 * failure
 */
export async function runNode(options: {
  title: string;
  repoDir: string;
  args: readonly string[];
  /** Additional environment variables. */
  env: Readonly<Record<string, string>>;
  logFile: string;
  /** Aborts the program when it fires. */
  signal?: AbortSignal;
}): Promise<void> {
  const log = openLog(options.logFile);
  const child = spawn(process.execPath, options.args, {
    cwd: options.repoDir,
    stdio: ['ignore', log.fd, log.fd],
    env: { ...pickBasics(), ...options.env },
    signal: options.signal,
  });
  closeSync(log.fd);
  const status = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(1));
    child.once('exit', resolve);
  });
  if (status === 0) return;
  throw new Error(`${options.title} failed. The log ${options.logFile} ends with:\n${log.readTail()}`);
}
