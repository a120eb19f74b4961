/** Which holons a caller sees, for filters of other services (D18f, D48, D49). */
import type { Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { directory } from '../../contract.ts';
import { readBody, readBodyFor } from '../../read-body.ts';
import { findCoveredHolons, getHolonSubtree, getVisibleHolons, listCoveredHolons } from '../statements/visible.ts';

type VisibleHolonHandlers = Pick<Handlers<typeof directory>, 'holonSubtree' | 'visibleHolons' | 'coveredHolons'>;

export function createVisibleHolonHandlers(db: Database): VisibleHolonHandlers {
  return {
    holonSubtree: ({ slug }, { actor }) => readBodyFor(db, actor, getHolonSubtree, slug),
    visibleHolons: ({ account_id: accountId, ids = [], slugs = [] }) => readBody(db, getVisibleHolons, ids, slugs, false, accountId),
    coveredHolons: ({ account_id: accountId, ids }) =>
      ids === undefined ? readBody(db, listCoveredHolons, accountId) : readBody(db, findCoveredHolons, accountId, ids),
  };
}
