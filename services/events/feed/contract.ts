/** Contract of the feed: its pages, and what the admin CLI does with it (rules/events#feed; V1 to V4, V10). */
import { byOperators, byUsers, event, type FeedEvent, feedSubjects, listParameter, rpc, type Static, Type } from '#libs/contract';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { media } from '#services/media';
import { transcripts } from '#services/transcripts';
import { endpointFeed } from '../endpoints/contract.ts';

/** What each service tells, from the contracts of those who do (V1); in the order of the documents. */
export const feedPublishers: ReadonlyMap<string, readonly FeedEvent[]> = new Map([
  ...[conversations, media, transcripts, directory].map(({ service, feed }) => [service, Object.values<FeedEvent>(feed)] as const),
  ['events', Object.values<FeedEvent>(endpointFeed)],
]);

/** Every type of event that there is. */
export const feedTypes: readonly FeedEvent[] = [...feedPublishers.values()].flat();

/** Longest time for which a request waits for something to come (V3). */
export const maxWaitSeconds = 30;
/** Events of a page when the caller does not say. */
export const usualEvents = 100;
const mostLimit = 500;

export const PublicEvent = Type.Object(
  {
    id: Type.String({ description: '`evt_…`; the same wherever the event is told again.' }),
    type: Type.String({ description: 'What happened, for example `conversation.created`.' }),
    occurred_at: Type.String({ format: 'date-time', description: 'When it happened.' }),
    subject: Type.Object(
      { type: Type.Enum([...feedSubjects]), id: Type.Integer({ description: 'Id of the subject.' }) },
      { description: 'What it happened to: who may read that sees the event.' },
    ),
    data: Type.Object({}, { additionalProperties: true, description: 'Ids, slugs and enumerations; read the object for the rest.' }),
    cursor: Type.String({ description: 'Its place in the feed: what comes behind it is asked for with `after`.' }),
  },
  { $id: 'Event', description: 'Something that happened.' },
);
export type PublicEvent = Static<typeof PublicEvent>;

export const eventPage = Type.Object({
  items: Type.Array(PublicEvent, { description: 'In the order in which it happened.' }),
  next: Type.String({ description: '`after` of the next request, also when nothing came.' }),
  has_more: Type.Boolean({ description: 'More can be read at once.' }),
});

const cursor = (description: string) => Type.String({ description });

export const feedQuery = Type.Object({
  after: Type.Optional(
    cursor('Only what comes behind this cursor; absent = from the oldest that is kept; `latest` = nothing, and the cursor of now.'),
  ),
  types: Type.Optional(listParameter({ maxLength: 2_000, description: 'Only these types; `conversation.*` is all of them.' })),
  subject_type: Type.Optional(Type.Enum([...feedSubjects], { description: 'Only events of such subjects.' })),
  subject_id: Type.Optional(Type.Integer({ description: 'Only events of this subject; together with `subject_type`.' })),
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: maxWaitSeconds,
      default: 0,
      description: 'Seconds to wait for something to come, when nothing is there.',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: mostLimit, default: usualEvents, description: 'Most events of a page.' })),
});
export type FeedQuery = Static<typeof feedQuery>;

const errors = {
  bad_request: {
    code: 'bad_request',
    when: '`after` is not a cursor of the feed, `types` names one that does not exist, or `subject_id` comes without `subject_type`.',
  },
  cursor_expired: { code: 'gone', when: 'What comes behind the cursor is no longer kept in whole: begin without `after`.' },
} as const;

export const feedRpcs = {
  readFeed: rpc({
    subject: 'events.feed.read',
    callers: byUsers,
    summary: 'A page of what happened, as far as the caller may read it; waits for something to come (V3, V4)',
    request: feedQuery,
    reply: eventPage,
    errors,
    timeoutMs: (maxWaitSeconds + 10) * 1_000,
  }),
  listFeed: rpc({
    subject: 'admin.events.feed.list',
    callers: byOperators,
    summary: 'A page of everything that happened; waits for something to come',
    request: feedQuery,
    reply: eventPage,
    errors,
    timeoutMs: (maxWaitSeconds + 10) * 1_000,
  }),
  pruneFeed: rpc({
    subject: 'admin.events.feed.prune',
    callers: byOperators,
    summary: 'Ends what is older than a time; cursors from before are answered 410 (V10)',
    audit: 'events.prune',
    request: Type.Object({ before: Type.String({ format: 'date-time', description: 'What happened before goes.' }) }),
    reply: Type.Object({ removed: Type.Integer({ description: 'Events that were kept until now, about.' }) }),
    timeoutMs: 60_000,
  }),
} as const;

export const feedEvents = {
  advanced: event({
    subject: 'events.events.feed.advanced',
    subscribers: ['events'],
    summary: 'The feed has grown up to this position: who waits looks again.',
    payload: Type.Object({ position: Type.Integer() }),
  }),
} as const;

export const feedConsumers = {
  told: { stream: 'FEED', durable: 'events-writer', filter: 'feed.>' },
} as const;
