/** Which holons a caller sees, for filters of other services (D18f, D48, D49). */
import type { Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import { bodyOf } from '../../body.ts';
import type { directory } from '../../contract.ts';
import { readViewer } from '../../viewer.ts';
import { findCoveredHolons, getHolonSubtree, getVisibleHolons, listCoveredHolons } from '../statements/visible.ts';

type VisibleHolonHandlers = Pick<Handlers<typeof directory>, 'holonSubtree' | 'wholeSubtree' | 'visibleHolons' | 'coveredHolons'>;

export function createVisibleHolonHandlers(db: Database): VisibleHolonHandlers {
  return {
    holonSubtree: async ({ slug }, { actor }) => bodyOf(await getHolonSubtree(db, { slug, ...readViewer(actor) })),
    wholeSubtree: async ({ slug }) => bodyOf(await getHolonSubtree(db, { slug, seesAll: true, accountId: null })),
    visibleHolons: async ({ account_id: accountId, ids = [], slugs = [] }) => bodyOf(await getVisibleHolons(db, { ids, slugs, accountId })),
    coveredHolons: async ({ account_id: accountId, ids }) =>
      bodyOf(await (ids === undefined ? listCoveredHolons(db, { accountId }) : findCoveredHolons(db, { accountId, ids }))),
  };
}
