/** `people duplicates` and `people merge` (rules/people#merge-people; I3, I5). */
import type { Command } from 'commander';
import { appError } from '#libs/infrastructure/errors';
import type { ListDuplicatePeopleReply } from '../../clients/typescript/operations.ts';
import { withConfirmation } from '../common-options.ts';
import { confirm } from '../confirm.ts';
import type { CliContext } from '../context.ts';
import { table } from '../output/table.ts';
import { readPages } from '../pages.ts';
import { describePerson, findPerson, type FoundPerson, identifyPerson } from './person.ts';

type Duplicate = ListDuplicatePeopleReply['body']['items'][number];

const columns = {
  MATCH: ({ match_field: field, match_value: value }: Duplicate) => `${field.replace('contact.', '')} ${value}`,
  PEOPLE: ({ people }: Duplicate) => people.map(({ id, name }) => `${id} ${name}`).join(', '),
};

export function registerMerging(people: Command, context: CliContext): void {
  people
    .command('duplicates')
    .description('Lists people who share an email or LinkedIn address')
    .action(async () => {
      const { items } = await readPages(
        { limit: Infinity },
        async (query) => (await context.http((api) => api.listDuplicatePeople({ query }))).body,
      );
      context.print({ items }, table(items, columns, 'No duplicates.'));
    });

  withConfirmation(people.command('merge <keep> <gone>'))
    .description(
      'Merges the second person into the first, each given by id, key, email, phone number or name; can be repeated',
    )
    .option('--dry-run', 'show what would move without changing anything')
    .action(
      async (
        retainText: string,
        removeText: string,
        { dryRun = false, yes = false }: { dryRun?: boolean; yes?: boolean },
      ) => {
        const result = await merge(context, await readPair(context, retainText, removeText), { dryRun, yes });
        context.print(result, describe(result), table(Object.entries(result.counts), countColumns, 'No data to move.'));
      },
    );
}

interface Merge {
  readonly outcome: 'merged' | 'done' | 'would_merge';
  readonly keep: { readonly id: number; readonly name: string };
  /** `name` is null if the person was merged before. */
  readonly gone: { readonly id: number; readonly name: string | null };
  /** Moved rows by kind. */
  readonly counts: Readonly<Record<string, number>>;
}

type Pair = Pick<Merge, 'keep' | 'gone'>;

/**
 * Returns the people of a merge. @throws AppError `person_not_found`, `person_ambiguous`, `same_person`
 */
async function readPair(context: CliContext, retainText: string, removeText: string): Promise<Pair> {
  const keep = requireName(await identifyPerson(context, retainText));
  const gone = await findPerson(context, removeText);
  const { id, merged_id: mergedId } = gone;
  if (id !== keep.id && mergedId !== null)
    throw appError('not_found', 'person_not_found', `Person ${mergedId} was merged into person ${id}.`);
  if (id !== keep.id) return { keep, gone: requireName(gone) };
  if (mergedId === null) throw appError('bad_request', 'same_person', `Both are person ${id}.`);
  return { keep, gone: { id: mergedId, name: null } };
}

/** @throws AppError `person_not_found` for an erased person */
function requireName({ id, name }: FoundPerson): { readonly id: number; readonly name: string } {
  if (name === null) throw appError('not_found', 'person_not_found', `Person ${id} was erased.`);
  return { id, name };
}

async function merge(
  context: CliContext,
  pair: Pair,
  { dryRun, yes }: { readonly dryRun: boolean; readonly yes: boolean },
): Promise<Merge> {
  const { keep, gone } = pair;
  if (gone.name === null) return { outcome: 'done', ...pair, counts: {} };
  if (!dryRun && !yes)
    await confirm(
      `Person ${gone.id} (${gone.name}) is permanently merged into ${keep.id} (${keep.name}).`,
      String(gone.id),
      'use --yes, or --dry-run first',
    );
  const call = { path: { person_id: gone.id }, body: { into: keep.id, ...(dryRun ? { dry_run: true } : {}) } };
  const { counts } = (await context.http((api) => api.mergePerson(call), `person ${gone.id}`)).body;
  return { outcome: dryRun ? 'would_merge' : 'merged', ...pair, counts };
}

const countColumns = {
  COUNT: ([, count]: [string, number]) => count,
  WHAT: ([what]: [string, number]) => what.replaceAll('_', ' '),
};

function describe({ outcome, keep, gone }: Merge): string {
  const [going, staying] = [describePerson(gone), describePerson(keep)];
  if (outcome === 'done') return `Already merged: ${going} is ${staying}.`;
  return outcome === 'merged'
    ? `Merged ${going} into ${staying}:`
    : `Would be moved from ${going} to ${staying} (nothing changed):`;
}
