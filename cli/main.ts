/**
 * The admin CLI (rules/cli#admin-cli): `npm run --silent cli -- <group> <command>`, or `coherence <group> <command>`
 * where it is installed.
 */
import { runCommand } from './run.ts';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(); // the pipe is closed, e.g. because `head` has read enough
});
await runCommand(process.argv.slice(2));
