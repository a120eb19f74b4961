/** Who was erased, as small objects: a database that is put back to an earlier moment does not put them back, too. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { parseJson } from '#libs/json';
import type { Handlers } from '#libs/nats';
import { erasuresPrefix, type ObjectStore } from '#libs/object-store';
import { compileSchema } from '#libs/schema';
import type { media } from '../contract.ts';
import { Erasure } from './contract.ts';

const entriesOfPage = 200;
const maxEntryBytes = 64 * 1024;
const contentType = 'application/json';
const check = compileSchema(Erasure);

export function createErasureHandlers(store: ObjectStore): Pick<Handlers<typeof media>, 'recordErasure' | 'listErasures'> {
  return {
    recordErasure: async ({ person_id, digest, visitor_ids, telegram_user_ids }) => {
      const text = JSON.stringify({ person_id, digest, visitor_ids, telegram_user_ids });
      const key = `${erasuresPrefix}${person_id ?? 0}-${createHash('sha256').update(text).digest('hex').slice(0, 32)}.json`;
      if ((await store.head(key)) === undefined) await store.putStream(key, Readable.from([Buffer.from(text)]), { contentType });
      return {};
    },
    listErasures: async ({ after }) => {
      const items: Erasure[] = [];
      const damaged: string[] = [];
      let last: string | undefined;
      let count = 0;
      for await (const { key, sizeBytes } of store.list(erasuresPrefix, after === null ? undefined : erasuresPrefix + after)) {
        if (count === entriesOfPage) return { items, damaged, next: last ?? null };
        const entry = sizeBytes > maxEntryBytes ? undefined : await readEntry(store, key);
        if (entry === undefined) damaged.push(key);
        else items.push(entry);
        last = key.slice(erasuresPrefix.length);
        count += 1;
      }
      return { items, damaged, next: null };
    },
  };
}

async function readEntry(store: ObjectStore, key: string): Promise<Erasure | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of (await store.get(key))?.body ?? []) chunks.push(chunk as Buffer);
  try {
    const value = parseJson(Buffer.concat(chunks).toString('utf8'));
    return check(value) === undefined ? (value as Erasure) : undefined;
  } catch {
    return undefined;
  }
}
