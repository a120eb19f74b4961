/** The `webhooks` of the open API's document: the signed requests that endpoints receive (rules/events#documents). */
import type { FeedEvent } from '#libs/infrastructure/contract';
import { publishSchema } from '#libs/infrastructure/http';
import { feedTypes } from '#services/events';
import { describeEvent, nameOf } from './asyncapi.ts';

type Json = Record<string, unknown>;

const signatureHeaders: Readonly<Record<string, string>> = {
  'webhook-id': 'Id of the event, the same for every attempt.',
  'webhook-timestamp': 'Time of the attempt in seconds since 1970.',
  'webhook-signature': 'Signatures `v1,<base64>`, separated by spaces (Standard Webhooks).',
};

/** Returns one entry for each event type, and adds the models of the bodies to `schemas`. */
export function describeWebhooks(schemas: Json): Json {
  return Object.fromEntries(feedTypes.map((event) => [event.type, { post: describeDelivery(event, schemas) }]));
}

function describeDelivery(event: FeedEvent, schemas: Json): Json {
  const name = nameOf(event).replace(/^./, (letter) => letter.toUpperCase());
  return {
    operationId: `receive${name}`,
    tags: ['endpoints'],
    summary: event.summary,
    parameters: Object.entries(signatureHeaders).map(([header, description]) => ({
      name: header,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
    })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: publishSchema(describeEvent(event), schemas, `${name}Event`) } },
    },
    responses: { '2XX': { description: 'The event was received. Other responses and timeouts are retried.' } },
  };
}
