/** Contract of erasing and merging people, which changes the uploaders of files. */
import { changeOrigin, withoutActor, rowId, rpc, Type } from '#libs/infrastructure/contract';

export const personDataRpcs = {
  erasePerson: rpc({
    subject: 'media.people.erase',
    callers: { directory: withoutActor },
    audit: 'person.erase',
    summary:
      'Removes a person as the uploader of files. The files themselves belong to conversations and holons and are kept. Idempotent.',
    request: Type.Object({
      person_id: rowId,
      account_ids: Type.Array(rowId, { maxItems: 10_000 }),
      dry_run: Type.Boolean(),
      by: changeOrigin,
    }),
    reply: Type.Object({ counts: Type.Object({ uploads_without_author: Type.Integer() }) }),
    timeoutMs: 60_000,
  }),
  mergePerson: rpc({
    subject: 'media.people.merge',
    callers: { directory: withoutActor },
    summary:
      'Replaces a merged person by the surviving one as the uploader of files (rules/people#merge-people; I3). Idempotent.',
    request: Type.Object({ gone_id: rowId, into_id: rowId, after: Type.Integer({ minimum: 0 }) }),
    reply: Type.Object({ next: Type.Null() }),
    timeoutMs: 60_000,
  }),
} as const;
