/** Runs one command line. */
import { CommanderError } from 'commander';
import type { CliContext } from './context.ts';
import { createProgram, takeCommonOptions } from './program.ts';

/** Runs `args` with the variables, standard streams and exit code of this process. */
export async function runCommand(args: readonly string[]): Promise<void> {
  const { json, profile, utc, rest } = takeCommonOptions(args);
  let context: CliContext | undefined;
  // Loaded on first use, so that `--help` and `--version` start faster.
  const openContext = async (): Promise<CliContext> =>
    (context ??= (await import('./context.ts')).createContext({ json, profile, utc }));
  try {
    const program = await createProgram(rest, { json, openContext });
    await program.parseAsync(rest, { from: 'user' });
  } catch (error) {
    const isAnswered = error instanceof CommanderError && error.exitCode === 0;
    process.exitCode = isAnswered ? 0 : (await openContext()).fail(error);
  } finally {
    await context?.close();
  }
}
