/** Contract: what a person wrote to agents and was answered, for `people export` of the admin CLI. */
import { byOperators, rowId, rpc, Type } from '#libs/contract';

/** To be spread into the contract of the service. */
export const personDataRpcs = {
  exportPerson: rpc({
    subject: 'admin.agents.people.export',
    callers: byOperators,
    summary:
      'One page of the messages of one person with all agents: as visitors, in private chats, what they asked in groups, and what they wrote as operators.',
    request: Type.Object({
      visitor_ids: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 100 }),
      telegram_user_ids: Type.Array(Type.Integer({ minimum: 1 }), { maxItems: 100 }),
      account_ids: Type.Optional(Type.Array(rowId, { maxItems: 10_000, description: 'Of operators.' })),
      after: Type.Integer({ minimum: 0, description: '`next` of the page before; 0 at first.' }),
    }),
    reply: Type.Object({ items: Type.Array(Type.Unknown()), next: Type.Union([Type.Integer(), Type.Null()]) }),
    timeoutMs: 60_000,
  }),
} as const;
