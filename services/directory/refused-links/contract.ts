/** Links that were stored before the rule of D72 held. */
import { byOperators, rpc, Type } from '#libs/contract';

export const refusedLink = Type.Object({
  kind: Type.Union([Type.Literal('person'), Type.Literal('holon')]),
  id: Type.Integer(),
  field: Type.String({ description: 'For example `links.website`.' }),
  problem: Type.String({ description: 'Why it would be refused today; the value itself is not shown.' }),
});

/** To be spread into the contract of the directory. */
export const refusedLinkRpcs = {
  listRefusedLinks: rpc({
    subject: 'admin.directory.links.list-refused',
    callers: byOperators,
    summary: 'Stored links, contact values and photos that would be refused today (D72).',
    request: Type.Object({}),
    reply: Type.Object({ items: Type.Array(refusedLink, { description: 'At most 1,000.' }) }),
    timeoutMs: 60_000,
  }),
} as const;
