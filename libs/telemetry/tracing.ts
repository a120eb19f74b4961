/**
 * Spans of the work that crosses borders: HTTP, RPC, jobs, SQL, S3, outgoing calls (rules/operations#traces). One process has one tracer or
 * none. Without one nothing is loaded and nothing is made: callers look for it first.
 */

import type { ConfigOf, tracingSettings } from '#libs/config';

/** Settings of traces; a missing one has its default. */
export type TracingSettings = Partial<ConfigOf<typeof tracingSettings>>;

export type SpanKind = 'server' | 'client' | 'producer' | 'consumer' | 'internal';
/** Names of operations, outcomes, counts. Never bodies, tokens, values of statements, addresses with their query. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface Span {
  /** W3C header of what is done under this span. */
  readonly traceparent: string;
  /** Runs `work`, and whatever it awaits, with this span as the active one. */
  run<T>(work: () => T): T;
  /** Ends the span; `error` is a code or the name of a failure. */
  end(facts?: { name?: string; error?: string | undefined; attributes?: SpanAttributes }): void;
}

export interface Tracer {
  /** A span under `parent` (a `traceparent`), else under the active span, else the first of a new trace. */
  start(name: string, kind: SpanKind, attributes: SpanAttributes, parent?: string): Span;
  /** The same, but nothing where there is neither a parent nor an active span: what a process does for itself is no trace. */
  startChild(name: string, kind: SpanKind, attributes: SpanAttributes, parent?: string): Span | undefined;
}

let tracer: Tracer | undefined;

/** The process's tracer; undefined when tracing is off. */
export function findTracer(): Tracer | undefined {
  return tracer;
}

export function setTracer(next: Tracer | undefined): void {
  tracer = next;
}

/** Whether traces are to be sent: to a collector that is set, or to the usual one where the exporter is. */
export function isTracingOn(settings: TracingSettings): boolean {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: tracesEndpoint } = settings;
  if (settings.OTEL_SDK_DISABLED === true || settings.OTEL_TRACES_EXPORTER === 'none') return false;
  return settings.OTEL_TRACES_EXPORTER === 'otlp' || (endpoint ?? tracesEndpoint) !== undefined;
}

/** Runs `work` as a span under the active one; without tracing or an active span it just runs. `end` names a failure. */
export async function traceWork<T>(span: Span | undefined, work: () => Promise<T>): Promise<T> {
  if (span === undefined) return work();
  try {
    const result = await span.run(work);
    span.end();
    return result;
  } catch (error) {
    span.end({ error: errorTypeOf(error) });
    throw error;
  }
}

const usualPorts: Readonly<Record<string, number>> = {
  'https:': 443,
  'http:': 80,
  'postgresql:': 5432,
  'postgres:': 5432,
  'nats:': 4222,
  'tls:': 4222,
};

/** Host and port of an address as spans name them; the host alone where the port is not known. */
export function serverAttributes({ hostname, port, protocol }: Pick<URL, 'hostname' | 'port' | 'protocol'>): SpanAttributes {
  const number = port === '' ? usualPorts[protocol] : Number(port);
  const address = hostname.replace(/^\[(.+)\]$/, '$1');
  return { ...(address === '' ? {} : { 'server.address': address }), ...(number === undefined ? {} : { 'server.port': number }) };
}

/** What may be told of a failure: its code or its class, never its message. */
export function errorTypeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'error';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.name : 'error';
}
