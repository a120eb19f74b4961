/** `people list|create|update` over HTTP (rules/cli#people-and-their-data). */
import type { Command } from 'commander';
import type { CreatePersonRequest, ListPeopleReply, UpdatePersonRequest } from '../clients/typescript/operations.ts';
import type { CliContext } from './context.ts';
import { table } from './output/table.ts';
import { parseId } from './parse-options.ts';
import { describeMore, type Page, withPage } from './record-search.ts';
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
};

export function registerPersonCommands(people: Command, context: CliContext): void {
  withPage(people.command('list').description('Lists people'), 100)
    .option('--q <text>', 'only people whose name contains this text', '')
    .action(async ({ q, ...page }: Page & { q: string }) => {
      const { items, has_more: hasMore } = (await context.http((api) => api.listPeople({ query: { q, ...page } })))
        .body;
      const end = page.offset + items.length + (hasMore ? 1 : 0);
      context.print(items, table(items, columns, 'No people.'), ...describeMore(page, end));
    });

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
