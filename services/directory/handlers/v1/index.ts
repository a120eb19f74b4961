/** What the directory answers on `/api/v1/` without writing (spec 02), by resource. */
import type { Database } from '#libs/orm';
import { createV1ReadHandlers } from './reads.ts';

export function createV1Handlers(db: Database) {
  return { ...createV1ReadHandlers(db) };
}
