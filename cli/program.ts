/** The tree of commands: each group is a file that exports `register`, and what all have in common is added here. */
import { styleText } from 'node:util';
import { Command } from 'commander';
import { releaseVersion } from '#libs/release';
import type { CliContext } from './context.ts';
import { screenOf } from './output/screen.ts';

/** What a file of commands exports. */
interface CommandGroup {
  register(program: Command, context: CliContext): void;
}

/** By the word that names them. Each is loaded when it is called: together they take a second of a core. */
const groups: ReadonlyMap<string, () => Promise<CommandGroup>> = new Map<string, () => Promise<CommandGroup>>([
  ['workspace', () => import('./workspace.ts')],
  ['accounts', () => import('./accounts.ts')],
  ['keys', () => import('./keys.ts')],
  ['conversations', () => import('./conversations.ts')],
  ['transcripts', () => import('./transcripts.ts')],
  ['media', () => import('./media.ts')],
  ['journeys', () => import('./journeys.ts')],
  ['overview', () => import('./overview.ts')],
  ['jobs', () => import('./jobs.ts')],
  ['webhooks', () => import('./webhooks.ts')],
  ['bookings', () => import('./bookings.ts')],
  ['pipelines', () => import('./pipelines.ts')],
  ['notes', () => import('./notes.ts')],
  ['people', () => import('./people.ts')],
  ['holons', () => import('./holons.ts')],
  ['agents', () => import('./agents.ts')],
  ['threads', () => import('./threads.ts')],
  ['audit', () => import('./audit/index.ts')],
  ['backup', () => import('./backup/index.ts')],
  ['events', () => import('./events.ts')],
  ['endpoints', () => import('./endpoints.ts')],
  ['secrets', () => import('./secrets.ts')],
  ['doctor', () => import('./doctor.ts')],
  ['completion', () => import('./completion.ts')],
]);

/**
 * `--json` is for every command, wherever it stands and even in a line that is wrong otherwise: it is taken out before the line is
 * read, and commands know it from their context alone.
 */
export function takeJson(args: readonly string[]): { json: boolean; rest: string[] } {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const rest = args.filter((arg, index) => arg !== '--json' || index >= end);
  return { json: rest.length < args.length, rest };
}

/** @param args what was typed; the one group that they name is loaded, and without a name that there is all are, to be told of */
export async function createProgram(context: CliContext, args: readonly string[] = []): Promise<Command> {
  const program = new Command('coherence');
  program
    .description('Administers a running platform: NATS_URL, or the one that `npm start` runs in the folder of this program.')
    .version(releaseVersion)
    .showHelpAfterError('(--help shows what is possible)')
    .exitOverride()
    .configureHelp({ styleTitle: (title) => styleText('bold', title, { validateStream: false }) })
    .configureOutput({
      outputError: (text, write) => write(`${screenOf(process.stderr).paint('red', text.trimEnd())}\n`),
      writeErr: (text) => (context.json ? undefined : process.stderr.write(text)),
    });
  for (const group of await loadGroups(args)) group.register(program, context);
  for (const command of leavesOf(program)) {
    const declared = command.options.some(({ long }) => long === '--json'); // where it says what is printed
    if (!declared) command.option('--json', 'print JSON alone, failures too');
  }
  return program;
}

function loadGroups([name = '']: readonly string[]): Promise<CommandGroup[]> {
  // What completes is made from the whole tree.
  const named = name === 'completion' ? undefined : groups.get(name);
  return Promise.all(named === undefined ? [...groups.values()].map((load) => load()) : [named()]);
}

/** The commands that do something. */
function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}
