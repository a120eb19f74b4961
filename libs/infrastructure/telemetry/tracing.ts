/**
 * Spans of HTTP, RPC, jobs, SQL, S3 and outgoing calls (rules/operations#traces). A process has at most one tracer.
 * Without a tracer, nothing is loaded or created, so callers check for the tracer first.
 */

import type { ConfigOf, tracingSettings } from '#libs/infrastructure/config';

/** Settings of tracing; missing settings have their default values. */
export type TracingSettings = Partial<ConfigOf<typeof tracingSettings>>;

export type SpanKind = 'server' | 'client' | 'producer' | 'consumer' | 'internal';
/**
 * Attributes of a span: names of operations, outcomes and counts. They must not contain bodies, tokens, SQL values or
 * query strings.
 */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface Span {
  /** W3C header that is sent with work under this span. */
  readonly traceparent: string;
  /** Runs `work` with this span as the active one. */
  run<T>(work: () => T): T;
  /** Ends the span. `error` is a code or the name of an error. */
  end(facts?: { name?: string; error?: string | undefined; attributes?: SpanAttributes }): void;
}

export interface Tracer {
  /** Starts a span under `parent` (a `traceparent`), else under the active span, else in a new trace. */
  start(name: string, kind: SpanKind, attributes: SpanAttributes, parent?: string): Span;
  /**
   * Like `start`, but returns undefined without a parent or active span, so that background work of a process is not
   * traced.
   */
  startChild(name: string, kind: SpanKind, attributes: SpanAttributes, parent?: string): Span | undefined;
}

let tracer: Tracer | undefined;

/** Returns the tracer of the process; undefined when tracing is off. */
export function findTracer(): Tracer | undefined {
  return tracer;
}

export function setTracer(next: Tracer | undefined): void {
  tracer = next;
}

/**
 * Returns whether traces are exported: a collector is configured, or an exporter is set, which then uses the default
 * collector.
 */
export function isTracingOn(settings: TracingSettings): boolean {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: tracesEndpoint } = settings;
  if (settings.OTEL_SDK_DISABLED === true || settings.OTEL_TRACES_EXPORTER === 'none') return false;
  return settings.OTEL_TRACES_EXPORTER === 'otlp' || (endpoint ?? tracesEndpoint) !== undefined;
}

/** Runs `work` within the span, or without a span when tracing is off. Ends the span with the error if `work` fails. */
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

/** Returns the server attributes of a URL; the port is omitted when it is unknown. */
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

/** Returns the code or class of an error, never its message. */
export function errorTypeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'error';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.name : 'error';
}
