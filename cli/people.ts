/** `people …` over HTTP (rules/cli#people-and-their-data): finds, exports, merges and erases people. */
import type { Command } from 'commander';
import type { ListPersonMembershipsReply } from '../clients/typescript/operations.ts';
import { nextOffset, type OffsetPage, withConfirmation, withOffsetPages } from './common-options.ts';
import { confirm } from './confirm.ts';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { fields, table } from './output/table.ts';
import { describeNext } from './pages.ts';
import { registerPersonCommands } from './person-commands.ts';
import { type Counts, erasePerson } from './person-data/erase.ts';
import { registerMerging } from './person-data/merge.ts';
import {
  type ChatOptions,
  collectNumber,
  collectText,
  describePerson,
  findPersonId,
  identifyPerson,
} from './person-data/person.ts';

interface ExportOptions extends ChatOptions {
  readonly out: string;
}

interface EraseOptions extends ChatOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export function register(people: Command, context: CliContext): void {
  registerPersonCommands(people, context);
  registerMerging(people, context);
  withOffsetPages(
    people.command('show').argument('<person>', named).description('Shows a person with their memberships'),
    'memberships',
    { max: 200 },
  ).action(async (text: string, page: OffsetPage) => {
    const path = { person_id: await findPersonId(context, text) };
    const person = (await context.http((api) => api.getPerson({ path }), `person ${path.person_id}`)).body;
    const memberships = (
      await context.http((api) =>
        api.listPersonMemberships({ path, query: { limit: page.limit, offset: page.cursor } }),
      )
    ).body;
    const { id, name, actor_kind: kind, contact, description } = person;
    context.print(
      { person, memberships },
      fields({ id, name, kind, contact: JSON.stringify(contact), description }),
      '',
      table(memberships.items, membershipColumns, 'No memberships.'),
      ...describeNext({ next: nextOffset(page, memberships.count) }),
    );
  });
  const withChats = (command: Command): Command =>
    command
      .argument('<person>', named)
      .option('--visitor <id>', 'also this chat page visitor; can be repeated', collectText)
      .option('--telegram-user <id>', 'also this Telegram user; can be repeated', collectNumber);

  withChats(people.command('export'))
    .description('Writes all stored data about a person as a ZIP of JSON files, without hashes of passwords and tokens')
    .requiredOption('--out <file>', 'output file; must not exist')
    .action(async (text: string, { out, ...chats }: ExportOptions) => {
      const person = await identifyPerson(context, text);
      if (person.name === null) throw new CliError(`Person ${person.id} was erased.`);
      const { exportPerson } = await import('./person-data/export.ts');
      const counts = await exportPerson(context, person.id, { chats, file: out });
      context.print(
        { person_id: person.id, file: out, counts },
        `Wrote the data of ${describePerson(person)} to ${out}.`,
      );
    });

  withConfirmation(withChats(people.command('erase')))
    .description('Removes a person from every service; run it again after an interruption')
    .option('--dry-run', 'show the number of affected rows without changing anything')
    .action(async (text: string, { dryRun = false, yes = false, ...chats }: EraseOptions) => {
      const person = await identifyPerson(context, text);
      const named = describePerson(person);
      if (!dryRun && !yes)
        await confirm(`This erases ${named} and cannot be undone.`, String(person.id), 'use --yes, or --dry-run first');
      const onStep = (service: string): void => void process.stderr.write(`${service} …\n`);
      const counts = await erasePerson(context, person, { chats, dryRun, onStep });
      if (!dryRun) {
        const { storeErasuresWithBackups } = await import('./backup/erasures.ts');
        await storeErasuresWithBackups(context);
      }
      context.print(
        { person_id: person.id, dry_run: dryRun, counts },
        dryRun ? `Would be removed for ${named} (nothing changed):` : `Erased ${named}:`,
        table(rowsOf(counts), countColumns, 'No data.'),
      );
    });
}

/** Description of the argument that names a person. */
const named = 'id, key, email, phone number or name';

type Membership = ListPersonMembershipsReply['body']['items'][number];

const membershipColumns = {
  MEMBERSHIP: ({ membership_id: id }: Membership) => id,
  HOLON: ({ holon }: Membership) => holon.slug,
  CLASS: ({ holon }: Membership) => holon.type,
  JOURNEY: ({ journey_name: journey }: Membership) => journey,
  STEP: ({ step_title: step }: Membership) => step,
  'FOLLOW UP': ({ follow_up_after: day }: Membership) => day,
};

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
