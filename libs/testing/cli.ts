/** The admin CLI for tests: what it prints and how it ends, of commands that share processes, which takes a fifth of a process for each. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';

export interface CliOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliRequest {
  readonly args: readonly string[];
  /** All of the command's environment. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** What its standard input says. */
  readonly input: string;
}

const repoDir = join(import.meta.dirname, '..', '..');
/** Those that wait for a command; they end with this process. */
const idle: ChildProcess[] = [];

/**
 * Runs one command of the admin CLI from the repository's folder.
 * @param variables beside those of this process
 */
export async function runCli(args: readonly string[], variables: Readonly<Record<string, string>> = {}, input = ''): Promise<CliOutcome> {
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
