/** Reads of holons, for the open API as far as the caller may see them (rules/holons#holons; D47, D48). */
import { badRequest } from '#libs/errors';
import type { Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import { bodyOf } from '../../body.ts';
import type { directory } from '../../contract.ts';
import { readAfter, readSort, recordPage } from '../../record-list.ts';
import { sampleShort } from '../../short-text.ts';
import { readViewer, type Viewer } from '../../viewer.ts';
import type { HolonListQuery } from '../contract.ts';
import { findHolons, listHolons, listHolonsOfClass } from '../statements/lists.ts';
import { getHolon, getHolonBySlug, getHolons } from '../statements/read.ts';

type HolonReadHandlers = Pick<Handlers<typeof directory>, 'getHolons' | 'listHolons' | 'searchHolons' | 'getHolon' | 'getHolonBySlug'>;

export function createHolonReadHandlers(db: Database): HolonReadHandlers {
  const list = async (request: HolonListQuery, viewer: Viewer) => {
    const { q, class: slug, parent, sort, limit = recordPage, offset = 0, ...after } = request;
    const order = readSort(sort);
    if (q === undefined && slug === undefined) throw badRequest('At least one of q and class must be given.');
    const { name, description } = await sampleShort(db, 'holons', q ?? '');
    const isRare = q !== undefined && q !== '' && !name && !description;
    const lists = isRare ? findHolons : slug === undefined ? listHolons : listHolonsOfClass;
    const row = await lists[order](db, { text: q, class: slug, parent, ...readAfter(after), limit, offset, ...viewer });
    if (row === undefined) throw badRequest(`There is no active class "${slug}".`);
    return bodyOf(row);
  };
  return {
    getHolons: async ({ ids = [], slugs = [] }) => bodyOf(await getHolons(db, { ids, slugs })),
    listHolons: (request, { actor }) => list(request, readViewer(actor)),
    searchHolons: (request) => list(request, { seesAll: true, accountId: null }),
    getHolon: async ({ holon_id: id }, { actor }) => bodyOf(await getHolon(db, { id, ...readViewer(actor) })),
    getHolonBySlug: async ({ slug }, { actor }) => bodyOf(await getHolonBySlug(db, { slug, ...readViewer(actor) })),
  };
}
