/** `media orphans`: finds stored objects without a record, and records without an object (architecture#orphans). */
import { InvalidArgumentError, type Command } from 'commander';
import type { ReplyOf } from '#libs/infrastructure/contract';
import { media } from '#services/media';
import { withConfirmation } from './common-options.ts';
import { confirm } from './confirm.ts';
import type { CliContext } from './context.ts';
import { moment } from './output/cell.ts';
import { table } from './output/table.ts';

interface Options {
  minAgeHours: number;
  delete?: true;
  yes?: true;
}

type Page = ReplyOf<typeof media.rpcs.findOrphans>;

const orphanColumns = {
  ORPHAN: ({ key }: Page['orphans'][number]) => key,
  BYTES: ({ size_bytes: size }: Page['orphans'][number]) => size,
  MODIFIED: ({ modified_at: at }: Page['orphans'][number]) => moment(at),
};
const missingColumns = {
  MISSING: ({ key }: Page['missing'][number]) => key,
  KIND: ({ kind }: Page['missing'][number]) => kind,
  RECORD: ({ blob_id: id }: Page['missing'][number]) => id,
  CONVERSATION: ({ conversation_id: id }: Page['missing'][number]) => id,
};

const defaultAgeHours = 24;

function parseHours(text: string): number {
  const hours = Number(text);
  if (text.trim() === '' || !(hours >= 0) || hours > 87_600)
    throw new InvalidArgumentError('must be between 0 and 87600 hours.');
  return hours;
}

export function register(group: Command, context: CliContext): void {
  withConfirmation(group.command('orphans'))
    .description('Lists objects without a record and records without an object; deletes the objects with --delete')
    .option('--min-age-hours <hours>', 'ignore newer objects', parseHours, defaultAgeHours)
    .option('--delete', 'delete the objects (records are never deleted: their objects can be restored from a backup)')
    .option('--json', 'print {orphans, missing, deleted, scanned}')
    .action(async (options: Options) => {
      const needsConfirmation = options.delete === true && options.yes !== true;
      if (needsConfirmation)
        await confirm(
          'This permanently deletes all objects without a record.',
          'delete',
          'use --yes, or omit --delete',
        );
      const total: { orphans: Page['orphans']; missing: Page['missing']; deleted: number; scanned: number } = {
        orphans: [],
        missing: [],
        deleted: 0,
        scanned: 0,
      };
      let after: string | null = null;
      do {
        const request = {
          after,
          min_age_seconds: Math.round(options.minAgeHours * 3600),
          delete: options.delete === true,
        };
        const page: Page = await context.call(media.rpcs.findOrphans, request);
        total.orphans.push(...page.orphans);
        total.missing.push(...page.missing);
        total.deleted += page.deleted;
        total.scanned += page.scanned;
        after = page.next;
      } while (after !== null);
      const bytes = total.orphans.reduce((sum, { size_bytes: size }) => sum + size, 0);
      const done = options.delete === true ? `${total.deleted} deleted` : 'nothing deleted; use --delete';
      context.print(
        total,
        ...(total.orphans.length === 0 ? [] : [table(total.orphans, orphanColumns, ''), '']),
        ...(total.missing.length === 0 ? [] : [table(total.missing, missingColumns, ''), '']),
        `${total.scanned} objects: ${total.orphans.length} orphans (${bytes} bytes, ${done}), ${total.missing.length} records without their object.`,
      );
    });
}
