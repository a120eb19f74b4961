/**
 * The admin CLI without a process of its own: for what its commands answer and do, not for how a program ends and
 * writes.
 */
import { createContext } from '../cli/context.ts';
import { createProgram } from '../cli/program.ts';

/**
 * What the CLI would print with --json.
 * @throws what the command fails with; `answer` of it is what has been printed before
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
