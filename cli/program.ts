/** The tree of commands: each group is a file that exports `register`, and what all have in common is added here. */
import { styleText } from 'node:util';
import { Command } from 'commander';
import packageFile from '../package.json' with { type: 'json' };
import * as accounts from './accounts.ts';
import * as agents from './agents.ts';
import * as completion from './completion.ts';
import type { CliContext } from './context.ts';
import * as conversations from './conversations.ts';
import * as doctor from './doctor.ts';
import * as jobs from './jobs.ts';
import * as journeys from './journeys.ts';
import * as media from './media.ts';
import * as notes from './notes.ts';
import { screenOf } from './output/screen.ts';
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
  completion,
];

/**
 * `--json` is for every command, wherever it stands and even in a line that is wrong otherwise: it is taken out before the line is
 * read, and commands know it from their context alone.
 */
export function takeJson(args: readonly string[]): { json: boolean; rest: string[] } {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const rest = args.filter((arg, index) => arg !== '--json' || index >= end);
  return { json: rest.length < args.length, rest };
}

export function createProgram(context: CliContext): Command {
  const program = new Command('coherence');
  program
    .description('Administers a running platform: NATS_URL, or the one that `npm start` runs in the folder of this program.')
    .version(packageFile.version)
    .showHelpAfterError('(--help shows what is possible)')
    .exitOverride()
    .configureHelp({ styleTitle: (title) => styleText('bold', title, { validateStream: false }) })
    .configureOutput({
      outputError: (text, write) => write(`${screenOf(process.stderr).paint('red', text.trimEnd())}\n`),
      writeErr: (text) => (context.json ? undefined : process.stderr.write(text)),
    });
  for (const group of groups) group.register(program, context);
  for (const command of leavesOf(program)) {
    const declared = command.options.some(({ long }) => long === '--json'); // where it says what is printed
    if (!declared) command.option('--json', 'print JSON alone, failures too');
  }
  return program;
}

/** The commands that do something. */
function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}
