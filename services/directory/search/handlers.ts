/** Search over people and holons (rules/people#search; D42): a sample, then one statement. */
import { badRequest } from '#libs/errors';
import type { Handler } from '#libs/nats';
import type { Database } from '#libs/orm';
import { bodyOf } from '../lists/index.ts';
import { readViewer } from '../visibility/index.ts';
import { type searchRpcs, usualResults } from './contract.ts';
import { searchRare } from './statements/rare.ts';
import { sampleSearch } from './statements/shared.ts';
import { searchTiers } from './statements/tiers.ts';

export function createSearchDirectory(db: Database): Handler<typeof searchRpcs.searchDirectory> {
  return async ({ q, types, limit_per_type: limit = usualResults }, { actor }) => {
    const asked = { text: q, limit, kinds: readTypes(types), ...readViewer(actor) };
    const { rare, frequent } = await sampleSearch(db, { text: q });
    if (rare && !isWrittenOtherwise(q)) return bodyOf(await searchRare(db, asked));
    const [inManyPeople = false, inManyPeopleDescriptions = false, inManyHolons = false, inManyHolonDescriptions = false] = frequent;
    const inMany = { inManyPeople, inManyPeopleDescriptions, inManyHolons, inManyHolonDescriptions };
    return bodyOf(await searchTiers(db, { ...asked, ...inMany }));
  };
}

/** A phone number, or an email that its owner's contact may hold in other signs: they are found by their keys, in tiers. */
const isWrittenOtherwise = (q: string): boolean =>
  /^\s*(?:tel:)?[+0-9 ()./-]{5,500}$/i.test(q.normalize('NFKC')) || (q.includes('@') && /^mailto:|[^!-~]|xn--/i.test(q.trim()));

/** The kinds asked for, once each. @throws AppError bad_request */
function readTypes(types: string | undefined): string[] {
  const asked = types === undefined ? ['person', 'holon'] : types.split(',').map((type) => type.trim());
  if (!asked.every((type) => type === 'person' || type === 'holon')) throw badRequest('types must be a list of person and holon.');
  return [...new Set(asked)];
}
