/** The admin CLI (rules/cli#admin-cli): `npm run --silent cli -- <group> <command>`, or `coherence <group> <command>` where it is installed. */
import { createContext } from './context.ts';
import { createProgram, takeJson } from './program.ts';

const { json, rest } = takeJson(process.argv.slice(2));
const context = createContext({ json });
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(); // a reader such as `head` has seen enough
});
try {
  const program = await createProgram(context, rest);
  await program.parseAsync(rest, { from: 'user' });
} catch (error) {
  process.exitCode = context.fail(error);
} finally {
  await context.close();
}
