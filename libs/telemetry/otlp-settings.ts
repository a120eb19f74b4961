/** Exporter, sampler and resource as the variables of the OpenTelemetry specification say (libs/config/tracing). */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import { releaseVersion } from '#libs/release';
import type { TracingSettings } from './tracing.ts';

type ExporterConfig = NonNullable<ConstructorParameters<typeof JsonExporter>[0]>;

const defaultTimeoutMs = 10_000;
const defaultCollector = 'http://localhost:4318';

/** @throws Error with the variable whose file cannot be read */
export function createExporter(settings: TracingSettings): SpanExporter {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint = defaultCollector, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: tracesEndpoint } = settings;
  const compression = settings.OTEL_EXPORTER_OTLP_TRACES_COMPRESSION ?? settings.OTEL_EXPORTER_OTLP_COMPRESSION ?? 'none';
  const config: ExporterConfig = {
    url: tracesEndpoint ?? `${endpoint.replace(/(?<!\/)\/+$/, '')}/v1/traces`,
    headers: { ...readPairs(settings.OTEL_EXPORTER_OTLP_HEADERS), ...readPairs(settings.OTEL_EXPORTER_OTLP_TRACES_HEADERS) },
    timeoutMillis: settings.OTEL_EXPORTER_OTLP_TRACES_TIMEOUT ?? settings.OTEL_EXPORTER_OTLP_TIMEOUT ?? defaultTimeoutMs,
    compression: compression as NonNullable<ExporterConfig['compression']>,
    httpAgentOptions: {
      keepAlive: true,
      ...readFiles(settings, { ca: 'CERTIFICATE', cert: 'CLIENT_CERTIFICATE', key: 'CLIENT_KEY' }),
    },
  };
  const protocol = settings.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? settings.OTEL_EXPORTER_OTLP_PROTOCOL;
  return protocol === 'http/protobuf' ? new ProtobufExporter(config) : new JsonExporter(config);
}

export function createSampler({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: share = 1 }: TracingSettings): Sampler {
  const roots: Record<string, () => Sampler> = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(share),
  };
  const [, parentBased, rootName = 'traceidratio'] = /^(parentbased_)?(.+)$/.exec(name ?? 'parentbased_traceidratio') ?? [];
  const root = roots[rootName]?.() ?? new TraceIdRatioBasedSampler(share);
  return parentBased === undefined ? root : new ParentBasedSampler({ root });
}

/** What the process is: its own facts, then those of OTEL_RESOURCE_ATTRIBUTES, and OTEL_SERVICE_NAME above all. */
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

/** `name=value,…`; a value that is not percent-encoded text is taken as it is. */
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

function readFiles(settings: TracingSettings, wanted: Readonly<Record<string, FileSetting>>): Record<string, Buffer> {
  return Object.fromEntries(
    Object.entries(wanted).flatMap(([option, setting]) => {
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
    throw new Error(`${variable}: cannot read ${path}: ${(error as NodeJS.ErrnoException).code ?? 'unreadable'}`, { cause: error });
  }
}
