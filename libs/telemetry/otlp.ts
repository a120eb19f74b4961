/**
 * The tracer that sends spans to a collector (OTLP over HTTP, JSON). Loaded only when OTEL_EXPORTER_OTLP_ENDPOINT is set: the packages
 * behind it take longer to load than a service to start.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  SpanKind as OtelKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span as OtelSpan,
  type Tracer as OtelTracer,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import type { Logger } from '#libs/logger';
import type { Span, SpanAttributes, SpanKind, Tracer } from './tracing.ts';

export interface OtlpOptions {
  service: string;
  /** OTEL_EXPORTER_OTLP_ENDPOINT, without `/v1/traces`. */
  endpoint: string;
  /** OTEL_EXPORTER_OTLP_HEADERS: `name=value,…`. */
  headers: string;
  /** OTEL_TRACES_SAMPLER_ARG: share of the traces begun here that are kept, 0 to 1. A trace begun elsewhere is kept when its header says so. */
  share: number;
  logger: Logger;
  /** Time of one export with its retries, which nothing ends early; default 10 s. */
  exportTimeoutMs?: number;
}

const propagator = new W3CTraceContextPropagator();
/** For all that is left at the process's end. */
const stopTimeoutMs = 2_000;
const exportIntervalMs = 1_000;
const kinds: Readonly<Record<SpanKind, OtelKind>> = {
  server: OtelKind.SERVER,
  client: OtelKind.CLIENT,
  producer: OtelKind.PRODUCER,
  consumer: OtelKind.CONSUMER,
  internal: OtelKind.INTERNAL,
};

/** A tracer whose spans are sent in batches; `stop` sends what is left. */
export function createOtlpTracer(options: OtlpOptions): { tracer: Tracer; stop: () => Promise<void> } {
  const { exportTimeoutMs = 10_000 } = options;
  const exporter = new OTLPTraceExporter({
    url: `${options.endpoint.replace(/(?<!\/)\/+$/, '')}/v1/traces`,
    headers: readHeaders(options.headers),
    timeoutMillis: exportTimeoutMs,
  });
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes({ 'service.name': options.service, 'service.namespace': 'coherence' })),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.share) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new LoggingExporter(exporter, options.logger),
        scheduledDelayMillis: exportIntervalMs,
        exportTimeoutMillis: exportTimeoutMs,
      }),
    ],
  });
  return {
    tracer: new OtlpTracer(provider.getTracer('coherence')),
    stop: async () => {
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, stopTimeoutMs);
      });
      await Promise.race([provider.shutdown(), timeout]).catch(() => undefined);
      clearTimeout(timer);
    },
  };
}

class OtlpTracer implements Tracer {
  readonly #otel: OtelTracer;
  readonly #active = new AsyncLocalStorage<StartedSpan>();

  constructor(otel: OtelTracer) {
    this.#otel = otel;
  }

  start(name: string, kind: SpanKind, attributes: SpanAttributes, parent?: string): Span {
    return this.#start(name, kind, attributes, this.#findParent(parent) ?? ROOT_CONTEXT);
  }

  startChild(name: string, kind: SpanKind, attributes: SpanAttributes, parent?: string): Span | undefined {
    const context = this.#findParent(parent);
    return context === undefined ? undefined : this.#start(name, kind, attributes, context);
  }

  #start(name: string, kind: SpanKind, attributes: SpanAttributes, context: Context): Span {
    return new StartedSpan(this.#otel.startSpan(name, { kind: kinds[kind], attributes }, context), this.#active);
  }

  #findParent(traceparent: string | undefined): Context | undefined {
    const context = propagator.extract(ROOT_CONTEXT, { traceparent }, defaultTextMapGetter);
    return trace.getSpanContext(context) === undefined ? this.#active.getStore()?.context : context;
  }
}

class StartedSpan implements Span {
  readonly context: Context;
  readonly traceparent: string;
  readonly #span: OtelSpan;
  readonly #active: AsyncLocalStorage<StartedSpan>;

  constructor(span: OtelSpan, active: AsyncLocalStorage<StartedSpan>) {
    this.#span = span;
    this.#active = active;
    this.context = trace.setSpan(ROOT_CONTEXT, span);
    const headers: { traceparent?: string } = {};
    propagator.inject(this.context, headers, defaultTextMapSetter);
    this.traceparent = headers.traceparent ?? '';
  }

  run<T>(work: () => T): T {
    return this.#active.run(this, work);
  }

  end({ name, error, attributes }: { name?: string; error?: string | undefined; attributes?: SpanAttributes } = {}): void {
    if (name !== undefined) this.#span.updateName(name);
    if (attributes !== undefined) this.#span.setAttributes(attributes);
    if (error !== undefined) this.#span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', error);
    this.#span.end();
  }
}

/** Says once that a collector does not take spans, and once that it does again. */
class LoggingExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #logger: Logger;
  #failing = false;

  constructor(exporter: SpanExporter, logger: Logger) {
    this.#exporter = exporter;
    this.#logger = logger;
  }

  export(spans: ReadableSpan[], done: Parameters<SpanExporter['export']>[1]): void {
    this.#exporter.export(spans, (result) => {
      const failed = result.error !== undefined;
      if (failed && !this.#failing) this.#logger.warn({ error: result.error?.message }, 'traces cannot be sent');
      if (!failed && this.#failing) this.#logger.info('traces are sent again');
      this.#failing = failed;
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  forceFlush(): Promise<void> {
    return this.#exporter.forceFlush?.() ?? Promise.resolve();
  }
}

function readHeaders(text: string): Record<string, string> {
  const pairs = text
    .split(',')
    .map((pair) => pair.split('='))
    .filter(([name = '']) => name.trim() !== '');
  return Object.fromEntries(pairs.map(([name = '', ...value]) => [name.trim(), decodeURIComponent(value.join('=').trim())]));
}
