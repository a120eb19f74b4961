/** A trace collector: receives OTLP over HTTP as JSON, as the exporter sends it, and stores the spans. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer as readBody } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

export interface CollectedSpan {
  readonly service: string;
  /** Attributes of the process. */
  readonly resource: Readonly<Record<string, unknown>>;
  readonly kind: number;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Undefined for the first span of a trace. */
  readonly parentSpanId: string | undefined;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface CollectedRequest {
  readonly path: string;
  readonly contentType: string;
  readonly encoding: string;
  readonly headers: IncomingHttpHeaders;
}

export interface TraceCollector {
  /** Value for OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string;
  /** Spans received so far, oldest first. */
  readonly spans: readonly CollectedSpan[];
  /** Bodies as received. */
  readonly bodies: readonly string[];
  /** Values of the header `x-tenant`. */
  readonly tenants: ReadonlySet<string>;
  /** Received requests. A body that is not JSON is accepted but not parsed. */
  readonly requests: readonly CollectedRequest[];
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
        readonly kind: number;
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
  const requests: CollectedRequest[] = [];
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    void readBody(request).then((body) => {
      const { url: path = '', headers } = request;
      const known = request.method === 'POST' && path.endsWith('/traces');
      if (known) {
        const contentType = headers['content-type'] ?? '';
        const encoding = headers['content-encoding'] ?? '';
        requests.push({ path, contentType, encoding, headers });
        tenants.add(String(headers['x-tenant'] ?? ''));
        if (contentType === 'application/json') {
          const text = (encoding === 'gzip' ? gunzipSync(body) : body).toString();
          bodies.push(text);
          spans.push(...readSpans(JSON.parse(text) as OtlpBody));
        }
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
    requests,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function readSpans(body: OtlpBody): CollectedSpan[] {
  return body.resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const attributesOfProcess = readAttributes(resource.attributes);
    const service = String(attributesOfProcess['service.name']);
    return scopeSpans.flatMap((scope) =>
      scope.spans.map(({ name, kind, traceId, spanId, parentSpanId, attributes, status }) => ({
        service,
        resource: attributesOfProcess,
        kind,
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
