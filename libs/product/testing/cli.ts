/**
 * Runs the admin CLI for tests and returns its output and exit code. Commands share processes, which takes a fifth of
 * the time of a process for each.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';

export interface CliOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliRequest {
  readonly args: readonly string[];
  /** The complete environment of the command. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Content of standard input. */
  readonly input: string;
}

const repoDir = join(import.meta.dirname, '..', '..', '..');
/** Processes that wait for a command. They end with the test process. */
const idle: ChildProcess[] = [];

/**
 * Runs one command of the admin CLI in the repository's folder.
 * @param variables in addition to those of this process
 */
export async function runCli(
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  input = '',
): Promise<CliOutcome> {
  const waiting = idle.pop();
  const child = waiting?.connected === true ? waiting : start();
  child.ref();
  child.channel?.ref();
  const request: CliRequest = { args, variables: { ...process.env, NODE_OPTIONS: '', ...variables }, input };
  try {
    return await prompt(child, request);
  } finally {
    child.unref();
    child.channel?.unref();
  }
}

function start(): ChildProcess {
  const env = { ...process.env, NODE_OPTIONS: '' };
  return fork(join(import.meta.dirname, 'cli-process.ts'), [], { cwd: repoDir, env, execArgv: [], stdio: 'inherit' });
}

function prompt(child: ChildProcess, request: CliRequest): Promise<CliOutcome> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null, signal: NodeJS.Signals | null): void => {
      reject(new Error(`The process of the admin CLI ended (${signal ?? code}) with: ${request.args.join(' ')}`));
    };
    child.once('exit', onExit);
    child.once('message', (outcome: CliOutcome) => {
      child.off('exit', onExit);
      idle.push(child);
      resolve(outcome);
    });
    child.send(request);
  });
}
