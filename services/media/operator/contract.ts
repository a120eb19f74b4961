/** Contract of operations for operators: stored objects, recorded erasures. */
import { byGateway, byOperators, rowId, rpc, type Static, Type, withoutActor } from '#libs/infrastructure/contract';
import { nullableId } from '../schemas.ts';

const maxIds = 100;

/**
 * A completed erasure, which is stored in the object store and not in the database (rules/operations#after-a-restore).
 */
export const Erasure = Type.Object({
  person_id: Type.Union([rowId, Type.Null()], { description: 'Null: only chats were erased.' }),
  digest: Type.Union([Type.String({ pattern: '^[0-9a-f]{64}$' }), Type.Null()], {
    description:
      'Digest of the person, computed by the directory. Differs when the id is later given to another person. Null when the person no longer existed.',
  }),
  visitor_ids: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: maxIds }),
  telegram_user_ids: Type.Array(Type.Integer({ minimum: 1 }), { maxItems: maxIds }),
});
export type Erasure = Static<typeof Erasure>;

export const operatorRpcs = {
  findOrphans: rpc({
    subject: 'admin.media.files.find-orphans',
    callers: byOperators,
    summary:
      'Compares one page of the object store with the records. Objects without a record can be deleted; records without an object are only reported.',
    request: Type.Object({
      after: Type.Union([Type.String({ maxLength: 1_024 }), Type.Null()], {
        description: '`next` of the previous page; null starts at the first object.',
      }),
      min_age_seconds: Type.Integer({
        minimum: 0,
        maximum: 315_360_000,
        description: 'Younger objects and records are skipped, because their upload may be in progress.',
      }),
      delete: Type.Boolean({ description: 'False: report only.' }),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: 'Objects per page. Default 500.' })),
    }),
    reply: Type.Object({
      orphans: Type.Array(
        Type.Object({
          key: Type.String(),
          size_bytes: Type.Integer(),
          modified_at: Type.String({ format: 'date-time' }),
        }),
      ),
      missing: Type.Array(
        Type.Object({ key: Type.String(), blob_id: Type.Integer(), kind: Type.String(), conversation_id: nullableId }),
      ),
      deleted: Type.Integer({ description: 'Number of deleted orphans.' }),
      scanned: Type.Integer({ description: 'Number of objects on this page.' }),
      next: Type.Union([Type.String(), Type.Null()], {
        description: 'Cursor of the next page; null on the last page.',
      }),
    }),
    timeoutMs: 120_000,
  }),
  recordErasure: rpc({
    subject: 'media.erasures.record',
    callers: { ...byGateway, directory: withoutActor },
    summary: 'Records in the object store that a person or chats were erased. Stores ids and digests only. Idempotent.',
    request: Erasure,
    reply: Type.Object({}),
  }),
  listErasures: rpc({
    subject: 'admin.media.erasures.list',
    callers: byOperators,
    summary: 'Lists one page of recorded erasures.',
    request: Type.Object({
      after: Type.Union([Type.String({ maxLength: 100 }), Type.Null()], {
        description: '`next` of the previous page.',
      }),
    }),
    reply: Type.Object({
      items: Type.Array(Erasure),
      damaged: Type.Array(Type.String(), { description: 'Keys of objects that are not valid erasure records.' }),
      next: Type.Union([Type.String(), Type.Null()]),
    }),
    timeoutMs: 60_000,
  }),
};
