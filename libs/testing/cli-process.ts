/**
 * The admin CLI in a process that stays: each message is a command, with variables, standard streams and an exit code of its own. How a
 * program ends, and what a terminal sees of it, are for `cli/main.ts`.
 */
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import type { CliOutcome, CliRequest } from './cli.ts';

/** Loaded by its path, like services: libraries import no programs. */
const programFile = join(import.meta.dirname, '..', '..', 'cli', 'run.ts');
const { runCommand } = (await import(pathToFileURL(programFile).href)) as { runCommand(args: readonly string[]): Promise<void> };

/** Puts a stream in the place of one of the process. */
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
