/** Durable consumption of an event: nothing is missed while no replica runs, and replicas share the work. */
import type { DurableConsumer, Event, PayloadOf } from '#libs/infrastructure/contract';
import { parseJson } from '#libs/infrastructure/json';
import type { Logger } from '#libs/infrastructure/logger';
import { compileSchema } from '#libs/infrastructure/schema';
import type { Bus } from './types.ts';
import type { RunningConsumer } from './consumer.ts';

/** Consumes an event. Each event is delivered at least once; when the handler throws, it is redelivered. */
export function consumeEvent<E extends Event>(
  deps: { readonly bus: Bus; readonly logger: Logger },
  consumer: DurableConsumer,
  event: E,
  handle: (payload: PayloadOf<E>) => Promise<void>,
): Promise<RunningConsumer> {
  if (consumer.filter !== event.subject)
    throw new Error(`${consumer.durable} follows ${consumer.filter}, not ${event.subject}`);
  const check = compileSchema(event.payload);
  return deps.bus.consume({ ...consumer, concurrency: 4 }, async (delivery) => {
    const payload = parse(delivery.data);
    const problem = check(payload);
    if (problem !== undefined) {
      deps.logger.error(
        { event: event.subject, path: problem.path, problem: problem.message },
        'event breaks its contract',
      );
      delivery.term('the event breaks its contract');
      return;
    }
    await handle(payload as PayloadOf<E>);
    delivery.ack();
  });
}

/** Parses JSON. Returns undefined for malformed JSON, which every schema rejects. */
function parse(data: Uint8Array): unknown {
  try {
    return parseJson(Buffer.from(data).toString('utf8'));
  } catch {
    return undefined;
  }
}
