/**
 * Runs admin CLI commands in the test process, to check their results and effects. Exit codes and raw output are not
 * covered.
 */
import { createContext, type CliContext } from '../cli/context.ts';
import { createProgram } from '../cli/program.ts';

type Variables = Readonly<Record<string, string>>;

/**
 * Returns what the CLI prints with `--json`.
 * @param login called when a command uses the HTTP APIs, returns COHERENCE_URL and COHERENCE_KEY
 * @throws the error of the command; its property `answer` is the output printed before the error
 */
export async function runCommand(
  variables: Variables,
  args: readonly string[],
  login?: () => Promise<Variables>,
): Promise<any> {
  let answer: unknown;
  const context = createContext({ json: true, variables });
  let loggedIn: Promise<CliContext> | undefined;
  const openHttp = (): Promise<CliContext> =>
    (loggedIn ??=
      login === undefined
        ? Promise.resolve(context)
        : login().then((credential) => createContext({ json: true, variables: { ...variables, ...credential } })));
  try {
    const recording: CliContext = {
      ...context,
      http: async (call, subject) => (await openHttp()).http(call, subject),
      target: async () => (await openHttp()).target(),
      print: (data) => {
        answer = JSON.parse(JSON.stringify(data));
      },
    };
    const program = await createProgram(args, { json: true, openContext: () => recording });
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    throw Object.assign(error as Error, { answer });
  } finally {
    await context.close();
  }
  return answer;
}

/** Returns what the CLI prints with `--json`, with the credentials of the variables. */
export const askCli = (variables: Variables, ...args: readonly string[]): Promise<any> => runCommand(variables, args);
