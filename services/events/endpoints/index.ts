/** Exports for other features. */
import type { EventOutbox } from '#libs/infrastructure/feed';
import type { Tx } from '#libs/infrastructure/orm';
import { endpointFeed, type disabledReasons } from './contract.ts';
import { cancelDeliveries, disable } from './statements.ts';

export { findOwner, type OwnerId } from './rules.ts';
export { getEndpoint, listEndpoints, lockEndpoint, markDeletedOf } from './statements.ts';

/**
 * Disables an endpoint, cancels its pending deliveries and emits the event (V6). @returns false when the endpoint was
 * already disabled
 */
export async function disableEndpoint(
  eventOutbox: EventOutbox,
  tx: Tx,
  id: number,
  reason: (typeof disabledReasons)[number],
): Promise<boolean> {
  const disabled = await disable(tx, { id, reason });
  if (disabled === undefined) return false;
  await cancelDeliveries(tx, { id });
  // Only the account of an endpoint can read its events. The access of the event stores this account as `people`.
  eventOutbox.add(tx, endpointFeed.disabled, {
    subject: id,
    data: { reason },
    access: { holons: [], people: [disabled.account_id] },
  });
  return true;
}
