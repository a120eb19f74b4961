/**
 * The order in which what services told enters the feed (V2): of one service that of its outbox, and between services that of their clock, which is
 * the database's and the same for all.
 */
import type { Static, outboxMessage } from '#libs/contract';
import { parseInstant } from '#libs/time';

export interface ToldMessage {
  readonly service: string;
  readonly told: Static<typeof outboxMessage>['told'];
}

export type ToldEvent = ToldMessage['told'][number] & {
  readonly service: string;
  /** Of its day, `YYYY-MM-DD`. */
  readonly day: string;
};

/** The events of messages that came in this order. */
export function inOrder(messages: readonly ToldMessage[]): ToldEvent[] {
  const [first] = messages;
  if (messages.every(({ service }) => service === first?.service))
    return messages.flatMap(({ service, told }) => told.map((event) => placeOf(event, service)));
  const latest = new Map<string, bigint>();
  const placed = messages.flatMap(({ service, told }) =>
    told.flatMap((event) => {
      const at = parseInstant(event.occurred_at);
      if (at.kind === 'invalid') return [];
      // A clock that was set back undoes no order of a service.
      const before = latest.get(service) ?? at.instant;
      const place = at.instant > before ? at.instant : before;
      latest.set(service, place);
      return [{ place, event: placeOf(event, service) }];
    }),
  );
  return placed.toSorted((a, b) => (a.place < b.place ? -1 : a.place > b.place ? 1 : 0)).map(({ event }) => event);
}

const placeOf = (event: ToldMessage['told'][number], service: string): ToldEvent => ({
  ...event,
  service,
  day: event.occurred_at.slice(0, 10),
});
