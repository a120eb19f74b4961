import type { NatsConnection } from '@nats-io/transport-node';
import { findTracer, serverAttributes, type Span } from '#libs/telemetry';

/** The span of a call, by OpenTelemetry's conventions for RPC; nothing where there is neither a parent nor an active span. */
export function startCall(
  connection: Pick<NatsConnection, 'getServer'>,
  subject: string,
  traceparent: string | undefined,
): Span | undefined {
  const tracer = findTracer();
  if (tracer === undefined) return undefined;
  const address = URL.parse(`nats://${connection.getServer()}`);
  const attributes = { 'rpc.system.name': 'nats', 'rpc.method': subject, ...(address === null ? {} : serverAttributes(address)) };
  return tracer.startChild(subject, 'client', attributes, traceparent);
}
