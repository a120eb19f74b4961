/**
 * Tracer that exports spans to a collector (OTLP over HTTP). Loaded only with tracing on: its packages take longer to
 * load than a service to start.
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
import {
  BatchSpanProcessor,
  TracerProvider,
  type ReadableSpan,
  type SpanExporter,
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { Logger } from '#libs/infrastructure/logger';
import type { Span, SpanAttributes, SpanKind, Tracer, TracingSettings } from './tracing.ts';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import { releaseVersion } from '#libs/infrastructure/release';

type ExporterConfig = NonNullable<ConstructorParameters<typeof JsonExporter>[0]>;

const defaultTimeoutMs = 10_000;
const defaultCollector = 'http://localhost:4318';

/**
 * Creates the exporter.
 * @throws Error that names the variable whose file cannot be read
 */
export function createExporter(settings: TracingSettings): SpanExporter {
  const {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint = defaultCollector,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: tracesEndpoint,
  } = settings;
  const compression =
    settings.OTEL_EXPORTER_OTLP_TRACES_COMPRESSION ?? settings.OTEL_EXPORTER_OTLP_COMPRESSION ?? 'none';
  const config: ExporterConfig = {
    url: tracesEndpoint ?? `${endpoint.replace(/(?<!\/)\/+$/, '')}/v1/traces`,
    headers: {
      ...readPairs(settings.OTEL_EXPORTER_OTLP_HEADERS),
      ...readPairs(settings.OTEL_EXPORTER_OTLP_TRACES_HEADERS),
    },
    timeoutMillis:
      settings.OTEL_EXPORTER_OTLP_TRACES_TIMEOUT ?? settings.OTEL_EXPORTER_OTLP_TIMEOUT ?? defaultTimeoutMs,
    compression: compression as NonNullable<ExporterConfig['compression']>,
    httpAgentOptions: {
      keepAlive: true,
      ...readFiles(settings, { ca: 'CERTIFICATE', cert: 'CLIENT_CERTIFICATE', key: 'CLIENT_KEY' }),
    },
  };
  const protocol = settings.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? settings.OTEL_EXPORTER_OTLP_PROTOCOL;
  return protocol === 'http/protobuf' ? new ProtobufExporter(config) : new JsonExporter(config);
}

export function createSampler({
  OTEL_TRACES_SAMPLER: name,
  OTEL_TRACES_SAMPLER_ARG: share = 1,
}: TracingSettings): Sampler {
  const roots: Record<string, () => Sampler> = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(share),
  };
  const [, parentBased, rootName = 'traceidratio'] =
    /^(parentbased_)?(.+)$/.exec(name ?? 'parentbased_traceidratio') ?? [];
  const root = roots[rootName]?.() ?? new TraceIdRatioBasedSampler(share);
  return parentBased === undefined ? root : new ParentBasedSampler({ root });
}

/**
 * Returns the resource attributes. OTEL_RESOURCE_ATTRIBUTES overrides the built-in attributes, and OTEL_SERVICE_NAME
 * overrides both.
 */
export function createResource(service: string, settings: TracingSettings): Resource {
  const { OTEL_SERVICE_NAME: name = '', OTEL_RESOURCE_ATTRIBUTES: attributes } = settings;
  return defaultResource().merge(
    resourceFromAttributes({
      'service.name': service,
      'service.namespace': 'coherence',
      'service.version': releaseVersion,
      'service.instance.id': randomUUID(),
      ...readPairs(attributes),
      ...(name === '' ? {} : { 'service.name': name }),
    }),
  );
}

/** Parses `name=value,…`; a value with invalid percent-encoding is used verbatim. */
function readPairs(text = ''): Record<string, string> {
  const pairs = text
    .split(',')
    .map((pair) => pair.split('='))
    .filter(([name = '']) => name.trim() !== '');
  return Object.fromEntries(pairs.map(([name = '', ...value]) => [name.trim(), decode(value.join('=').trim())]));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

type FileSetting = 'CERTIFICATE' | 'CLIENT_CERTIFICATE' | 'CLIENT_KEY';

function readFiles(
  settings: TracingSettings,
  requested: Readonly<Record<string, FileSetting>>,
): Record<string, Buffer> {
  return Object.fromEntries(
    Object.entries(requested).flatMap(([option, setting]) => {
      const names = [`OTEL_EXPORTER_OTLP_TRACES_${setting}`, `OTEL_EXPORTER_OTLP_${setting}`] as const;
      const name = names.find((one) => settings[one] !== undefined);
      return name === undefined ? [] : [[option, readFile(name, settings[name] ?? '')]];
    }),
  );
}

function readFile(variable: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Error(`${variable}: cannot read ${path}: ${(error as NodeJS.ErrnoException).code ?? 'unreadable'}`, {
      cause: error,
    });
  }
}

export interface OtlpOptions {
  service: string;
  settings: TracingSettings;
  logger: Logger;
}

const propagator = new W3CTraceContextPropagator();
/** Time limit for exporting the remaining spans when the process ends. */
const stopTimeoutMs = 2_000;
const exportIntervalMs = 1_000;
const exportTimeoutMs = 30_000;
const kinds: Readonly<Record<SpanKind, OtelKind>> = {
  server: OtelKind.SERVER,
  client: OtelKind.CLIENT,
  producer: OtelKind.PRODUCER,
  consumer: OtelKind.CONSUMER,
  internal: OtelKind.INTERNAL,
};

/** Creates a tracer that exports spans in batches. `stop` exports the remaining spans. */
export function createOtlpTracer(options: OtlpOptions): { tracer: Tracer; stop: () => Promise<void> } {
  const { settings } = options;
  const exporter = createExporter(settings);
  const { OTEL_BSP_MAX_QUEUE_SIZE: maxQueueSize, OTEL_BSP_MAX_EXPORT_BATCH_SIZE: maxExportBatchSize = maxQueueSize } =
    settings;
  const provider = new TracerProvider({
    resource: createResource(options.service, settings),
    sampler: createSampler(settings),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new LoggingExporter(exporter, options.logger),
        scheduledDelayMillis: settings.OTEL_BSP_SCHEDULE_DELAY ?? exportIntervalMs,
        exportTimeoutMillis: settings.OTEL_BSP_EXPORT_TIMEOUT ?? exportTimeoutMs,
        ...(maxQueueSize === undefined || maxExportBatchSize === undefined
          ? {}
          : { maxQueueSize, maxExportBatchSize: Math.min(maxQueueSize, maxExportBatchSize) }),
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

  end({
    name,
    error,
    attributes,
  }: { name?: string; error?: string | undefined; attributes?: SpanAttributes } = {}): void {
    if (name !== undefined) this.#span.updateName(name);
    if (attributes !== undefined) this.#span.setAttributes(attributes);
    if (error !== undefined) this.#span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', error);
    this.#span.end();
  }
}

/** Logs once when the collector starts to reject spans, and once when it accepts them again. */
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
