/** `conversations move|connect|disconnect|import-transcript ID` (architecture §7; spec 03, D6, D7a, D29). */
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { conversations } from '#services/conversations';
import { CliError, type CliContext } from './context.ts';
import { parseId } from './parse-id.ts';

interface Options {
  step?: string;
  holon?: string;
  json?: true;
}

export function register(program: Command, context: CliContext): void {
  const group = program.command('conversations').description('Moves, links and imports that no HTTP operation does');
  const { adminMove, adminConnect, adminDisconnect, adminImportTranscript } = conversations.rpcs;
  const show = (options: Options, reply: object, line: string): void => {
    if (options.json === true) context.printJson(reply);
    else context.printLine(line);
  };

  group
    .command('move')
    .description('Moves a conversation to a step of its journey; noted with your name')
    .argument('<id>', 'conversation', parseId)
    .argument('[step]', 'slug of the step')
    .option('--step <slug>', 'the step, as an option')
    .option('--json', 'print the result as JSON')
    .action(async (id: number, step: string | undefined, options: Options) => {
      const step_slug = requireSlug(step ?? options.step, 'step');
      const reply = await context.call(adminMove, { conversation_id: id, step_slug, operator: userInfo().username });
      const where = reply.from === '' ? 'no step' : reply.from;
      show(options, reply, reply.changed ? `Conversation ${id}: ${where} → ${reply.to}` : `Conversation ${id} is at ${reply.to} already.`);
    });

  for (const [name, rpc, done] of [
    ['connect', adminConnect, 'linked to'],
    ['disconnect', adminDisconnect, 'no longer linked to'],
  ] as const) {
    group
      .command(name)
      .description(name === 'connect' ? 'Links a conversation to a holon' : 'Removes the link between a conversation and a holon')
      .argument('<id>', 'conversation', parseId)
      .argument('[holon]', 'slug of the holon')
      .option('--holon <slug>', 'the holon, as an option')
      .option('--json', 'print the result as JSON')
      .action(async (id: number, holon: string | undefined, options: Options) => {
        const holon_slug = requireSlug(holon ?? options.holon, 'holon');
        const reply = await context.call(rpc, { conversation_id: id, holon_slug });
        show(options, reply, `Conversation ${id} is ${done} ${holon_slug}${reply.changed ? '' : ' already'}.`);
      });
  }

  group
    .command('import-transcript')
    .description('Starts the transcript importer for a conversation')
    .argument('<id>', 'conversation', parseId)
    .option('--json', 'print the result as JSON')
    .action(async (id: number, options: Options) => {
      const reply = await context.call(adminImportTranscript, { conversation_id: id });
      show(options, reply, `Conversation ${id}: job ${reply.job_id} imports the transcript.`);
    });
}

function requireSlug(slug: string | undefined, what: string): string {
  if (slug === undefined || slug === '') throw new CliError(`Name the ${what}.`, 2);
  return slug;
}
