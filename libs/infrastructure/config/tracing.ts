/** Settings of traces, by the names and meanings of the OpenTelemetry specification (rules/operations#traces). */
import { Type } from '#libs/infrastructure/contract';
import { secret } from './secrets.ts';

const choice = <const Name extends string>(
  names: readonly Name[],
  options: { readonly description: string; readonly default?: NoInfer<Name> },
) =>
  Type.Unsafe<Name>(
    Type.Union(
      names.map((name) => Type.Literal(name)),
      options,
    ),
  );
const url = (description: string) =>
  Type.Optional(
    Type.String({
      description,
      pattern: String.raw`^https?://[^\s]+$`,
      errorMessage: 'must be a URL that starts with http:// or https://',
    }),
  );
/** `name=value,…`, values percent-encoded, as in W3C Baggage. */
const pairs = (description: string) =>
  Type.String({
    default: '',
    pattern: String.raw`^\s*(?:[^\s,=]+\s*=(?:[^,%]|%[0-9A-Fa-f]{2})*(?:,\s*|$))*$`,
    errorMessage: 'must be name=value pairs separated by commas; in values, `,` is written %2C and `%` is written %25',
    description,
  });
const file = (description: string) => Type.Optional(Type.String({ description }));
const protocols = ['http/json', 'http/protobuf'] as const;
const compressions = ['none', 'gzip'] as const;
const milliseconds = (description: string) => Type.Integer({ minimum: 1, maximum: 600_000, description });
const forTraces = (name: string): string => `as ${name}, for traces alone; set, it is used in its place`;

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
const general = 'OTEL_EXPORTER_OTLP_';

export const tracingSettings = {
  OTEL_SDK_DISABLED: Type.Boolean({ default: false, description: 'turns traces off, whatever else is set' }),
  OTEL_SERVICE_NAME: Type.String({
    default: '',
    description: '`service.name` of the traces; empty = the name of the component',
  }),
  OTEL_RESOURCE_ATTRIBUTES: pairs(
    'attributes of the process in its traces, e.g. deployment.environment.name=production,…',
  ),
  OTEL_TRACES_EXPORTER: Type.Optional(
    choice(['otlp', 'none'], {
      description: 'where traces go: `otlp` or `none`; unset = `otlp` when a collector is set',
    }),
  ),
  OTEL_TRACES_SAMPLER: choice(samplers, {
    default: 'parentbased_traceidratio',
    description: 'which traces are kept; with `parentbased_`, the `traceparent` header of a request decides first',
  }),
  OTEL_TRACES_SAMPLER_ARG: Type.Number({
    default: 1,
    minimum: 0,
    maximum: 1,
    description: 'share of traces that a sampler `traceidratio` keeps, 0 to 1',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: url(
    'collector (OTLP over HTTP, without /v1/traces), e.g. http://localhost:4318; unset = no traces',
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url(
    'address for traces, used exactly as it is, in the place of OTEL_EXPORTER_OTLP_ENDPOINT',
  ),
  OTEL_EXPORTER_OTLP_PROTOCOL: choice(protocols, { description: 'encoding of what is sent', default: 'http/json' }),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: Type.Optional(
    choice(protocols, { description: forTraces(`${general}PROTOCOL`) }),
  ),
  OTEL_EXPORTER_OTLP_HEADERS: secret(pairs('headers for the collector, name=value,…')),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: secret(pairs(`more headers, for traces alone; they win over ${general}HEADERS`)),
  OTEL_EXPORTER_OTLP_TIMEOUT: {
    ...milliseconds('time of one export with its retries, in milliseconds'),
    default: 10_000,
  },
  OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: Type.Optional(milliseconds(forTraces(`${general}TIMEOUT`))),
  OTEL_EXPORTER_OTLP_COMPRESSION: choice(compressions, { description: 'compression of what is sent', default: 'none' }),
  OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: Type.Optional(
    choice(compressions, { description: forTraces(`${general}COMPRESSION`) }),
  ),
  OTEL_EXPORTER_OTLP_CERTIFICATE: file('file with the CA certificates of the collector (PEM)'),
  OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: file(forTraces(`${general}CERTIFICATE`)),
  OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: file('file with the client certificate for the collector (PEM)'),
  OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE: file(forTraces(`${general}CLIENT_CERTIFICATE`)),
  OTEL_EXPORTER_OTLP_CLIENT_KEY: file('file with the key of the client certificate (PEM)'),
  OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: file(forTraces(`${general}CLIENT_KEY`)),
  OTEL_BSP_SCHEDULE_DELAY: { ...milliseconds('longest time between two exports, in milliseconds'), default: 1_000 },
  OTEL_BSP_EXPORT_TIMEOUT: {
    ...milliseconds('time after which an export is given up, in milliseconds'),
    default: 30_000,
  },
  OTEL_BSP_MAX_QUEUE_SIZE: Type.Integer({
    default: 2_048,
    minimum: 1,
    maximum: 1_000_000,
    description: 'spans that wait for an export; further ones are dropped',
  }),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: Type.Integer({
    default: 512,
    minimum: 1,
    maximum: 1_000_000,
    description: 'most spans of one export; at most OTEL_BSP_MAX_QUEUE_SIZE',
  }),
};
