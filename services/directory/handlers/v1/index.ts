/** What the directory answers on `/api/v1/` without writing, by resource. */
import type { Database } from '#libs/orm';
import { createV1ReadHandlers } from './reads.ts';

export function createV1Handlers(db: Database) {
  return { ...createV1ReadHandlers(db) };
}
