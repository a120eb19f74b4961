/** The feed, what is known of its subjects, and how far it goes. */
import { columns, defineEntity, p } from '#libs/orm/entities';

/** By days of `occurredAt`. */
export const FeedEventSchema = defineEntity({
  name: 'FeedEvent',
  tableName: 'feed',
  schema: 'events',
  properties: {
    position: columns.bigint(),
    occurredAt: columns.instant().primary(),
    service: p.text().primary(),
    number: columns.bigint().primary(),
    id: p.uuid(),
    type: p.text(),
    subjectType: p.text(),
    subjectId: columns.bigint(),
    data: p.json().columnType('json'),
    farewell: p.boolean(),
  },
});

export const FeedSubjectSchema = defineEntity({
  name: 'FeedSubject',
  tableName: 'subjects',
  schema: 'events',
  properties: {
    type: p.text().primary(),
    id: columns.bigint().primary(),
    known: p.boolean(),
    holons: p.array().$type<number[]>().columnType('integer[]'),
    people: p.array().$type<number[]>().columnType('integer[]'),
    gone: p.boolean(),
    lastPosition: columns.bigint(),
  },
});

/** One row. */
export const FeedHeadSchema = defineEntity({
  name: 'FeedHead',
  tableName: 'feed_head',
  schema: 'events',
  properties: {
    one: p.boolean().primary().default(true),
    lastPosition: columns.bigint().default(0),
    floorPosition: columns.bigint().default(0),
    streamSequence: columns.bigint().default(0),
    holder: p.uuid().nullable(),
    heldUntil: columns.instant().defaultRaw('now()'),
    cursorKey: p.text().defaultRaw(`replace(gen_random_uuid()::text, '-', '')`),
  },
});
