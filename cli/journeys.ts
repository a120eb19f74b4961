/**
 * `journeys audit JOURNEY STEP` (rules/cli#admin-cli; rules/steps#step-configuration): changes of a step's
 * configuration.
 */
import type { Command } from 'commander';
import type { CliContext } from './context.ts';
import { registerJourneyCommands } from './journey-commands.ts';
import { moment } from './output/cell.ts';
import { table } from './output/table.ts';
import { parseLimit } from './parse-options.ts';

export function register(journeys: Command, context: CliContext): void {
  registerJourneyCommands(journeys, context);
  journeys
    .command('audit')
    .description("Shows the audit history of a step's configuration, newest first")
    .argument('<journey>', 'slug of the journey')
    .argument('<step>', 'slug of the step')
    .option('--limit <count>', 'maximum number of results, at most 1000', parseLimit, 100)
    .action(async (journey: string, step: string, { limit }: { limit: number }) => {
      const call = { path: { journey_slug: journey, step_slug: step }, query: { limit } };
      const { items } = (
        await context.http((api) => api.listStepConfigAudit(call), `step ${step} of a journey ${journey}`)
      ).body;
      context.print(
        items,
        table(
          items,
          {
            CHANGED: ({ changed_at: at }) => moment(at),
            BY: ({ source, account }) => account?.email ?? source,
            PATHS: ({ paths }) => paths.join(', '),
          },
          'No changes.',
        ),
      );
    });
}
