/** Searches people and holons (rules/people#search; D42): one sample statement, then one search statement. */
import { badRequest } from '#libs/infrastructure/errors';
import type { HandlersOf } from '#libs/infrastructure/nats';
import type { Dependencies } from '../dependencies.ts';
import { bodyOf } from '../lists/index.ts';
import { readViewer } from '../visibility/index.ts';
import { type searchRpcs, defaultResults } from './contract.ts';
import { searchRare } from './statements/rare.ts';
import { sampleSearch } from './statements/shared.ts';
import { searchTiers } from './statements/tiers.ts';

export function createSearchHandlers({ db }: Pick<Dependencies, 'db'>): HandlersOf<typeof searchRpcs> {
  return {
    searchDirectory: async ({ q, types, limit_per_type: limit = defaultResults }, { actor }) => {
      const params = { text: q, limit, kinds: readTypes(types), ...readViewer(actor) };
      const { rare, frequent } = await sampleSearch(db, { text: q });
      if (rare && !isWrittenOtherwise(q)) return bodyOf(await searchRare(db, params));
      const [
        inManyPeople = false,
        inManyPeopleDescriptions = false,
        inManyHolons = false,
        inManyHolonDescriptions = false,
      ] = frequent;
      const inMany = { inManyPeople, inManyPeopleDescriptions, inManyHolons, inManyHolonDescriptions };
      return bodyOf(await searchTiers(db, { ...params, ...inMany }));
    },
  };
}

/**
 * Whether the text can be a phone number, or an email stored in another notation. Such addresses are found by their
 * keys, in tiers.
 */
const isWrittenOtherwise = (q: string): boolean =>
  /^\s*(?:tel:)?[+0-9 ()./-]{5,500}$/i.test(q.normalize('NFKC')) ||
  (q.includes('@') && /^mailto:|[^!-~]|xn--/i.test(q.trim()));

/** Returns the requested kinds without duplicates. @throws AppError bad_request */
function readTypes(types: string | undefined): string[] {
  const kinds = types === undefined ? ['person', 'holon'] : types.split(',').map((type) => type.trim());
  if (!kinds.every((type) => type === 'person' || type === 'holon'))
    throw badRequest('types must be a list of person and holon.');
  return [...new Set(kinds)];
}
