/** Runs the steps of `npm run check` and `npm run fix`. */
import { spawn, type StdioOptions } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

export const repoDir = join(import.meta.dirname, '..', '..');

export interface Step {
  title: string;
  /** A program of node_modules/.bin, or `node`, with its arguments. */
  command: readonly [string, ...string[]];
}

/**
 * V8 flags for Jest workers. A worker retains the modules of all its test files, and marking them during garbage
 * collection takes half a second. These flags delay marking until much garbage exists, and prevent marking while tests
 * wait and after every 64 MB of memory outside the heap.
 */
const heapOptions = [
  '--initial-old-space-size=512',
  '--heap-growing-percent=100',
  '--external-memory-accounted-in-global-limit',
  '--no-memory-reducer',
];

export const jestCommand: readonly [string, ...string[]] = [
  'node',
  ...heapOptions,
  join('node_modules', 'jest', 'bin', 'jest.js'),
];

/** Runs all steps one after the other. @returns the titles of the failed steps */
export async function runSteps(steps: readonly Step[]): Promise<string[]> {
  const failed: string[] = [];
  for (const step of steps) {
    console.log(`\n── ${step.title}`);
    if (!(await runStep(step, 'inherit'))) failed.push(step.title);
  }
  return failed;
}

/**
 * Runs the steps in parallel, one per processor, and prints the output of each when it ends.
 * @returns the titles of the failed steps
 */
export async function runStepsTogether(steps: readonly Step[]): Promise<string[]> {
  const waiting = [...steps];
  const failed = new Set<string>();
  const work = async (): Promise<void> => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      let output = `\n── ${step.title}\n`;
      const isDone = await runStep(step, (text) => (output += text));
      process.stdout.write(output);
      if (!isDone) failed.add(step.title);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return steps.map(({ title }) => title).filter((title) => failed.has(title));
}

/** Runs one step. Returns true if it succeeded. @param output receives the output and the result */
async function runStep(step: Step, output: 'inherit' | ((text: string) => void)): Promise<boolean> {
  const startedAt = performance.now();
  const status = await runCommand(step.command, {}, output);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const end = status === 0 ? `   ok, ${seconds} s` : `   FAILED (status ${status}), ${seconds} s`;
  if (output === 'inherit') console.log(end);
  else output(`${end}\n`);
  return status === 0;
}

/**
 * @param output receives both streams; inherited by default
 * @returns the exit status; 1 when the process was ended by a signal
 */
export function runCommand(
  [program, ...args]: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv = {},
  output: 'inherit' | ((text: string) => void) = 'inherit',
): Promise<number> {
  const command = program === 'node' ? process.execPath : join(repoDir, 'node_modules', '.bin', program);
  const stdio: StdioOptions = output === 'inherit' ? 'inherit' : ['ignore', 'pipe', 'pipe'];
  const child = spawn(command, args, { cwd: repoDir, stdio, env: { ...process.env, ...env } });
  if (output !== 'inherit')
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', output);
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.on('SIGINT', forward).on('SIGTERM', forward);
  return new Promise((resolve) => {
    const finish = (status: number): void => {
      process.off('SIGINT', forward).off('SIGTERM', forward);
      resolve(status);
    };
    child.once('error', (error) => {
      console.error(error.message);
      finish(1);
    });
    child.once('close', (code) => finish(code ?? 1));
  });
}
