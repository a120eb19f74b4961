/** Tables of the schema `events`, except the tables of the libraries. */
import { columns, defineEntity, p } from '#libs/infrastructure/orm/entities';

/** The table is partitioned by days of `occurredAt`. */
const FeedEventSchema = defineEntity({
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

const FeedSubjectSchema = defineEntity({
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

/** The table has a single row. */
const FeedHeadSchema = defineEntity({
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

const WebhookEndpointSchema = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoints',
  schema: 'events',
  properties: {
    id: p.integer().primary(),
    accountId: p.integer(),
    url: p.text(),
    types: p.array().$type<string[]>().columnType('text[]').nullable(),
    description: p.text(),
    secret: p.blob(),
    previousSecret: p.blob().nullable(),
    previousUntil: columns.instant().nullable(),
    createdAt: columns.now(),
    createdByKeyId: p.text().nullable(),
    disabledAt: columns.instant().nullable(),
    disabledReason: p.text().nullable(),
    failingSince: columns.instant().nullable(),
    deletedAt: columns.instant().nullable(),
    firstPosition: columns.bigint(),
    position: columns.bigint(),
    recoverFrom: columns.bigint().nullable(),
    recoverTo: columns.bigint().nullable(),
  },
});

/** The table has a row for each endpoint that was scheduled at least once. */
const WebhookDispatchSchema = defineEntity({
  name: 'WebhookDispatch',
  tableName: 'webhook_dispatches',
  schema: 'events',
  properties: {
    endpoint: () => p.manyToOne(WebhookEndpointSchema).ref().primary(),
    dueAt: columns.instant().nullable(),
    holder: p.uuid().nullable(),
    heldUntil: columns.instant().nullable(),
  },
});

const WebhookDeliverySchema = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_deliveries',
  schema: 'events',
  properties: {
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    endpoint: () => p.manyToOne(WebhookEndpointSchema).ref(),
    position: columns.bigint().nullable(),
    occurredAt: columns.instant(),
    status: p.text().default('pending'),
    tries: p.integer().default(0),
    nextAt: columns.now(),
    attempts: p.json().defaultRaw(`'[]'`),
    createdAt: columns.now(),
  },
});

export const entities = [
  FeedEventSchema,
  FeedHeadSchema,
  FeedSubjectSchema,
  WebhookEndpointSchema,
  WebhookDispatchSchema,
  WebhookDeliverySchema,
];
