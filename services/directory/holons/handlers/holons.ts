/**
 * Handlers of holons: reads, and visibility for other services (rules/holons#holons; D47, D48, D49).
 */
import { badRequest, notFound } from '#libs/infrastructure/errors';
import { entityTag } from '#libs/infrastructure/etag';
import { type HandlersOf, type RawJson, rawJson, type TaggedReply, withDigest } from '#libs/infrastructure/nats';
import type { Dependencies } from '../../dependencies.ts';
import { bodyOf, readAfter, readSort, recordPage, sampleShort } from '../../lists/index.ts';
import { readViewer, type Viewer } from '../../visibility/index.ts';
import type { HolonListQuery, holonRpcs } from '../contract.ts';
import { getHolon, getHolonBySlug, getHolons } from '../statements/holon.ts';
import {
  findCoveredHolons,
  findHolons,
  getHolonSubtree,
  getVisibleHolons,
  listCoveredHolons,
  listHolons,
  listHolonsOfClass,
} from '../statements/lists.ts';
import { createCreateHolon } from './create.ts';
import { createDeleteHolon } from './delete.ts';
import { createUpdateHolon } from './update.ts';

export function createHolonHandlers(
  deps: Pick<Dependencies, 'db' | 'bus' | 'jobs' | 'idempotency' | 'eventOutbox' | 'history'>,
): HandlersOf<typeof holonRpcs> {
  return {
    ...createHolonReadHandlers(deps),
    ...createVisibleHolonHandlers(deps),
    createHolon: createCreateHolon(deps),
    updateHolon: createUpdateHolon(deps),
    deleteHolon: createDeleteHolon(deps),
  };
}

type HolonReadHandlers = Pick<HandlersOf<typeof holonRpcs>, 'getHolons' | 'listHolons' | 'getHolon' | 'getHolonBySlug'>;

function createHolonReadHandlers({ db }: Pick<Dependencies, 'db'>): HolonReadHandlers {
  const list = async (request: HolonListQuery, viewer: Viewer) => {
    const { q, class: slug, parent, sort, limit = recordPage, offset = 0, ...after } = request;
    const order = readSort(sort);
    if (q === undefined && slug === undefined) throw badRequest('At least one of q and class must be given.');
    const { name, description } = await sampleShort(db, 'holons', q ?? '');
    const isRare = q !== undefined && q !== '' && !name && !description;
    const lists = isRare ? findHolons : slug === undefined ? listHolons : listHolonsOfClass;
    const row = await lists[order](db, { text: q, class: slug, parent, ...readAfter(after), limit, offset, ...viewer });
    if (row === undefined) throw badRequest(`class "${slug}" is not an active class.`);
    return bodyOf(row);
  };
  return {
    getHolons: async ({ ids = [], slugs = [] }) => bodyOf(await getHolons(db, { ids, slugs })),
    listHolons: (request, { actor }) => list(request, readViewer(actor)),
    getHolon: async ({ holon_id: id }, { actor }) => detailOf(await getHolon(db, { id, ...readViewer(actor) })),
    getHolonBySlug: async ({ slug }, { actor }) => detailOf(await getHolonBySlug(db, { slug, ...readViewer(actor) })),
  };
}

/** The ETag is the same for all callers, whose bodies differ (W12). */
function detailOf(row: { readonly body: string; readonly tag: string } | undefined): TaggedReply<RawJson> {
  if (row === undefined) throw notFound();
  return withDigest(rawJson(row.body), entityTag(row.tag));
}

type VisibleHolonHandlers = Pick<HandlersOf<typeof holonRpcs>, 'holonSubtree' | 'visibleHolons' | 'coveredHolons'>;

export function createVisibleHolonHandlers({ db }: Pick<Dependencies, 'db'>): VisibleHolonHandlers {
  return {
    holonSubtree: async ({ slug }, { actor }) => bodyOf(await getHolonSubtree(db, { slug, ...readViewer(actor) })),
    visibleHolons: async ({ account_id: accountId, ids = [], slugs = [] }) =>
      bodyOf(await getVisibleHolons(db, { ids, slugs, accountId })),
    coveredHolons: async ({ account_id: accountId, ids }) =>
      bodyOf(
        await (ids === undefined ? listCoveredHolons(db, { accountId }) : findCoveredHolons(db, { accountId, ids })),
      ),
  };
}
