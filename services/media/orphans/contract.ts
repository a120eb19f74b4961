/** The comparison of the object store with what is recorded. */
import { byOperators, rpc, Type } from '#libs/contract';
import { nullableId } from '../schemas.ts';

export const orphanRpcs = {
  findOrphans: rpc({
    subject: 'admin.media.files.find-orphans',
    callers: byOperators,
    summary:
      'One page of the comparison of object store and records: objects that no record names, which can be deleted, and records whose object is missing, which are only told.',
    request: Type.Object({
      after: Type.Union([Type.String({ maxLength: 1_024 }), Type.Null()], {
        description: '`next` of the page before; null = from the beginning.',
      }),
      min_age_seconds: Type.Integer({
        minimum: 0,
        maximum: 315_360_000,
        description: 'What is younger is left out: it may be on its way.',
      }),
      delete: Type.Boolean({ description: 'False: only look.' }),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, description: 'Objects of the page; default 500.' })),
    }),
    reply: Type.Object({
      orphans: Type.Array(
        Type.Object({ key: Type.String(), size_bytes: Type.Integer(), modified_at: Type.String({ format: 'date-time' }) }),
      ),
      missing: Type.Array(Type.Object({ key: Type.String(), blob_id: Type.Integer(), kind: Type.String(), conversation_id: nullableId })),
      deleted: Type.Integer({ description: 'How many of `orphans` are deleted.' }),
      scanned: Type.Integer({ description: 'Objects of this page.' }),
      next: Type.Union([Type.String(), Type.Null()], { description: 'Where the next page begins; null at the end.' }),
    }),
    timeoutMs: 120_000,
  }),
};
