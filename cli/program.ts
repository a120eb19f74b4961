/** Builds the command tree. Each group is a file that exports `register`; options of all commands are added here. */
import { styleText } from 'node:util';
import { Command } from 'commander';
import { releaseVersion } from '#libs/infrastructure/release';
import type { CliContext } from './context.ts';
import { screenOf } from './output/screen.ts';

/** The exports of a command file. */
interface CommandGroup {
  /** Adds subcommands, arguments, options and the action. */
  register(command: Command, context: CliContext): void;
}

interface DeclaredGroup {
  readonly description: string;
  load(): Promise<CommandGroup>;
}

/** Command groups. Modules are loaded on first use, since loading all of them takes a second. */
const groups: Readonly<Record<string, DeclaredGroup>> = {
  login: {
    description: 'Log in to an installation and store the credential as a profile',
    load: () => import('./login.ts'),
  },
  logout: { description: 'End the login of a profile and remove its credential', load: () => import('./logout.ts') },
  whoami: { description: 'Show the profile in use, and its person or service key', load: () => import('./whoami.ts') },
  profiles: { description: 'Stored profiles: list, use, delete', load: () => import('./profile-commands.ts') },
  workspace: { description: 'Set-up data from a file', load: () => import('./workspace.ts') },
  accounts: { description: 'Accounts that may log in', load: () => import('./accounts.ts') },
  keys: { description: 'Service keys: tokens for programs, limited to scopes', load: () => import('./keys.ts') },
  conversations: {
    description: 'List, move, connect, delete and restore conversations',
    load: () => import('./conversations.ts'),
  },
  transcripts: {
    description: 'Transcript search, and checks of transcript imports',
    load: () => import('./transcripts.ts'),
  },
  media: { description: 'Stored files: audio, recordings, thumbnails, logos', load: () => import('./media.ts') },
  journeys: { description: 'Journeys and their steps', load: () => import('./journeys.ts') },
  overview: {
    description: 'State of the platform: services, dependencies, jobs, webhooks, streams, failed logins',
    load: () => import('./overview.ts'),
  },
  jobs: {
    description: 'Jobs of all services: queued, running, succeeded, dead, cancelled',
    load: () => import('./jobs.ts'),
  },
  webhooks: { description: 'Receipts of inbound webhooks and their results', load: () => import('./webhooks.ts') },
  bookings: { description: 'Cal.com bookings', load: () => import('./bookings.ts') },
  pipelines: {
    description: 'Conversations in pipeline steps, and what they wait for',
    load: () => import('./pipelines.ts'),
  },
  notes: { description: 'Notes on conversations, people and holons', load: () => import('./notes.ts') },
  people: { description: 'Find, export, merge and erase people', load: () => import('./people.ts') },
  holons: { description: 'Groups, places and events', load: () => import('./holons.ts') },
  memberships: { description: 'People in holons', load: () => import('./memberships.ts') },
  relationships: { description: 'Relationships between holons', load: () => import('./relationships.ts') },
  classes: { description: 'Classes of holons and other objects', load: () => import('./classes.ts') },
  spheres: { description: 'Spheres of holons', load: () => import('./spheres.ts') },
  agents: { description: 'Agents: stored data, memory, knowledge and cost', load: () => import('./agents.ts') },
  threads: { description: 'Chats with agents: read, take over, reply, hand back', load: () => import('./threads.ts') },
  audit: { description: 'Audit logs of all services, and their hash chains', load: () => import('./audit/index.ts') },
  backup: {
    description: 'Create, verify and restore backups of the installation',
    load: () => import('./backup/index.ts'),
  },
  events: { description: 'Follow or truncate the event feed', load: () => import('./events.ts') },
  endpoints: { description: 'Webhook endpoints and their deliveries', load: () => import('./endpoints.ts') },
  history: { description: 'Changes of an object: time, caller, fields', load: () => import('./history.ts') },
  logs: {
    description: 'Last log lines of the platform that `npm start` runs in this folder',
    load: () => import('./logs.ts'),
  },
  open: { description: 'Open the console in a browser', load: () => import('./open.ts') },
  secrets: { description: 'Secrets of an installation', load: () => import('./secrets.ts') },
  doctor: {
    description:
      'Check NATS, its streams, PostgreSQL, the object store, the gateway, every service, and optional parts',
    load: () => import('./doctor.ts'),
  },
  completion: { description: 'Print a completion script for a shell', load: () => import('./completion.ts') },
};

export interface CommonOptions {
  readonly json: boolean;
  readonly profile: string | undefined;
  /** Exact times in tables. */
  readonly utc: boolean;
  /** The other arguments. */
  readonly rest: string[];
}

/**
 * Removes `--json`, `--utc` and `--profile NAME` from the arguments before they are parsed, so that they also apply to usage
 * errors. Commands read them from their context.
 */
export function takeCommonOptions(args: readonly string[]): CommonOptions {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const rest: string[] = [];
  let [json, utc, profile]: [boolean, boolean, string | undefined] = [false, false, undefined];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    if (index >= end) rest.push(arg);
    else if (arg === '--json') json = true;
    else if (arg === '--utc') utc = true;
    else if (arg === '--profile' && index + 1 < end) profile = args[(index += 1)];
    else if (arg.startsWith('--profile=')) profile = arg.slice('--profile='.length);
    else rest.push(arg);
  }
  return { json, profile, utc, rest };
}

export interface ProgramOptions {
  /** Print only JSON, also for errors. */
  readonly json: boolean;
  /** Called once, and only when a group is loaded. */
  openContext(): CliContext | Promise<CliContext>;
}

/**
 * Returns the program with the name and description of every group, and with the commands of the groups that `args`
 * contains.
 * @param args command line without the program, or `all` to load every group
 */
export async function createProgram(
  args: readonly string[] | 'all',
  { json, openContext }: ProgramOptions,
): Promise<Command> {
  const program = new Command('coherence');
  program
    .description(
      'Administers a platform: the profile of `coherence login`, or the platform that `npm start` runs in this folder.',
    )
    .version(releaseVersion)
    .showHelpAfterError('(see --help)')
    .exitOverride()
    .configureHelp({ styleTitle: (title) => styleText('bold', title, { validateStream: false }) })
    .configureOutput({
      outputError: (text, write) => write(`${screenOf(process.stderr).paint('red', text.trimEnd())}\n`),
      writeErr: (text) => (json ? undefined : process.stderr.write(text)),
    });
  const used = args === 'all' ? Object.keys(groups) : [args[0] === 'help' ? args[1] : args[0]];
  const context = used.some((name) => name !== undefined && Object.hasOwn(groups, name))
    ? await openContext()
    : undefined;
  for (const [name, { description, load }] of Object.entries(groups)) {
    const command = program.command(name).description(description);
    if (context === undefined || !used.includes(name)) continue;
    (await load()).register(command, context);
    for (const leaf of listLeafCommands(command)) {
      const declared = leaf.options.some(({ long }) => long === '--json'); // a command that declares --json describes the printed object
      if (!declared) leaf.option('--json', 'print only JSON, also for errors');
      leaf.option('--utc', 'exact times in tables, in UTC');
      leaf.option('--profile <name>', 'installation and account, as stored by `coherence login`');
    }
  }
  return program;
}

/** Returns the commands that have an action. */
function listLeafCommands(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(listLeafCommands);
}
