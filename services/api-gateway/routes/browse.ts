/** Public conversation metadata (rules/discovery#browse; D17, D18a to D18f, D28). */
import { route, Type } from '#libs/contract';
import { BrowsedEvents, BrowsedJourney, conversations } from '#services/conversations';

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
