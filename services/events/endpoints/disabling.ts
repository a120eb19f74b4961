/** Disabling an endpoint, by whomever: what waits is given up, and the account's feed says so (V6). */
import type { EventOutbox } from '#libs/feed';
import type { Tx } from '#libs/orm';
import { endpointFeed, type disabledReasons } from './contract.ts';
import { disable, giveUp } from './statements.ts';

/** @returns whether it was enabled until now */
export async function disableEndpoint(
  eventOutbox: EventOutbox,
  tx: Tx,
  id: number,
  reason: (typeof disabledReasons)[number],
): Promise<boolean> {
  const disabled = await disable(tx, { id, reason });
  if (disabled === undefined) return false;
  await giveUp(tx, { id });
  // Of an endpoint the one who may read is its account.
  eventOutbox.add(tx, endpointFeed.disabled, { subject: id, data: { reason }, access: { holons: [], people: [disabled.account_id] } });
  return true;
}
