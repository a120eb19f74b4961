/** `holons list|search|create|update|delete` over HTTP (W2). */
import type { Command } from 'commander';
import type { CreateHolonRequest, ListHolonsReply, UpdateHolonRequest } from '../clients/typescript/operations.ts';
import { nextOffset, type OffsetPage, withConfirmation, withOffsetPages } from './common-options.ts';
import { confirm } from './confirm.ts';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { moment } from './output/cell.ts';
import { table } from './output/table.ts';
import { describeNext } from './pages.ts';
import { parseId } from './parse-options.ts';
import { describeChanges, describeObject, readBody, withFields } from './write-options.ts';

type Holon = ListHolonsReply['body']['items'][number];

interface Filter {
  readonly q?: string;
  readonly class?: string;
  readonly parent?: number;
}

interface WriteOptions {
  readonly from?: string;
  readonly parent?: number;
}

const columns = {
  ID: ({ id }: Holon) => id,
  NAME: ({ name }: Holon) => name,
  CLASS: ({ type }: Holon) => type,
  SLUG: ({ slug }: Holon) => slug,
  CHANGED: ({ updated_at: at }: Holon) => moment(at),
};

export function registerHolonCommands(holons: Command, context: CliContext): void {
  const withFilter = (command: Command): Command =>
    command
      .option('--class <slug>', 'only holons of this class or its subclasses')
      .option('--parent <id>', 'only children of this holon', parseId);
  const list = async ({ limit, cursor, ...filter }: OffsetPage & Filter): Promise<void> => {
    // The operation needs a text or a class; the empty text matches every name.
    const q = filter.q ?? (filter.class === undefined ? '' : undefined);
    const query = { ...filter, ...(q === undefined ? {} : { q }), limit, offset: cursor };
    const { items, count } = (await context.http((api) => api.listHolons({ query }))).body;
    const next = nextOffset({ limit, cursor }, count);
    context.print(items, table(items, columns, 'No holons.'), ...describeNext({ next }));
  };
  withFilter(withOffsetPages(holons.command('list').description('Lists holons'), 'holons', { max: 100 }))
    .option('--q <text>', 'only holons whose name or description contains this text')
    .action(list);
  withFilter(withOffsetPages(holons.command('search [text]', { hidden: true }), 'holons', { max: 100 })).action(
    (q: string | undefined, options: OffsetPage & Filter) => list({ ...options, ...(q === undefined ? {} : { q }) }),
  );

  const withParent = (command: Command, texts: Readonly<Record<string, string>>): Command =>
    withFields(command, { ...texts, slug: 'slug', description: 'rich text' }).option(
      '--parent <id>',
      'id of the parent',
      parseId,
    );

  withParent(holons.command('create').description('Creates a holon'), {
    name: 'name',
    class: 'slug of the class',
  }).action(async ({ from, parent, ...options }: WriteOptions) => {
    const body = await readBody<CreateHolonRequest['body']>(from, { ...options, parent_id: parent });
    const { holon } = (await context.http((api) => api.createHolon({ body }))).body;
    context.print(holon, `Created holon ${holon.slug}.`, describeObject(holon));
  });

  withParent(holons.command('update <id-or-slug>').description('Changes or moves a holon'), { name: 'name' }).action(
    async (idOrSlug: string, { from, parent, ...options }: WriteOptions) => {
      const body = await readBody<UpdateHolonRequest['body']>(from, { ...options, parent_id: parent });
      const path = { holon_id: await findHolonId(context, idOrSlug) };
      const reply = (await context.http((api) => api.updateHolon({ path, body }), `holon ${idOrSlug}`)).body;
      context.print(reply, describeChanges(`holon ${idOrSlug}`, reply.changes), describeObject(reply.holon));
    },
  );

  withConfirmation(holons.command('delete <id-or-slug>'))
    .description('Deletes a holon on which nothing depends')
    .action(async (idOrSlug: string, { yes }: { yes?: true }) => {
      const id = await findHolonId(context, idOrSlug);
      if (yes !== true) await confirm(`This deletes the holon ${idOrSlug} and cannot be undone.`, idOrSlug);
      await context.http((api) => api.deleteHolon({ path: { holon_id: id } }), `holon ${idOrSlug}`);
      context.print({ deleted: id }, `Deleted holon ${idOrSlug}.`);
    });
}

/** Returns the id of a holon. @throws CliError when there is no holon with this slug */
export async function findHolonId(context: CliContext, idOrSlug: string): Promise<number> {
  if (/^\d{1,10}$/.test(idOrSlug)) return Number(idOrSlug);
  if (idOrSlug === '') throw new CliError('Specify the holon.', 'usage');
  const call = { path: { slug: idOrSlug } };
  return (await context.http((api) => api.getHolonBySlug(call), `holon ${idOrSlug}`)).body.id;
}
