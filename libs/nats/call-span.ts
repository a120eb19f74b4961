import { findTracer, serverOf, type Span } from '#libs/telemetry';

/** The span of a call, by OpenTelemetry's conventions for RPC; nothing where there is neither a parent nor an active span. */
export function startCall(server: string, subject: string, traceparent: string | undefined): Span | undefined {
  const tracer = findTracer();
  if (tracer === undefined) return undefined;
  const address = URL.parse(`nats://${server}`);
  const attributes = { 'rpc.system.name': 'nats', 'rpc.method': subject, ...(address === null ? {} : serverOf(address)) };
  return tracer.startChild(subject, 'client', attributes, traceparent);
}
