/** One command from its words to its exit status. */
import { createContext } from './context.ts';
import { createProgram, takeJson } from './program.ts';

/** Does what `args` say with what the process has: its variables, standard streams and exit code. */
export async function runCommand(args: readonly string[]): Promise<void> {
  const { json, rest } = takeJson(args);
  const context = createContext({ json });
  try {
    const program = await createProgram(context, rest);
    await program.parseAsync(rest, { from: 'user' });
  } catch (error) {
    process.exitCode = context.fail(error);
  } finally {
    await context.close();
  }
}
