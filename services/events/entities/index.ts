import { FeedEventSchema, FeedHeadSchema, FeedSubjectSchema } from './feed.entity.ts';
import { WebhookDeliverySchema, WebhookDispatchSchema, WebhookEndpointSchema } from './webhook.entity.ts';

/** Every table of the schema `events`, but those of the libraries. */
export const entities = [
  FeedEventSchema,
  FeedHeadSchema,
  FeedSubjectSchema,
  WebhookEndpointSchema,
  WebhookDispatchSchema,
  WebhookDeliverySchema,
];
