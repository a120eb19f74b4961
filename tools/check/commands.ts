/** Runs the programs of `npm run check` and `npm run fix`, one after the other, and says how each went. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

export const repoDir = join(import.meta.dirname, '..', '..');

export interface Step {
  title: string;
  /** Program of node_modules/.bin, or `node`, and its arguments. */
  command: readonly [string, ...string[]];
}

export const jestCommand: readonly [string, ...string[]] = [
  'node',
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  join('node_modules', 'jest', 'bin', 'jest.js'),
];

/** @returns the titles of the steps that failed; the others run all the same. */
export async function runSteps(steps: readonly Step[]): Promise<string[]> {
  const failed: string[] = [];
  for (const step of steps) {
    console.log(`\n── ${step.title}`);
    const startedAt = performance.now();
    const status = await runCommand(step.command);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    console.log(status === 0 ? `   ok, ${seconds} s` : `   FAILED (status ${status}), ${seconds} s`);
    if (status !== 0) failed.push(step.title);
  }
  return failed;
}

/** @returns the exit status; 1 when a signal ended it. */
export function runCommand([program, ...args]: readonly [string, ...string[]], env: NodeJS.ProcessEnv = {}): Promise<number> {
  const command = program === 'node' ? process.execPath : join(repoDir, 'node_modules', '.bin', program);
  const child = spawn(command, args, { cwd: repoDir, stdio: 'inherit', env: { ...process.env, ...env } });
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
    child.once('exit', (code) => finish(code ?? 1));
  });
}
