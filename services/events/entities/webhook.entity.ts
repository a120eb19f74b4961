/** Webhook endpoints with their place in the feed, and what was sent to them. */
import { columns, defineEntity, p } from '#libs/orm/entities';

export const WebhookEndpointSchema = defineEntity({
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

/** One for each endpoint that has had something to send. */
export const WebhookDispatchSchema = defineEntity({
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

export const WebhookDeliverySchema = defineEntity({
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
