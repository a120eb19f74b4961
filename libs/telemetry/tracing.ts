/**
 * Spans of HTTP, RPC, jobs, SQL, S3 and outgoing calls (rules/operations#traces). A process has at most one tracer;
 * without one nothing is loaded or created, so callers check for it first.
 */

import type { ConfigOf, tracingSettings } from '#libs/config';

/** Tracing settings; missing ones have their defaults. */
export type TracingSettings = Partial<ConfigOf<typeof tracingSettings>>;

export type SpanKind = 'server' | 'client' | 'producer' | 'consumer' | 'internal';
/** Names of operations, outcomes and counts. Never bodies, tokens, SQL values or query strings. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface Span {
  /** W3C header for work under this span. */
  readonly traceparent: string;
  /** Runs `work` with this span as the active one. */
  run<T>(work: () => T): T;
  /** Ends the span; `error` is a code or an error name. */
  end(facts?: { name?: string; error?: string | undefined; attributes?: SpanAttributes }): void;
}

export interface Tracer {
  /** Starts a span under `parent` (a `traceparent`), else under the active span, else in a new trace. */
  start(name: string, kind: SpanKind, attributes: SpanAttributes, parent?: string): Span;
  /** The same, but undefined without a parent or active span: background work of a process is not traced. */
  startChild(name: string, kind: SpanKind, attributes: SpanAttributes, parent?: string): Span | undefined;
}

let tracer: Tracer | undefined;

/** The tracer of the process; undefined when tracing is off. */
export function findTracer(): Tracer | undefined {
  return tracer;
}

export function setTracer(next: Tracer | undefined): void {
  tracer = next;
}

/** Whether traces are exported: a collector is configured, or the exporter is set and the default collector is used. */
export function isTracingOn(settings: TracingSettings): boolean {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: tracesEndpoint } = settings;
  if (settings.OTEL_SDK_DISABLED === true || settings.OTEL_TRACES_EXPORTER === 'none') return false;
  return settings.OTEL_TRACES_EXPORTER === 'otlp' || (endpoint ?? tracesEndpoint) !== undefined;
}

/** Runs `work` within a span, or without one when tracing is off. `end` records the failure. */
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

/** Server attributes of a URL; without the port when it is unknown. */
export function serverAttributes({
  hostname,
  port,
  protocol,
}: Pick<URL, 'hostname' | 'port' | 'protocol'>): SpanAttributes {
  const number = port === '' ? usualPorts[protocol] : Number(port);
  const address = hostname.replace(/^\[(.+)\]$/, '$1');
  return {
    ...(address === '' ? {} : { 'server.address': address }),
    ...(number === undefined ? {} : { 'server.port': number }),
  };
}

/** The code or class of an error, never its message. */
export function errorTypeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'error';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.name : 'error';
}
