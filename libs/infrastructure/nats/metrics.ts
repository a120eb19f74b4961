import type { Metrics } from '#libs/infrastructure/telemetry';
import { permissionOperations } from './permission-monitor.ts';
import { refusals } from './admission.ts';
import type { Bus } from './types.ts';
import type { StreamSize } from './jetstream.ts';
import type { BusMetrics } from './responder.ts';
import { type StreamName, streamNames } from './streams.ts';

/**
 * Creates metrics of calls by subject (rate, errors and duration, for caller and responder) and of the connection state
 * (rules/operations#metrics).
 */
export function createBusMetrics(metrics: Metrics): BusMetrics {
  const served = metrics.red('rpc_server', 'Requests served', ['subject']);
  const called = metrics.red('rpc_client', 'Calls to services', ['subject']);
  const refused = metrics.counter('refused_callers_total', 'Requests whose caller could not be believed', {
    reason: refusals,
  });
  const connection = metrics.gauge('nats_connected', '1 while the connection to the broker stands');
  const violations = metrics.counter(
    'nats_permission_violations_total',
    'Publications and subscriptions that the broker refused',
    {
      operation: permissionOperations,
    },
  );
  return {
    served: (subject, code, seconds, traceparent) => served.observe({ subject }, code, seconds, traceparent),
    called: (subject, code, seconds, traceparent) => called.observe({ subject }, code, seconds, traceparent),
    refused: (_subject, reason) => refused.inc({ reason }),
    permissionViolated: (operation) => violations.inc({ operation }),
    connected: (up) => connection.set(up ? 1 : 0),
  };
}

/** Registers the metric for the size of streams. Each scrape requests it from the broker, at most once a second. */
export function measureStreams(metrics: Metrics, bus: Pick<Bus, 'streamSize'>): void {
  let readAtMs = -Infinity;
  let reading: Promise<(StreamSize & { readonly stream: StreamName })[]> | undefined;
  const read = (): NonNullable<typeof reading> => {
    if (reading !== undefined && performance.now() - readAtMs < 1_000) return reading;
    readAtMs = performance.now();
    reading = Promise.all(streamNames.map(async (stream) => ({ stream, ...(await bus.streamSize(stream)) })));
    return reading;
  };
  const gaugeOf = (name: string, help: string, pick: (size: StreamSize) => number): void => {
    metrics.gauge(name, help, ['stream'], async (gauge) => {
      gauge.reset();
      // Without a broker, no value is better than an outdated one.
      for (const size of await read().catch(() => [])) gauge.set({ stream: size.stream }, pick(size));
    });
  };
  gaugeOf('stream_messages', 'Messages that a stream holds', (size) => size.messages);
  gaugeOf('stream_bytes', 'Bytes that a stream holds', (size) => size.bytes);
  gaugeOf('stream_max_bytes', 'Bytes that a stream may hold', (size) => size.maxBytes);
}
