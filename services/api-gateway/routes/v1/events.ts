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
    summary: 'Follow what happens',
    description:
      'Events in one order, as far as the caller may read what they are about. Keep `next` and ask again with `after`; with `wait` the answer ' +
      'comes when something does. Nothing is told twice or left out, and nothing appears behind a cursor.',
    auth: 'v1',
    scope: 'events:read',
    query: feedQuery,
    rpc: readFeed,
    deadlineMs: readFeed.timeoutMs,
    replies: { 200: { description: 'A page of events.', schema: eventPage } },
    errors: {
      rate_limited: { code: 'rate_limited', when: 'The account already has `EVENTS_WAITING_PER_ACCOUNT` (20) requests that wait.' },
    },
  }),
];
