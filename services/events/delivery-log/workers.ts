/** Deletes deliveries older than the feed, and deliveries of deleted endpoints. */
import { removeInBatches } from '#libs/infrastructure/retention';
import type { Dependencies } from '../dependencies.ts';
import { deleteEndpoints, deleteOldDeliveries } from './statements.ts';

const dayMs = 86_400_000;

export async function removeOldDeliveries({
  db,
  config,
  signal,
}: Pick<Dependencies, 'db'> & {
  readonly config: Pick<Dependencies['config'], 'EVENTS_RETENTION_DAYS'>;
  readonly signal?: AbortSignal | undefined;
}): Promise<void> {
  const before = new Date(Date.now() - config.EVENTS_RETENTION_DAYS * dayMs).toISOString();
  await removeInBatches({ remove: async (limit) => (await deleteOldDeliveries(db, { before, limit })).count, signal });
  await deleteEndpoints(db);
}
