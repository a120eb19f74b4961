/** The feed of events of the open API (rules/events#feed; V3). */
import { route } from '#libs/contract';
import { eventPage, events, feedQuery } from '#services/events';

const { readFeed } = events.rpcs;
/** What a client waits in. */
export const followed = readFeed;

export const eventRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/events',
    operationId: 'listEvents',
    tag: 'events',
    summary: 'Follow the event feed',
    description:
      'Events in order, limited to objects that the caller can read. Store `next` and send it as `after` in the next request; with `wait` the request ' +
      'waits for new events. Every event is returned once; no event appears before a cursor later.',
    auth: 'v1',
    scope: 'events:read',
    query: feedQuery,
    rpc: readFeed,
    deadlineMs: readFeed.timeoutMs,
    replies: { 200: { description: 'A page of events.', schema: eventPage } },
    errors: {
      rate_limited: { code: 'rate_limited', when: 'The account already has `EVENTS_WAITING_PER_ACCOUNT` (20) waiting requests.' },
    },
  }),
];
