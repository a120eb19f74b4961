import { listNodes } from '../../cli/completion/tree.ts';
import { createContext } from '../../cli/context.ts';
import { createProgram } from '../../cli/program.ts';

/** Returns all CLI commands with their options, for completion scripts. */
export async function describeCommands(): Promise<string> {
  const program = await createProgram('all', { json: false, openContext: () => createContext({ json: false }) });
  return `${JSON.stringify(listNodes(program), null, 1)}\n`;
}
