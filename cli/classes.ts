/** `classes list|show|create|update|delete` over HTTP (W5). */
import type { Command } from 'commander';
import type { CreateClassRequest, ListClassesReply, UpdateClassRequest } from '../clients/typescript/operations.ts';
import { withConfirmation } from './common-options.ts';
import { confirm } from './confirm.ts';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { table } from './output/table.ts';
import { describeChanges, describeObject, readBody, withFields } from './write-options.ts';

type ObjectClass = ListClassesReply['body'][number];
type WriteOptions = Readonly<Record<string, string | undefined>>;

const columns = {
  CLASS: ({ object_kind: kind, slug }: ObjectClass) => `${kind}/${slug}`,
  LABEL: ({ label }: ObjectClass) => label,
  PARENT: ({ parent }: ObjectClass) => parent,
  ACTIVE: ({ is_active: isActive }: ObjectClass) => isActive,
};
const texts = { label: 'name', plural_label: 'name of several', description: 'text' };

export function register(classes: Command, context: CliContext): void {
  classes
    .command('list')
    .description('Lists classes')
    .option('--kind <kind>', 'only classes of this kind of object, e.g. holon')
    .action(async ({ kind }: { kind?: string }) => {
      const query = kind === undefined ? {} : { object_kind: kind };
      const items = (await context.http((api) => api.listClasses({ query }))).body;
      context.print(items, table(items, columns, 'No classes.'));
    });

  classes
    .command('show <kind/slug>')
    .description('Shows a class, e.g. holon/event')
    .action(async (reference: string) => {
      const found = (await context.http((api) => api.getClass({ path: toPath(reference) }), `class ${reference}`)).body;
      context.print(found, describeObject({ ...found }));
    });

  withFields(classes.command('create <kind/slug>').description('Creates a class'), texts).action(
    async (reference: string, { from, ...options }: WriteOptions) => {
      const body = await readBody<CreateClassRequest['body']>(from, { ...toPath(reference), ...options });
      const created = (await context.http((api) => api.createClass({ body }))).body.class;
      context.print(created, `Created class ${reference}.`, describeObject({ ...created }));
    },
  );

  withFields(classes.command('update <kind/slug>').description('Changes or retires a class'), texts).action(
    async (reference: string, { from, ...options }: WriteOptions) => {
      const body = await readBody<UpdateClassRequest['body']>(from, options);
      const call = { path: toPath(reference), body };
      const reply = (await context.http((api) => api.updateClass(call), `class ${reference}`)).body;
      context.print(reply, describeChanges(`class ${reference}`, reply.changes), describeObject({ ...reply.class }));
    },
  );

  withConfirmation(classes.command('delete <kind/slug>'))
    .description('Deletes a class that is not used')
    .action(async (reference: string, { yes }: { yes?: true }) => {
      const path = toPath(reference);
      if (yes !== true) await confirm(`This deletes the class ${reference} and cannot be undone.`, reference);
      await context.http((api) => api.deleteClass({ path }), `class ${reference}`);
      context.print({ deleted: reference }, `Deleted class ${reference}.`);
    });
}

/** Returns kind and slug of a class. @throws CliError when the text is something else */
export function toPath(reference: string): { object_kind: string; slug: string } {
  const [kind, slug, ...rest] = reference.split('/');
  if (!kind || !slug || rest.length > 0)
    throw new CliError('A class is given as object_kind/slug, e.g. holon/event.', 'usage');
  return { object_kind: kind, slug };
}
