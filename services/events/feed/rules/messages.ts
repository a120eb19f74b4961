/**
 * Validates messages of the stream FEED and orders their events (V1, V2). Only the NATS account of a sender is known.
 * Therefore events that cannot be stored or that another service declares are rejected, and only the owner of a subject
 * can set its access.
 */
import { type FeedEvent, type FeedSubject, outboxMessage, type Static } from '#libs/infrastructure/contract';
import { findJsonProblem, jsonProblemTexts } from '#libs/infrastructure/json';
import { compileSchema } from '#libs/infrastructure/schema';
import { parseInstant } from '#libs/infrastructure/time';

export type OutboxEvent = Static<typeof outboxMessage>['told'][number];

export interface FeedMessage {
  readonly service: string;
  readonly events: readonly OutboxEvent[];
}

export type NewFeedEvent = OutboxEvent & {
  readonly service: string;
  /** UTC date of the event, `YYYY-MM-DD`. */
  readonly day: string;
};

/** Returns the events of the messages, sorted by time. Events of one service remain in outbox order. */
export function sortEvents(messages: readonly FeedMessage[]): NewFeedEvent[] {
  const [first] = messages;
  if (messages.every(({ service }) => service === first?.service))
    return messages.flatMap(({ service, events }) => events.map((event) => toNewEvent(event, service)));
  const latest = new Map<string, bigint>();
  const timed = messages.flatMap(({ service, events }) =>
    events.flatMap((event) => {
      const at = parseInstant(event.occurred_at);
      if (at.kind === 'invalid') return [];
      // A clock that was set back does not change the outbox order.
      const previous = latest.get(service) ?? at.instant;
      const instant = at.instant > previous ? at.instant : previous;
      latest.set(service, instant);
      return [{ instant, event: toNewEvent(event, service) }];
    }),
  );
  return timed
    .toSorted((a, b) => (a.instant < b.instant ? -1 : a.instant > b.instant ? 1 : 0))
    .map(({ event }) => event);
}

const toNewEvent = (event: OutboxEvent, service: string): NewFeedEvent => ({
  ...event,
  service,
  day: event.occurred_at.slice(0, 10),
});

export type MessageReader = (
  service: string,
  message: Uint8Array,
) => { readonly events: readonly OutboxEvent[]; readonly problem?: string };

/**
 * Returns a function that reads messages of the stream; a message with a problem has no events. @param declared events
 * by service
 */
export function createMessageReader(declared: ReadonlyMap<string, readonly FeedEvent[]>): MessageReader {
  const check = compileSchema(outboxMessage);
  const declarations = new Map<string, { readonly service: string; readonly subject: FeedSubject }>();
  const owners = new Map<string, string>();
  for (const [service, declarationsOfService] of declared) {
    for (const { type, subject } of declarationsOfService) {
      declarations.set(type, { service, subject });
      if (type.startsWith(`${subject}.`)) owners.set(subject, service);
    }
  }

  /** Returns whether another service declares the event or its subject. Unknown types can belong to another release. */
  const belongsToOtherService = (service: string, { type, subject_type: subject }: OutboxEvent): boolean => {
    const declaration = declarations.get(type);
    return declaration === undefined
      ? subject === 'webhook_endpoint' && service !== owners.get(subject)
      : declaration.service !== service || declaration.subject !== subject;
  };

  return (service, message) => {
    const batch = parse(message);
    const mismatch = check(batch);
    if (mismatch !== undefined) return { events: [], problem: `/${mismatch.path.join('/')}: ${mismatch.message}` };
    const unstorable = findJsonProblem(batch);
    if (unstorable !== undefined)
      return { events: [], problem: `/${unstorable.path.join('/')} ${jsonProblemTexts[unstorable.kind]}` };
    const { told: events } = batch as Static<typeof outboxMessage>;
    if (events.some((event) => belongsToOtherService(service, event)))
      return { events: [], problem: 'an event of another service' };
    return {
      events: events.map((event) =>
        owners.get(event.subject_type) === service ? event : { ...event, access: null, farewell: false },
      ),
    };
  };
}

/**
 * Returns the parsed message; returns undefined when it is not JSON. Numbers are ids, which a double represents
 * exactly.
 */
function parse(message: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(message).toString('utf8'));
  } catch {
    return undefined;
  }
}
