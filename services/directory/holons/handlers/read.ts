/** Reads of holons, for the open API as far as the caller may see them (rules/holons#holons; D47, D48). */
import { badRequest } from '#libs/errors';
import { rawJson, type Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { directory } from '../../contract.ts';
import { readBody, readBodyFor } from '../../read-body.ts';
import { readAfter, readSort, recordPage } from '../../record-list.ts';
import { sampleShort } from '../../short-text.ts';
import { readViewer } from '../../viewer.ts';
import { findHolons, getHolon, getHolonBySlug, getHolons, listHolons, listHolonsOfClass } from '../statements/read.ts';

type HolonReadHandlers = Pick<Handlers<typeof directory>, 'getHolons' | 'listHolons' | 'getHolon' | 'getHolonBySlug'>;

export function createHolonReadHandlers(db: Database): HolonReadHandlers {
  return {
    getHolons: ({ ids = [], slugs = [] }) => readBody(db, getHolons, ids, slugs),
    listHolons: async ({ q, class: slug, parent, sort, limit = recordPage, offset = 0, ...after }, { actor }) => {
      const order = readSort(sort);
      if (q === undefined && slug === undefined) throw badRequest('At least one of q and class must be given.');
      const params = [q ?? null, slug ?? null, parent ?? null, ...readAfter(after), limit, offset, ...readViewer(actor)];
      const { name, description } = await sampleShort(db, 'holons', q ?? '');
      const isRare = q !== undefined && q !== '' && !name && !description;
      const lists = isRare ? findHolons : slug === undefined ? listHolons : listHolonsOfClass;
      const [row] = await db.query<{ body: string }>(lists[order], params);
      if (row === undefined) throw badRequest(`There is no active class "${slug}".`);
      return rawJson(row.body);
    },
    getHolon: ({ holon_id: id }, { actor }) => readBodyFor(db, actor, getHolon, id),
    getHolonBySlug: ({ slug }, { actor }) => readBodyFor(db, actor, getHolonBySlug, slug),
  };
}
