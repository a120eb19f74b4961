/** Contract: who was erased, kept outside the database (rules/operations#after-a-restore). */
import { byOperators, rowId, rpc, type Static, Type } from '#libs/contract';

const mostIds = 100;

const erasure = {
  person_id: Type.Union([rowId, Type.Null()], { description: 'Null: only chats were forgotten.' }),
  digest: Type.Union([Type.String({ pattern: '^[0-9a-f]{64}$' }), Type.Null()], {
    description:
      'Of the person, as the directory tells it: another person who has the id later has another. Null: nobody was left to tell.',
  }),
  visitor_ids: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: mostIds }),
  telegram_user_ids: Type.Array(Type.Integer({ minimum: 1 }), { maxItems: mostIds }),
};
export const Erasure = Type.Object(erasure);
export type Erasure = Static<typeof Erasure>;

export const erasureRpcs = {
  recordErasure: rpc({
    subject: 'admin.media.erasures.record',
    callers: byOperators,
    summary: 'Remembers in the object store that a person is erased, or chats are forgotten: ids and digests, nothing else. Repeatable.',
    request: Erasure,
    reply: Type.Object({}),
  }),
  listErasures: rpc({
    subject: 'admin.media.erasures.list',
    callers: byOperators,
    summary: 'One page of who was erased.',
    request: Type.Object({
      after: Type.Union([Type.String({ maxLength: 100 }), Type.Null()], { description: '`next` of the page before.' }),
    }),
    reply: Type.Object({
      items: Type.Array(Erasure),
      damaged: Type.Array(Type.String(), { description: 'Keys of objects that are no such entry.' }),
      next: Type.Union([Type.String(), Type.Null()]),
    }),
    timeoutMs: 60_000,
  }),
};
