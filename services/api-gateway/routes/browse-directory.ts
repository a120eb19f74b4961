/** Holons and people for public pages (rules/discovery#browse; D17, D18, D18c, D18e, D18f). */
import { route, Type } from '#libs/contract';
import { BrowsedHolon, directory, LookupIds, PublicHolon, PublicPerson } from '#services/directory';

const path = '/api/coherence/browse';
const query = Type.Object({ ids: LookupIds });

export const browseDirectoryRoutes = [
  route({
    method: 'GET',
    path: `${path}/holons/{holon_slug}`,
    operationId: 'browseHolon',
    tag: 'browse',
    summary: 'Browse the conversation events of a holon',
    description:
      'Immediate child events, by name and id, and the conversation journeys attached directly to each, in the order in which they are attached. ' +
      'Nothing is inherited.',
    auth: 'shared-or-user',
    scope: 'conversations:read',
    params: Type.Object({ holon_slug: Type.String({ description: 'Slug of the holon.' }) }),
    rpc: directory.rpcs.browseHolon,
    etag: true,
    replies: { 200: { description: 'The holon and its events.', schema: BrowsedHolon } },
    errors: { not_found: { code: 'not_found', when: 'The holon does not exist or is not visible to the caller.' } },
  }),
  route({
    method: 'GET',
    path: `${path}/persons`,
    operationId: 'lookUpPersons',
    tag: 'browse',
    summary: 'Look up people by id',
    description: 'Unknown ids are skipped; the order is not guaranteed.',
    auth: 'shared-or-user',
    scope: 'conversations:read',
    query,
    rpc: directory.rpcs.lookUpPeople,
    replies: { 200: { description: 'The people found, without duplicates.', schema: Type.Array(PublicPerson) } },
  }),
  route({
    method: 'GET',
    path: `${path}/holons`,
    operationId: 'lookUpHolons',
    tag: 'browse',
    summary: 'Look up holons by id',
    description: 'Unknown ids and holons that are not visible to the caller are skipped; the order is not guaranteed.',
    auth: 'shared-or-user',
    scope: 'conversations:read',
    query,
    rpc: directory.rpcs.lookUpHolons,
    replies: { 200: { description: 'The holons found, without duplicates.', schema: Type.Array(PublicHolon) } },
  }),
];
