/**
 * `media.files.find-orphans`: comparison of the object store with what is recorded, a page of keys at a time. An object that no record and no upload names is an orphan and
 * may be deleted. A record whose object is missing is only told: a store that was restored half, or the wrong bucket, must not take the
 * records along.
 */
import type { ReplyOf, RequestOf } from '#libs/contract';
import type { Logger } from '#libs/logger';
import { type ObjectInfo, type ObjectStore, platformPrefix } from '#libs/object-store';
import type { Database } from '#libs/orm';
import type { media } from '../contract.ts';
import { listRecordedKeys, type RecordedKey } from './statements.ts';

type Request = RequestOf<typeof media.rpcs.findOrphans>;
type Reply = ReplyOf<typeof media.rpcs.findOrphans>;

const defaultPageSize = 500;
/** Records read for a page, for each of its objects. */
const recordsPerObject = 4;

export function createFindOrphans(deps: { db: Database; store: ObjectStore; logger: Logger }): (request: Request) => Promise<Reply> {
  return async ({ after, min_age_seconds: minAgeSeconds, delete: deletes, limit: pageSize = defaultPageSize }) => {
    const { db, store, logger } = deps;
    const from = after ?? '';
    // Objects first: each has had a record or an upload since before its first byte, unless it is an orphan.
    const [page, last] = await readPage(store, from, pageSize);
    const maxRecords = pageSize * recordsPerObject;
    const recorded = await listRecordedKeys(db, { after: from, upTo: last, limit: maxRecords });
    // A stretch with more records than are read at once ends with the last of them.
    const end = recorded.length === maxRecords ? (recorded.at(-1)?.key ?? last) : last;
    const objects = end === null ? page : page.filter(({ key }) => Buffer.compare(Buffer.from(key), Buffer.from(end)) <= 0);
    const names = new Set(recorded.map(({ key }) => key));
    const stored = new Set(objects.map(({ key }) => key));
    const oldest = Date.now() - minAgeSeconds * 1000;
    const orphans = objects.filter(({ key, modifiedAt }) => !names.has(key) && modifiedAt.getTime() <= oldest);
    const missing = await confirmMissing(store, recorded, stored, minAgeSeconds);
    let deleted = 0;
    if (deletes) {
      for (const { key } of orphans) {
        await store.delete(key);
        logger.info({ objectKey: key }, 'deleted an object that no record names');
        deleted += 1;
      }
    }
    return {
      orphans: orphans.map((item) => ({ key: item.key, size_bytes: item.sizeBytes, modified_at: item.modifiedAt.toISOString() })),
      missing: missing.map(({ key, blob_id: id, kind, conversation_id }) => ({ key, blob_id: id ?? 0, kind: kind ?? '', conversation_id })),
      deleted,
      scanned: objects.length,
      next: end,
    };
  };
}

/** One page of objects and the key that it ends with; null when it is the last one. */
async function readPage(store: ObjectStore, after: string, pageSize: number): Promise<[ObjectInfo[], string | null]> {
  const objects: ObjectInfo[] = [];
  for await (const object of store.list('', after === '' ? undefined : after)) {
    if (object.key.startsWith(platformPrefix)) continue;
    objects.push(object);
    if (objects.length === pageSize) return [objects, object.key];
  }
  return [objects, null];
}

/** Asked one by one: an object may have come since the page was read. */
async function confirmMissing(
  store: ObjectStore,
  recorded: readonly RecordedKey[],
  stored: ReadonlySet<string>,
  minAgeSeconds: number,
): Promise<RecordedKey[]> {
  const missing: RecordedKey[] = [];
  for (const record of recorded) {
    if (record.blob_id === null || stored.has(record.key) || record.age_seconds < minAgeSeconds) continue;
    if ((await store.head(record.key)) === undefined) missing.push(record);
  }
  return missing;
}
