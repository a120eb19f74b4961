/** Public conversation metadata, holons and people (rules/discovery#browse; D17 to D18f, D28). */
import { route, Type } from '#libs/infrastructure/contract';
import { BrowsedEvents, BrowsedJourney, conversations } from '#services/conversations';
import { BrowsedHolon, directory, LookupIds, PublicHolon, PublicPerson } from '#services/directory';

const path = '/api/coherence/browse';
const holonSlug = Type.String({ description: 'Slug of the holon.' });

export const browseRoutes = [
  route({
    method: 'GET',
    path: `${path}/holons/{holon_slug}/conversations`,
    operationId: 'browseHolonConversations',
    tag: 'browse',
    summary: "Browse the conversations of a holon's events",
    description:
      'Immediate child events and journeys attached directly to them; nothing is inherited. A conversation is in a group when its journey is the ' +
      "group's and the event owns it or is linked to it. Newest start first, then id.",
    auth: 'shared-or-user',
    scope: 'conversations:read',
    params: Type.Object({ holon_slug: holonSlug }),
    rpc: conversations.rpcs.browseHolon,
    replies: { 200: { description: 'Events with their journeys and conversations.', schema: BrowsedEvents } },
    errors: { not_found: { code: 'not_found', when: 'The holon does not exist.' } },
  }),
  route({
    method: 'GET',
    path: `${path}/conversations`,
    operationId: 'browseJourneyConversations',
    tag: 'browse',
    summary: 'Browse the conversations of a journey',
    description:
      'Exactly one of `journey_id` and `journey_slug`. Without `holon_slug` all conversations of the journey, including conversations without a holon; ' +
      'with it the conversations that the event owns or that are linked to it. Newest start first, then id.',
    auth: 'shared-or-user',
    scope: 'conversations:read',
    query: Type.Object({
      journey_id: Type.Optional(Type.Integer({ description: 'Id of a conversation journey.' })),
      journey_slug: Type.Optional(Type.String({ description: 'Slug of a conversation journey.' })),
      holon_slug: Type.Optional(Type.String({ description: 'Slug of an event.' })),
    }),
    rpc: conversations.rpcs.browseJourney,
    replies: { 200: { description: 'The journey with its conversations.', schema: BrowsedJourney } },
    errors: { not_found: { code: 'not_found', when: 'The conversation journey or holon does not exist.' } },
  }),
];

const lookupQuery = Type.Object({ ids: LookupIds });

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
    query: lookupQuery,
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
    query: lookupQuery,
    rpc: directory.rpcs.lookUpHolons,
    replies: { 200: { description: 'The holons found, without duplicates.', schema: Type.Array(PublicHolon) } },
  }),
];
