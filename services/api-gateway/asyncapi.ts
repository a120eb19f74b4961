/** The AsyncAPI document of the feed, generated from the services' event declarations (rules/events#documents; V8). */
import { type FeedEvent, Type } from '#libs/infrastructure/contract';
import { releaseVersion } from '#libs/infrastructure/release';
import { feedQuery, feedTypes, PublicEvent } from '#services/events';

type Json = Readonly<Record<string, unknown>>;

const description = `Events of the platform in order, limited to objects that the caller can read.

A client requests \`GET /api/v1/events\` with its stored cursor and can wait there for new events. Every event is returned once; no event appears before a
cursor later. \`data\` has ids, slugs and enumerations: read the object for other fields.`;

export function buildAsyncApi(): Json {
  const messages = Object.fromEntries(feedTypes.map((event) => [nameOf(event), describeMessage(event)]));
  const refs = (to: string): Json =>
    Object.fromEntries(Object.keys(messages).map((name) => [name, { $ref: `#/${to}/${name}` }]));
  return {
    asyncapi: '3.0.0',
    id: 'urn:coherence:events',
    info: {
      title: 'Coherence events',
      version: releaseVersion,
      description,
      license: { name: 'Apache-2.0' },
      tags: listTags(),
    },
    defaultContentType: 'application/json',
    channels: {
      feed: {
        address: '/api/v1/events',
        title: 'Event feed',
        description: 'Pages of events after a cursor. The messages are the `items` of the response.',
        messages: refs('components/messages'),
        bindings: { http: { bindingVersion: '0.3.0' } },
      },
    },
    operations: {
      listEvents: {
        action: 'send',
        channel: { $ref: '#/channels/feed' },
        title: 'Follow the event feed',
        summary: 'Sends events about objects that the caller can read.',
        security: [{ $ref: '#/components/securitySchemes/token' }],
        bindings: { http: { method: 'GET', query: plain(feedQuery), bindingVersion: '0.3.0' } },
        messages: Object.values(refs('channels/feed/messages')),
      },
    },
    components: {
      messages,
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'Service key with the scope `events:read`, or the token of a login.',
        },
      },
    },
  };
}

/** Returns the schema of one event type. */
export function describeEvent({ type, subject, data }: FeedEvent): Json {
  const { id, occurred_at: occurredAt, subject: about, cursor } = PublicEvent.properties;
  const subjectSchema = Type.Object(
    { type: Type.Literal(subject), id: about.properties.id },
    { description: 'Subject of the event. Visible to callers who can read it.' },
  );
  return plain(
    Type.Object({ id, type: Type.Literal(type), occurred_at: occurredAt, subject: subjectSchema, data, cursor }),
  );
}

/** Returns the message name of an event type: `conversation.created` → `conversationCreated`. */
export function nameOf({ type }: FeedEvent): string {
  return type.replace(/[._]([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function describeMessage(event: FeedEvent): Json {
  const payload = {
    id: 'evt_018f3e7c5a1b7c3d9e0f1a2b3c4d5e6f',
    type: event.type,
    occurred_at: '2030-01-15T10:00:00.123456Z',
    subject: { type: event.subject, id: 42 },
    data: event.example,
    cursor: 'q3Yx0m5nT1uVbC7dEfGhIg',
  };
  return {
    name: event.type,
    title: event.type,
    summary: event.summary,
    tags: [{ name: event.subject }],
    contentType: 'application/json',
    payload: describeEvent(event),
    examples: [{ name: nameOf(event), summary: event.summary, payload }],
  };
}

function listTags(): Json[] {
  return [...new Set(feedTypes.map(({ subject }) => subject))].map((name) => ({
    name,
    description: `Events about a ${name.replace('_', ' ')}.`,
  }));
}

/** Returns the plain JSON schema, without the compiler's type information. */
function plain(schema: object): Json {
  return JSON.parse(JSON.stringify(schema)) as Json;
}
