/**
 * `holons search|show`: searches holons like `/api/v1/holons`, and shows one; private holons included
 * (rules/cli#admin-cli).
 */
import type { Command } from 'commander';
import type { ReplyOf } from '#libs/contract';
import type { directory } from '#services/directory';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { registerHolonCommands } from './holon-commands.ts';
import { moment } from './output/cell.ts';
import { fields, table } from './output/table.ts';
import { parseId } from './parse-options.ts';
import { type Page, registerSearch, describeMore, withPage } from './record-search.ts';

type Holon = ReplyOf<typeof directory.rpcs.searchHolons>['items'][number];
type Details = ReplyOf<typeof directory.rpcs.showHolon>;
type Membership = Details['memberships']['items'][number];
type Relationship = Details['relationships']['items'][number];

const columns = {
  ID: ({ id }: Holon) => id,
  NAME: ({ name }: Holon) => name,
  CLASS: ({ type }: Holon) => type,
  SLUG: ({ slug }: Holon) => slug,
  CHANGED: ({ updated_at: at }: Holon) => moment(at),
};

const membershipColumns = {
  MEMBERSHIP: ({ membership_id: id }: Membership) => id,
  PERSON: ({ person }: Membership) => `${person.name} (${person.id})`,
  JOURNEY: ({ journey_name: journey }: Membership) => journey,
  STEP: ({ step_title: step }: Membership) => step,
  'FOLLOW UP': ({ follow_up_after: day }: Membership) => day,
};

const relationshipColumns = {
  RELATIONSHIP: ({ relationship_id: id }: Relationship) => id,
  FROM: ({ from_holon: holon }: Relationship) => holon.slug,
  TO: ({ to_holon: holon }: Relationship) => holon.slug,
  JOURNEY: ({ journey_name: journey }: Relationship) => journey,
  STEP: ({ step_title: step }: Relationship) => step,
  'FOLLOW UP': ({ follow_up_after: day }: Relationship) => day,
};

export function register(group: Command, context: CliContext): void {
  registerHolonCommands(group, context);
  registerSearch(group, 'Lists holons whose name or description contains a text')
    .option('--class <slug>', 'only holons of this class or its subclasses')
    .option('--parent <id>', 'only children of this holon', parseId)
    .action(
      async (text: string | undefined, { limit, offset, ...filter }: Page & { class?: string; parent?: number }) => {
        // The operation needs a text or a class; the empty text matches every name.
        const q = text ?? (filter.class === undefined ? '' : undefined);
        const { directory } = await import('#services/directory'); // contracts take long to load
        const { items, count } = await context.call(directory.rpcs.searchHolons, {
          ...(q === undefined ? {} : { q }),
          ...filter,
          limit,
          offset,
        });
        context.print(items, table(items, columns, 'No holons found.'), ...describeMore({ limit, offset }, count));
      },
    );

  withPage(
    group.command('show <id-or-slug>').description('Shows a holon with its people and relationships'),
    200,
  ).action(async (idOrSlug: string, page: Page) => {
    const { directory } = await import('#services/directory');
    const details = await context.call(
      directory.rpcs.showHolon,
      { holon_id: await findId(context, idOrSlug), ...page },
      `holon ${idOrSlug}`,
    );
    const { holon, memberships, relationships } = details;
    const { id, name, type, slug, parent_id: parent, links, description } = holon;
    context.print(
      details,
      fields({ id, name, class: type, slug, parent, links: JSON.stringify(links), description }),
      '',
      table(memberships.items, membershipColumns, 'No members.'),
      '',
      table(relationships.items, relationshipColumns, 'No relationships.'),
      ...describeMore(page, Math.max(memberships.count, relationships.count)),
    );
  });
}

async function findId(context: CliContext, idOrSlug: string): Promise<number> {
  if (/^\d{1,10}$/.test(idOrSlug)) return Number(idOrSlug);
  const { directory } = await import('#services/directory');
  const [found] = (await context.call(directory.rpcs.getHolons, { slugs: [idOrSlug] })).items;
  if (found === undefined) throw new CliError(`There is no holon ${idOrSlug}.`, 'not_found');
  return found.id;
}
