/** `people export` and `people erase` (rules/cli#people-and-their-data): everything about one person, handed out or removed. */
import type { Command } from 'commander';
import { confirm } from './confirm.ts';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { table } from './output/table.ts';
import { erasePerson, type Counts } from './person-data/erase.ts';
import { exportPerson } from './person-data/export.ts';
import { collectNumber, collectText, identify, type IdentityOptions, type KnownPerson } from './person-data/person.ts';

interface ExportOptions extends IdentityOptions {
  readonly out: string;
}

interface EraseOptions extends IdentityOptions {
  readonly dryRun?: true;
  readonly yes?: true;
}

export function register(program: Command, context: CliContext): void {
  const people = program.command('people').description('Everything about one person: hand it out, or remove it');
  const withIdentity = (command: Command): Command =>
    command
      .option('--visitor <id>', 'also this visitor of the chat page; may be repeated', collectText)
      .option('--telegram-user <id>', 'also this Telegram user; may be repeated', collectNumber);

  withIdentity(people.command('export <key-id-or-email>'))
    .description('Writes a ZIP of JSON files with everything that is stored about a person; no hashes of passwords or tokens')
    .requiredOption('--out <file>', 'the ZIP to write; it must not exist')
    .action(async (who: string, options: ExportOptions) => {
      const person = await identify(context, who, options);
      if (person.name === null) throw new CliError(`Person ${person.id} was erased.`);
      const counts = await exportPerson(context, person, options.out);
      context.print(
        { person_id: person.id, file: options.out, counts },
        `Wrote what is stored about ${describe(person)} to ${options.out}.`,
      );
    });

  withIdentity(people.command('erase <key-id-or-email>'))
    .description('Removes a person from every service; repeat it when it was broken off')
    .option('--dry-run', 'show what would be removed, and change nothing')
    .option('--yes', 'do not ask')
    .action(async (who: string, options: EraseOptions) => {
      const person = await identify(context, who, options);
      const dryRun = options.dryRun === true;
      if (!dryRun && options.yes !== true)
        await confirm(`This erases ${describe(person)} and cannot be undone.`, String(person.id), 'use --yes, or --dry-run first');
      const onStep = (service: string): void => void process.stderr.write(`${service} …\n`);
      const counts = await erasePerson(context, person, { dryRun, onStep });
      context.print(
        { person_id: person.id, dry_run: dryRun, counts },
        dryRun ? `Would be removed of ${describe(person)}; nothing was changed:` : `Erased ${describe(person)}:`,
        table(rowsOf(counts), countColumns, 'Nothing is stored.'),
      );
    });
}

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
  return Object.entries(counts).flatMap(([service, own]) => Object.entries(own).map(([what, count]) => ({ service, what, count })));
}
