/** Search of the open API (rules/people#search; D42). */
import { route } from '#libs/contract';
import { directory, searchQuery } from '#services/directory';

export const searchV1Routes = [
  route({
    method: 'GET',
    path: '/api/v1/search',
    operationId: 'searchDirectory',
    tag: 'search',
    summary: 'Search people and holons',
    description:
      'Best first: the exact name, the start of the name, the start of a word in it, any part of it. Contact values of people and link values of ' +
      'holons rank like names; matches in the description only rank last. Equal ranks are ordered by name and id.',
    auth: 'v1',
    scope: 'directory:read',
    query: searchQuery,
    rpc: directory.rpcs.searchDirectory,
    replies: { 200: { description: 'The best results of each kind, ranked together.', schema: directory.rpcs.searchDirectory.reply } },
  }),
];
