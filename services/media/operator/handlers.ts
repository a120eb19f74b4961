/** Handles operations for operators: orphaned objects, recorded erasures. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { RequestOf } from '#libs/infrastructure/contract';
import { parseJson } from '#libs/infrastructure/json';
import type { HandlersOf } from '#libs/infrastructure/nats';
import { erasuresPrefix, type ObjectInfo, type ObjectStore, platformPrefix } from '#libs/infrastructure/object-store';
import { compileSchema } from '#libs/infrastructure/schema';
import type { Dependencies } from '../dependencies.ts';
import { Erasure, type operatorRpcs } from './contract.ts';
import { listRecordedKeys, type RecordedKey } from './statements.ts';

const defaultPageSize = 500;
/** Maximum number of records that are read for a page, per object of the page. */
const recordsPerObject = 4;
const erasuresPerPage = 200;
const maxErasureBytes = 64 * 1024;
const contentType = 'application/json';
const checkErasure = compileSchema(Erasure);

type OperatorDependencies = Pick<Dependencies, 'db' | 'store' | 'logger'>;

export function createOperatorHandlers(deps: OperatorDependencies): HandlersOf<typeof operatorRpcs> {
  const { store } = deps;
  return {
    findOrphans: (request) => findOrphans(deps, request),
    recordErasure: async ({ person_id, digest, visitor_ids, telegram_user_ids }) => {
      const text = JSON.stringify({ person_id, digest, visitor_ids, telegram_user_ids });
      const key = `${erasuresPrefix}${person_id ?? 0}-${createHash('sha256').update(text).digest('hex').slice(0, 32)}.json`;
      if ((await store.head(key)) === undefined)
        await store.putStream(key, Readable.from([Buffer.from(text)]), { contentType });
      return {};
    },
    listErasures: async ({ after }) => {
      const items: Erasure[] = [];
      const damaged: string[] = [];
      let last: string | undefined;
      let count = 0;
      for await (const { key, sizeBytes } of store.list(
        erasuresPrefix,
        after === null ? undefined : erasuresPrefix + after,
      )) {
        if (count === erasuresPerPage) return { items, damaged, next: last ?? null };
        const erasure = sizeBytes > maxErasureBytes ? undefined : await readErasure(store, key);
        if (erasure === undefined) damaged.push(key);
        else items.push(erasure);
        last = key.slice(erasuresPrefix.length);
        count += 1;
      }
      return { items, damaged, next: null };
    },
  };
}

/**
 * Finds objects without a record, and deletes them on request. Records without an object are only reported: after a
 * partial restore of the object store, or with a wrong bucket setting, deleting them would lose data.
 */
async function findOrphans(
  { db, store, logger }: OperatorDependencies,
  request: RequestOf<typeof operatorRpcs.findOrphans>,
) {
  const { min_age_seconds: minAgeSeconds, delete: shouldDelete, limit: pageSize = defaultPageSize } = request;
  const after = request.after ?? '';
  // Objects are listed before records. An object with a record is then never reported as orphaned, because its record
  // is created before its first byte.
  const [page, last] = await readPage(store, after, pageSize);
  const maxRecords = pageSize * recordsPerObject;
  const recorded = await listRecordedKeys(db, { after, through: last, limit: maxRecords });
  // When there are more records than the limit, the page ends with the last record that was read.
  const end = recorded.length === maxRecords ? (recorded.at(-1)?.key ?? last) : last;
  const objects =
    end === null ? page : page.filter(({ key }) => Buffer.compare(Buffer.from(key), Buffer.from(end)) <= 0);
  const recordedKeys = new Set(recorded.map(({ key }) => key));
  const storedKeys = new Set(objects.map(({ key }) => key));
  const maxModifiedAt = Date.now() - minAgeSeconds * 1000;
  const orphans = objects.filter(
    ({ key, modifiedAt }) => !recordedKeys.has(key) && modifiedAt.getTime() <= maxModifiedAt,
  );
  const missing = await confirmMissing(store, recorded, storedKeys, minAgeSeconds);
  let deleted = 0;
  if (shouldDelete) {
    for (const { key } of orphans) {
      await store.delete(key);
      logger.info({ objectKey: key }, 'orphaned object deleted');
      deleted += 1;
    }
  }
  return {
    orphans: orphans.map((item) => ({
      key: item.key,
      size_bytes: item.sizeBytes,
      modified_at: item.modifiedAt.toISOString(),
    })),
    missing: missing.map(({ key, blob_id: id, kind, conversation_id }) => ({
      key,
      blob_id: id ?? 0,
      kind: kind ?? '',
      conversation_id,
    })),
    deleted,
    scanned: objects.length,
    next: end,
  };
}

/** Returns one page of objects and its last key; on the last page the key is null. */
async function readPage(store: ObjectStore, after: string, pageSize: number): Promise<[ObjectInfo[], string | null]> {
  const objects: ObjectInfo[] = [];
  for await (const object of store.list('', after === '' ? undefined : after)) {
    if (object.key.startsWith(platformPrefix)) continue;
    objects.push(object);
    if (objects.length === pageSize) return [objects, object.key];
  }
  return [objects, null];
}

/**
 * Returns records without an object. Each object is checked again, because it may have been stored after the page was
 * listed.
 */
async function confirmMissing(
  store: ObjectStore,
  recorded: readonly RecordedKey[],
  storedKeys: ReadonlySet<string>,
  minAgeSeconds: number,
): Promise<RecordedKey[]> {
  const missing: RecordedKey[] = [];
  for (const record of recorded) {
    if (record.blob_id === null || storedKeys.has(record.key) || record.age_seconds < minAgeSeconds) continue;
    if ((await store.head(record.key)) === undefined) missing.push(record);
  }
  return missing;
}

/** Returns the erasure record; returns undefined when the object is not a valid erasure record. */
async function readErasure(store: ObjectStore, key: string): Promise<Erasure | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of (await store.get(key))?.body ?? []) chunks.push(chunk as Buffer);
  try {
    const value = parseJson(Buffer.concat(chunks).toString('utf8'));
    return checkErasure(value) === undefined ? (value as Erasure) : undefined;
  } catch {
    return undefined;
  }
}
