/** `holons show`: a holon with its people and relationships (rules/cli#admin-cli). */
import type { Command } from 'commander';
import type { ListHolonMembershipsReply, ListHolonRelationshipsReply } from '../clients/typescript/operations.ts';
import { nextOffset, type OffsetPage, withOffsetPages } from './common-options.ts';
import type { CliContext } from './context.ts';
import { findHolonId, registerHolonCommands } from './holon-commands.ts';
import { fields, table } from './output/table.ts';
import { describeNext } from './pages.ts';

type Membership = ListHolonMembershipsReply['body']['items'][number];
type Relationship = ListHolonRelationshipsReply['body']['items'][number];

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
  withOffsetPages(
    group.command('show <id-or-slug>').description('Shows a holon with its people and relationships'),
    'people and relationships',
    { max: 200 },
  ).action(async (idOrSlug: string, page: OffsetPage) => {
    const query = { limit: page.limit, offset: page.cursor };
    const path = { holon_id: await findHolonId(context, idOrSlug) };
    const subject = `holon ${idOrSlug}`;
    const [{ body: holon }, { body: memberships }, { body: relationships }] = await Promise.all([
      context.http((api) => api.getHolon({ path }), subject),
      context.http((api) => api.listHolonMemberships({ path, query }), subject),
      context.http((api) => api.listHolonRelationships({ path, query }), subject),
    ]);
    const { id, name, type, slug, parent_id: parent, links, description } = holon;
    context.print(
      { holon, memberships, relationships },
      fields({ id, name, class: type, slug, parent, links: JSON.stringify(links), description }),
      '',
      table(memberships.items, membershipColumns, 'No members.'),
      '',
      table(relationships.items, relationshipColumns, 'No relationships.'),
      ...describeNext({ next: nextOffset(page, Math.max(memberships.count, relationships.count)) }),
    );
  });
}
