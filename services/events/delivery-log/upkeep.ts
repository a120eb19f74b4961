/** Removes deliveries older than the feed, and those of deleted endpoints. */
import type { Database } from '#libs/orm';
import { removeInBatches } from '#libs/retention';
import type { EventsConfig } from '../config.ts';
import { dropEndpoints, dropOld } from './statements.ts';

const dayMs = 86_400_000;

export async function dropOldDeliveries({
  db,
  config,
  signal,
}: {
  readonly db: Database;
  readonly config: Pick<EventsConfig, 'EVENTS_RETENTION_DAYS'>;
  readonly signal?: AbortSignal | undefined;
}): Promise<void> {
  const before = new Date(Date.now() - config.EVENTS_RETENTION_DAYS * dayMs).toISOString();
  await removeInBatches({ remove: async (limit) => (await dropOld(db, { before, limit })).count, signal });
  await dropEndpoints(db);
}
