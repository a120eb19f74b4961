/**
 * Runs the admin CLI in a long-running process. Each message is a command with its own variables, standard streams and
 * exit code. Process exit and terminal output are tested with `cli/main.ts`.
 */
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import type { CliOutcome, CliRequest } from './cli.ts';

/** Loaded by path, like services: libraries do not import programs. */
const programFile = join(import.meta.dirname, '..', '..', '..', 'cli', 'run.ts');
const { runCommand } = (await import(pathToFileURL(programFile).href)) as {
  runCommand(args: readonly string[]): Promise<void>;
};

/** Replaces a standard stream of the process. */
function replaceStream(name: 'stdin' | 'stdout' | 'stderr', stream: Readable | Writable): void {
  Object.defineProperty(process, name, { value: stream, configurable: true });
}

function collect(name: 'stdout' | 'stderr'): Buffer[] {
  const chunks: Buffer[] = [];
  const write = (chunk: Buffer, _encoding: unknown, done: () => void): void => {
    chunks.push(chunk);
    done();
  };
  replaceStream(name, new Writable({ write }));
  return chunks;
}

async function answer({ args, variables, input }: CliRequest): Promise<CliOutcome> {
  for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name];
  Object.assign(process.env, variables);
  replaceStream('stdin', Readable.from([Buffer.from(input)]));
  const [stdout, stderr] = [collect('stdout'), collect('stderr')];
  process.exitCode = 0;
  await runCommand(args);
  return { code: process.exitCode, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() };
}

process.on('message', (request: CliRequest) => void answer(request).then((outcome) => process.send?.(outcome)));
process.once('disconnect', () => process.exit());
