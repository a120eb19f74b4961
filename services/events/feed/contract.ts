/** Contract of the feed: reading pages, and its retention (rules/events#feed; V1 to V4, V10). */
import {
  byUsers,
  event,
  type FeedEvent,
  feedSubjects,
  listParameter,
  notAnOperator,
  rpc,
  type Static,
  Type,
} from '#libs/infrastructure/contract';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { media } from '#services/media';
import { transcripts } from '#services/transcripts';
import { endpointFeed } from '../endpoints/contract.ts';

/**
 * Events by publishing service, from the contracts of the services (V1). The OpenAPI and AsyncAPI documents use this
 * order.
 */
export const feedPublishers: ReadonlyMap<string, readonly FeedEvent[]> = new Map([
  ...[conversations, media, transcripts, directory].map(
    ({ service, feed }) => [service, Object.values<FeedEvent>(feed)] as const,
  ),
  ['events', Object.values<FeedEvent>(endpointFeed)],
]);

/** All types of events. */
export const feedTypes: readonly FeedEvent[] = [...feedPublishers.values()].flat();

/** Maximum time for which a request waits for events (V3). */
export const maxWaitSeconds = 30;
export const defaultEventLimit = 100;
const maxLimit = 500;

export const PublicEvent = Type.Object(
  {
    id: Type.String({ description: 'Id of the event, `evt_…`; the same in the feed and in all deliveries.' }),
    type: Type.String({ description: 'Type of the event, for example `conversation.created`.' }),
    occurred_at: Type.String({ format: 'date-time', description: 'Time of the change.' }),
    subject: Type.Object(
      { type: Type.Enum([...feedSubjects]), id: Type.Integer({ description: 'Id of the subject.' }) },
      { description: 'Subject of the event. Visible to callers who can read it.' },
    ),
    data: Type.Object(
      {},
      {
        additionalProperties: true,
        description: 'Ids, slugs and enumerations. Read the subject for its other fields.',
      },
    ),
    cursor: Type.String({ description: 'Position in the feed; pass it as `after` to read later events.' }),
  },
  { $id: 'Event', description: 'An event of the feed.' },
);
export type PublicEvent = Static<typeof PublicEvent>;

export const eventPage = Type.Object({
  items: Type.Array(PublicEvent, { description: 'Events in the order of the feed.' }),
  next: Type.String({ description: '`after` of the next request, also when the page is empty.' }),
  has_more: Type.Boolean({ description: 'True: more events are available now.' }),
});

const cursor = (description: string) => Type.String({ description });

export const feedQuery = Type.Object({
  after: Type.Optional(
    cursor(
      'Only events after this cursor; absent = from the oldest stored event; `latest` = no events, only the cursor of the current end.',
    ),
  ),
  types: Type.Optional(
    listParameter({ maxLength: 2_000, description: 'Only these types, `conversation.*` for all of a kind.' }),
  ),
  subject_type: Type.Optional(Type.Enum([...feedSubjects], { description: 'Only events of subjects of this type.' })),
  subject_id: Type.Optional(Type.Integer({ description: 'Only events of this subject; requires `subject_type`.' })),
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: maxWaitSeconds,
      default: 0,
      description: 'Seconds to wait for events when there are none.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxLimit,
      default: defaultEventLimit,
      description: 'Maximum number of events of the page.',
    }),
  ),
});
export type FeedQuery = Static<typeof feedQuery>;

const errors = {
  bad_request: {
    code: 'bad_request',
    when: '`after` is not a cursor of the feed, `types` contains an unknown type, or `subject_id` is given without `subject_type`.',
  },
  cursor_expired: { code: 'gone', when: 'Some events after the cursor are removed. Continue without `after`.' },
} as const;

export const feedRpcs = {
  readFeed: rpc({
    subject: 'events.feed.read',
    callers: byUsers,
    summary: 'Reads a page of events that the caller can read; can wait for new events (V3, V4)',
    request: feedQuery,
    reply: eventPage,
    errors,
    timeoutMs: (maxWaitSeconds + 10) * 1_000,
  }),
  pruneFeed: rpc({
    subject: 'events.operations.prune',
    callers: byUsers,
    summary: 'Removes events before a time; earlier cursors return 410 (V10)',
    audit: 'events.prune',
    request: Type.Object({
      before: Type.String({ format: 'date-time', description: 'Events before this time are removed.' }),
    }),
    reply: Type.Object({ removed: Type.Integer({ description: 'Approximate number of removed events.' }) }),
    errors: notAnOperator,
    timeoutMs: 60_000,
  }),
} as const;

export const feedEvents = {
  advanced: event({
    subject: 'events.events.feed.advanced',
    subscribers: ['events'],
    summary: 'The feed has grown up to this position. Wakes waiting requests.',
    payload: Type.Object({ position: Type.Integer() }),
  }),
} as const;

export const feedConsumers = {
  told: { stream: 'FEED', durable: 'events-writer', filter: 'feed.>' },
} as const;
