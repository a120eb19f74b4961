/** The admin CLI (architecture §7): `npm run cli -- <group> <command>`. Each group of commands is a file that exports `register`. */
import { Command, CommanderError } from 'commander';
import * as accounts from './accounts.ts';
import * as agents from './agents.ts';
import { CliError, createContext, describeFailure, type CliContext } from './context.ts';
import * as conversations from './conversations.ts';
import * as doctor from './doctor.ts';
import * as jobs from './jobs.ts';
import * as journeys from './journeys.ts';
import * as media from './media.ts';
import * as notes from './notes.ts';
import * as people from './people.ts';
import * as secrets from './secrets.ts';
import * as transcripts from './transcripts.ts';
import * as webhooks from './webhooks.ts';
import * as workspace from './workspace.ts';

/** What a file of commands exports. */
interface CommandGroup {
  register(program: Command, context: CliContext): void;
}

const groups: readonly CommandGroup[] = [
  workspace,
  accounts,
  conversations,
  transcripts,
  media,
  journeys,
  jobs,
  webhooks,
  notes,
  people,
  agents,
  secrets,
  doctor,
];

function createProgram(context: CliContext): Command {
  const program = new Command('coherence');
  program
    .description('Administers a running platform: NATS_URL, or the one that `npm start` runs in this folder.')
    .showHelpAfterError('(--help shows what is possible)')
    .exitOverride();
  for (const group of groups) group.register(program, context);
  return program;
}

const context = createContext();
try {
  await createProgram(context).parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else {
    process.stderr.write(`${describeFailure(error)}\n`);
    process.exitCode = error instanceof CliError ? error.exitCode : 1;
  }
} finally {
  await context.close();
}
