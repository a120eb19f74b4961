/** What alerts and operators count of receipts. */
import type { Queryable } from '#libs/sql';
import { countReceipts } from './statements.ts';

/** For the overview of operators (P1). */
export async function countWebhooks(db: Queryable) {
  return (await countReceipts(db)).map(({ source, ...count }) => ({ kind: source, ...count }));
}
