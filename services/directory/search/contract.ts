/** Search over people and holons (rules/people#search; D42). */
import { byUsers, listParameter, rpc, type Static, Type } from '#libs/infrastructure/contract';
import { HolonListItem, limitParameter, PersonListItem, searchText, v1Errors } from '../api-objects/contract.ts';

const hit = {
  id: Type.Integer(),
  score: Type.Number({
    description: 'Best match: exact 1, start of the name 0.8, start of a word 0.6, anywhere 0.4, description 0.2.',
  }),
  matched_field: Type.Union([Type.Literal('name'), Type.Literal('channel'), Type.Literal('description')], {
    description: '`channel`: a contact value of a person, a link value of a holon.',
  }),
};

export const SearchHit = Type.Union(
  [
    Type.Object({ kind: Type.Literal('person'), ...hit, person: PersonListItem }, { $id: 'PersonHit' }),
    Type.Object({ kind: Type.Literal('holon'), ...hit, holon: HolonListItem }, { $id: 'HolonHit' }),
  ],
  { $id: 'SearchHit', description: 'A result. Sorted by score, name and id.' },
);

/** Default number of results per kind (rules/http#limits). */
export const defaultResults = 20;

export const searchQuery = Type.Object({
  q: searchText(
    'At least two characters, ignoring case and accents; `%` and `_` are literal. Searches the first 10,000 characters of descriptions.',
    { minLength: 2 },
  ),
  types: Type.Optional(
    listParameter({
      usual: ['person', 'holon'],
      words: ['person', 'holon'],
      description: 'Subset of `person` and `holon`. Default: both.',
    }),
  ),
  limit_per_type: limitParameter({ usual: defaultResults, most: 50, of: 'Results of each kind' }),
});
export type SearchQuery = Static<typeof searchQuery>;

export const searchRpcs = {
  searchDirectory: rpc({
    subject: 'directory.search.find',
    callers: byUsers,
    summary: 'Searches people and holons by name, channels and description, ranked (rules/people#search; D42).',
    request: searchQuery,
    reply: Type.Object({
      query: Type.String(),
      types: Type.Array(Type.Union([Type.Literal('person'), Type.Literal('holon')])),
      limit_per_type: Type.Integer(),
      count: Type.Integer({ minimum: 0, description: 'Results returned.' }),
      items: Type.Array(SearchHit),
    }),
    errors: v1Errors.validation('`types` contains a value other than `person` and `holon`.'),
  }),
} as const;
