/**
 * Runs admin CLI commands in the test process, to check their results and effects. Exit codes and raw output are not
 * covered.
 */
import { createContext } from '../cli/context.ts';
import { createProgram } from '../cli/program.ts';

/**
 * Returns what the CLI prints with `--json`.
 * @throws the error of the command; its property `answer` is the output printed before the error
 */
export async function askCli(variables: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<any> {
  let answer: unknown;
  const context = createContext({ json: true, variables });
  try {
    const recording = { ...context, print: (data: unknown) => (answer = JSON.parse(JSON.stringify(data))) };
    const program = await createProgram(args, { json: true, openContext: () => recording });
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    throw Object.assign(error as Error, { answer });
  } finally {
    await context.close();
  }
  return answer;
}
