/** Operations that the events service calls to find out which accounts can read an event (rules/events; V4, D48). */
import { nullable, withoutActor, rpc, Type } from '#libs/infrastructure/contract';

const ids = Type.Array(Type.Integer(), { maxItems: 1_000 });
const accountField = {
  account_id: nullable(Type.Integer({ description: 'Account whose visibility applies; null = no account.' })),
};
const subjects = Type.Object({ people: ids, holons: ids, memberships: ids, relationships: ids, notes: ids });

export const feedRpcs = {
  listHiddenHolons: rpc({
    subject: 'directory.feed.hidden-holons',
    callers: { events: withoutActor },
    summary: 'Lists holons that an account cannot see (D48).',
    request: Type.Object(accountField),
    reply: Type.Object({ ids: Type.Array(Type.Integer(), { description: 'Ascending.' }) }),
  }),
  listFeedReadable: rpc({
    subject: 'directory.feed.readable',
    callers: { events: withoutActor },
    summary: 'Filters subjects to those that exist and that an account can read (D48).',
    request: Type.Object({ ...accountField, ...subjects.properties }),
    reply: subjects,
  }),
} as const;
