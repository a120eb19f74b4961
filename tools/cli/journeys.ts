/** `journeys audit JOURNEY STEP` (architecture §7; spec 01, Journey-step configuration): who changed what in a step's configuration. */
import type { Command } from 'commander';
import { directory } from '#services/directory';
import type { CliContext } from './context.ts';

export function register(program: Command, context: CliContext): void {
  program
    .command('journeys')
    .description('Journeys and their steps')
    .command('audit')
    .description("Shows the audit history of a step's configuration, newest first")
    .argument('<journey>', 'slug of the journey')
    .argument('<step>', 'slug of the step')
    .option('--json', 'print a list of JSON objects')
    .action(async (journey: string, step: string, options: { json?: true }) => {
      const { items } = await context.call(directory.rpcs.listConfigAudit, { journey_slug: journey, step_slug: step });
      if (options.json === true) return context.printJson(items);
      for (const { changed_at: at, source, account, paths } of items) {
        context.printLine(`${at}  ${account?.email ?? source}  ${paths.join(', ')}`);
      }
    });
}
