/** Which accounts can read events of the feed: called by the events service (rules/events; V4, D48). */
import { nullable, withoutActor, rpc, Type } from '#libs/contract';

const ids = Type.Array(Type.Integer(), { maxItems: 1_000 });
const ofWhom = { account_id: nullable(Type.Integer({ description: 'Whose eyes; null = nobody in particular.' })) };
const subjects = Type.Object({ people: ids, holons: ids, memberships: ids, relationships: ids, notes: ids });

/** To be spread into the contract of the directory. */
export const feedRpcs = {
  listHiddenHolons: rpc({
    subject: 'directory.feed.hidden-holons',
    callers: { events: withoutActor },
    summary: 'Holons that an account may not see (D48).',
    request: Type.Object(ofWhom),
    reply: Type.Object({ ids: Type.Array(Type.Integer(), { description: 'Ascending.' }) }),
  }),
  listFeedReadable: rpc({
    subject: 'directory.feed.readable',
    callers: { events: withoutActor },
    summary: 'Those of these that are there, and that an account may read now (D48).',
    request: Type.Object({ ...ofWhom, ...subjects.properties }),
    reply: subjects,
  }),
} as const;
