/** `people duplicates` and `people merge` (rules/people#merge-people; I3, I5). */
import type { Command } from 'commander';
import type { ReplyOf } from '#libs/contract';
import type { directory } from '#services/directory';
import { confirm } from '../confirm.ts';
import type { CliContext } from '../context.ts';
import { table } from '../output/table.ts';

type Duplicate = ReplyOf<typeof directory.rpcs.listDuplicates>['items'][number];

const duplicatesPerPage = 500;
const columns = {
  MATCH: ({ match_field: field, match_value: value }: Duplicate) => `${field.replace('contact.', '')} ${value}`,
  PEOPLE: ({ people }: Duplicate) => people.map(({ id, name }) => `${id} ${name}`).join(', '),
};

export function registerMerging(people: Command, context: CliContext): void {
  people
    .command('duplicates')
    .description('Lists people who share an email or LinkedIn address')
    .action(async () => {
      const { directory } = await import('#services/directory'); // contracts take long to load
      const items: Duplicate[] = [];
      for (let after: string | null = ''; after !== null;) {
        const page: ReplyOf<typeof directory.rpcs.listDuplicates> = await context.call(directory.rpcs.listDuplicates, {
          after,
          limit: duplicatesPerPage,
        });
        items.push(...page.items);
        after = page.next;
      }
      context.print({ items }, table(items, columns, 'No duplicates.'));
    });

  people
    .command('merge <keep> <gone>')
    .description(
      'Merges the second person into the first, both given by id, key or email; run it again after an interruption',
    )
    .option('--dry-run', 'show what would move without changing anything')
    .option('--yes', 'skip the confirmation')
    .action(
      async (keep: string, gone: string, { dryRun = false, yes = false }: { dryRun?: boolean; yes?: boolean }) => {
        const { directory } = await import('#services/directory');
        const merge = (dry: boolean) => context.call(directory.rpcs.mergePeople, { keep, gone, dry_run: dry });
        const preview = await merge(true);
        if (!dryRun && !yes && preview.outcome !== 'done')
          await confirm(
            `Person ${preview.gone.id} (${preview.gone.name}) is permanently merged into ${preview.keep.id} (${preview.keep.name}).`,
            String(preview.gone.id),
            'use --yes, or --dry-run first',
          );
        const result = dryRun ? preview : await merge(false);
        context.print(result, describe(result), table(Object.entries(result.counts), countColumns, 'No data to move.'));
      },
    );
}

const countColumns = {
  COUNT: ([, count]: [string, number]) => count,
  WHAT: ([what]: [string, number]) => what.replaceAll('_', ' '),
};

function describe({ outcome, keep, gone }: ReplyOf<typeof directory.rpcs.mergePeople>): string {
  const [going, staying] = [
    `person ${gone.id}${gone.name === null ? '' : ` (${gone.name})`}`,
    `person ${keep.id} (${keep.name})`,
  ];
  if (outcome === 'done') return `Already merged: ${going} is ${staying}.`;
  return outcome === 'merged'
    ? `Merged ${going} into ${staying}:`
    : `Would be moved from ${going} to ${staying} (nothing changed):`;
}
