/** `people list|search|create|update` over HTTP (rules/cli#people-and-their-data). */
import type { Command } from 'commander';
import type { CreatePersonRequest, ListPeopleReply, UpdatePersonRequest } from '../clients/typescript/operations.ts';
import { nextOffset, type OffsetPage, withOffsetPages } from './common-options.ts';
import type { CliContext } from './context.ts';
import { moment } from './output/cell.ts';
import { table } from './output/table.ts';
import { describeNext } from './pages.ts';
import { parseId } from './parse-options.ts';
import { collectPair, describeChanges, describeObject, readBody, withFields } from './write-options.ts';

type Person = ListPeopleReply['body']['items'][number];
type Contact = Record<string, string | null>;

interface WriteOptions {
  readonly from?: string;
  readonly contact?: Contact;
}

const texts = { name: 'name', description: 'rich text', photo_url: 'address of a picture' };
const columns = {
  ID: ({ id }: Person) => id,
  NAME: ({ name }: Person) => name,
  KIND: ({ actor_kind: kind }: Person) => kind,
  CHANGED: ({ updated_at: at }: Person) => moment(at),
};

export function registerPersonCommands(people: Command, context: CliContext): void {
  const list = async ({ q, limit, cursor }: OffsetPage & { q: string }): Promise<void> => {
    const query = { q, limit, offset: cursor };
    const { items, count } = (await context.http((api) => api.listPeople({ query }))).body;
    context.print(
      items,
      table(items, columns, 'No people.'),
      ...describeNext({ next: nextOffset({ limit, cursor }, count) }),
    );
  };
  withOffsetPages(people.command('list').description('Lists people'), 'people', { max: 100 })
    .option('--q <text>', 'only people whose name contains this text', '')
    .action(list);
  withOffsetPages(people.command('search [text]', { hidden: true }), 'people', { max: 100 }).action(
    (text: string | undefined, page: OffsetPage) => list({ q: text ?? '', ...page }),
  );

  const withContact = (command: Command): Command =>
    withFields(command, texts).option('--contact <key=value>', 'contact value; can be repeated', collectPair);

  withContact(people.command('create').description('Creates a person')).action(
    async ({ from, ...options }: WriteOptions) => {
      const body = await readBody<CreatePersonRequest['body']>(from, options);
      const { person } = (await context.http((api) => api.createPerson({ body }))).body;
      context.print(person, `Created person ${person.id}.`, describeObject(person));
    },
  );

  withContact(people.command('update').argument('<id>', 'person', parseId).description('Changes a person')).action(
    async (id: number, { from, ...options }: WriteOptions) => {
      const body = await readBody<UpdatePersonRequest['body']>(from, options);
      const call = { path: { person_id: id }, body };
      const reply = (await context.http((api) => api.updatePerson(call), `person ${id}`)).body;
      context.print(reply, describeChanges(`person ${id}`, reply.changes), describeObject(reply.person));
    },
  );
}
