/** `people duplicates` and `people merge` (rules/people#merge-people; I3, I5). */
import type { Command } from 'commander';
import type { ReplyOf } from '#libs/contract';
import { directory } from '#services/directory';
import { confirm } from '../confirm.ts';
import type { CliContext } from '../context.ts';
import { table } from '../output/table.ts';

const { listDuplicates, mergePeople } = directory.rpcs;

type Duplicate = ReplyOf<typeof listDuplicates>['items'][number];

const duplicatesPerPage = 500;
const columns = {
  MATCH: ({ match_field: field, match_value: value }: Duplicate) => `${field.replace('contact.', '')} ${value}`,
  PEOPLE: ({ people }: Duplicate) => people.map(({ id, name }) => `${id} ${name}`).join(', '),
};

export function registerMerging(people: Command, context: CliContext): void {
  people
    .command('duplicates')
    .description('People with one email or one LinkedIn address')
    .action(async () => {
      const items: Duplicate[] = [];
      for (let after: string | null = ''; after !== null;) {
        const page: ReplyOf<typeof listDuplicates> = await context.call(listDuplicates, { after, limit: duplicatesPerPage });
        items.push(...page.items);
        after = page.next;
      }
      context.print({ items }, table(items, columns, 'Nobody is there twice.'));
    });

  people
    .command('merge <keep> <gone>')
    .description(
      'Makes one person of two, named by id, key or email: everything of the second belongs to the first; repeat it when it was broken off',
    )
    .option('--dry-run', 'show what would move, and change nothing')
    .option('--yes', 'do not ask')
    .action(async (keep: string, gone: string, { dryRun = false, yes = false }: { dryRun?: boolean; yes?: boolean }) => {
      const merge = (dry: boolean) => context.call(mergePeople, { keep, gone, dry_run: dry });
      const preview = await merge(true);
      if (!dryRun && !yes && preview.outcome !== 'done')
        await confirm(
          `Person ${preview.gone.id} (${preview.gone.name}) becomes ${preview.keep.id} (${preview.keep.name}), for good.`,
          String(preview.gone.id),
          'use --yes, or --dry-run first',
        );
      const result = dryRun ? preview : await merge(false);
      context.print(result, describe(result), table(Object.entries(result.counts), countColumns, 'Nothing moves.'));
    });
}

const countColumns = { COUNT: ([, count]: [string, number]) => count, WHAT: ([what]: [string, number]) => what.replaceAll('_', ' ') };

function describe({ outcome, keep, gone }: ReplyOf<typeof mergePeople>): string {
  const [going, staying] = [`person ${gone.id}${gone.name === null ? '' : ` (${gone.name})`}`, `person ${keep.id} (${keep.name})`];
  if (outcome === 'done') return `Done already: ${going} is ${staying}.`;
  return outcome === 'merged' ? `Merged ${going} into ${staying}:` : `Would be moved from ${going} to ${staying}; nothing was changed:`;
}
