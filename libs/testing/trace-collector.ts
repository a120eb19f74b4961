/** A collector of traces: takes OTLP over HTTP in its JSON form, as the exporter sends it, and keeps the spans. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';

export interface CollectedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Undefined for the first span of a trace. */
  readonly parentSpanId: string | undefined;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface TraceCollector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string;
  /** So far, in the order of arrival. */
  readonly spans: readonly CollectedSpan[];
  /** Bodies as they came. */
  readonly bodies: readonly string[];
  /** Values of the header `x-tenant`. */
  readonly tenants: ReadonlySet<string>;
  stop(): Promise<void>;
}

interface OtlpValue {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
}
type OtlpAttributes = readonly { readonly key: string; readonly value: OtlpValue }[];
interface OtlpBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: OtlpAttributes };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly name: string;
        readonly attributes: OtlpAttributes;
        readonly status: { readonly code?: number };
      }[];
    }[];
  }[];
}

const errorStatus = 2;

export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: CollectedSpan[] = [];
  const bodies: string[] = [];
  const tenants = new Set<string>();
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    void readText(request).then((text) => {
      const known = request.method === 'POST' && request.url === '/v1/traces';
      if (known) {
        bodies.push(text);
        tenants.add(String(request.headers['x-tenant'] ?? ''));
        spans.push(...readSpans(JSON.parse(text) as OtlpBody));
      }
      response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' }).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    tenants,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function readSpans(body: OtlpBody): CollectedSpan[] {
  return body.resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(readAttributes(resource.attributes)['service.name']);
    return scopeSpans.flatMap((scope) =>
      scope.spans.map(({ name, traceId, spanId, parentSpanId, attributes, status }) => ({
        service,
        name,
        traceId,
        spanId,
        parentSpanId: parentSpanId === undefined || parentSpanId === '' ? undefined : parentSpanId,
        failed: status.code === errorStatus,
        attributes: readAttributes(attributes),
      })),
    );
  });
}

function readAttributes(attributes: OtlpAttributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
