/** `people …` (rules/cli#people-and-their-data): finds, exports, merges and erases people. */
import type { Command } from 'commander';
import type { ReplyOf } from '#libs/contract';
import type { directory } from '#services/directory';
import { confirm } from './confirm.ts';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { fields, table } from './output/table.ts';
import type { Counts } from './person-data/erase.ts';
import { registerPersonCommands } from './person-commands.ts';
import { registerMerging } from './person-data/merge.ts';
import { type Page, describeMore, withPage } from './record-search.ts';
import { collectNumber, collectText, identify, type IdentityOptions, type KnownPerson } from './person-data/person.ts';

interface ExportOptions extends IdentityOptions {
  readonly out: string;
}

interface EraseOptions extends IdentityOptions {
  readonly dryRun?: true;
  readonly yes?: true;
}

export function register(people: Command, context: CliContext): void {
  registerPersonCommands(people, context);
  registerMerging(people, context);
  withPage(people.command('show <key-id-or-email>').description('Shows a person with their memberships'), 200).action(
    async (who: string, page: Page) => {
      const { directory } = await import('#services/directory');
      const { id } = await context.call(directory.rpcs.identifyPerson, { who });
      const details = await context.call(directory.rpcs.showPerson, { person_id: id, ...page }, `person ${id}`);
      const { person, memberships } = details;
      const { contact, ...facts } = person;
      context.print(
        details,
        fields({
          id,
          name: facts.name,
          kind: facts.actor_kind,
          contact: JSON.stringify(contact),
          description: facts.description,
        }),
        '',
        table(memberships.items, membershipColumns, 'No memberships.'),
        ...describeMore(page, memberships.count),
      );
    },
  );
  const withIdentity = (command: Command): Command =>
    command
      .option('--visitor <id>', 'also this chat page visitor; can be repeated', collectText)
      .option('--telegram-user <id>', 'also this Telegram user; can be repeated', collectNumber);

  withIdentity(people.command('export <key-id-or-email>'))
    .description('Writes all stored data about a person as a ZIP of JSON files, without hashes of passwords and tokens')
    .requiredOption('--out <file>', 'output file; must not exist')
    .action(async (who: string, options: ExportOptions) => {
      const person = await identify(context, who, options);
      if (person.name === null) throw new CliError(`Person ${person.id} was erased.`);
      const { exportPerson } = await import('./person-data/export.ts');
      const counts = await exportPerson(context, person, options.out);
      context.print(
        { person_id: person.id, file: options.out, counts },
        `Wrote the data of ${describe(person)} to ${options.out}.`,
      );
    });

  withIdentity(people.command('erase <key-id-or-email>'))
    .description('Removes a person from every service; run it again after an interruption')
    .option('--dry-run', 'show the number of affected rows without changing anything')
    .option('--yes', 'skip the confirmation')
    .action(async (who: string, options: EraseOptions) => {
      const person = await identify(context, who, options);
      const dryRun = options.dryRun === true;
      if (!dryRun && options.yes !== true)
        await confirm(
          `This erases ${describe(person)} and cannot be undone.`,
          String(person.id),
          'use --yes, or --dry-run first',
        );
      const onStep = (service: string): void => void process.stderr.write(`${service} …\n`);
      const { erasePerson, previewErasure } = await import('./person-data/erase.ts');
      const counts = dryRun ? await previewErasure(context, person) : await erasePerson(context, person, onStep);
      const { storeErasuresWithBackups } = await import('./backup/erasures.ts');
      if (!dryRun) await storeErasuresWithBackups(context);
      context.print(
        { person_id: person.id, dry_run: dryRun, counts },
        dryRun ? `Would be removed for ${describe(person)} (nothing changed):` : `Erased ${describe(person)}:`,
        table(rowsOf(counts), countColumns, 'No data.'),
      );
    });
}

type Membership = ReplyOf<typeof directory.rpcs.showPerson>['memberships']['items'][number];

const membershipColumns = {
  MEMBERSHIP: ({ membership_id: id }: Membership) => id,
  HOLON: ({ holon }: Membership) => holon.slug,
  CLASS: ({ holon }: Membership) => holon.type,
  JOURNEY: ({ journey_name: journey }: Membership) => journey,
  STEP: ({ step_title: step }: Membership) => step,
  'FOLLOW UP': ({ follow_up_after: day }: Membership) => day,
};

function describe({ id, name }: KnownPerson): string {
  return name === null ? `person ${id}` : `person ${id} (${name})`;
}

type Row = ReturnType<typeof rowsOf>[number];

const countColumns = {
  SERVICE: ({ service }: Row) => service,
  COUNT: ({ count }: Row) => count,
  WHAT: ({ what }: Row) => what.replaceAll('_', ' '),
};

function rowsOf(counts: Counts) {
  return Object.entries(counts).flatMap(([service, own]) =>
    Object.entries(own).map(([what, count]) => ({ service, what, count })),
  );
}
