import { randomFillSync, randomUUID } from 'node:crypto';

const pattern = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const invalidTraceId = '0'.repeat(32);
const invalidSpanId = '0'.repeat(16);

/** Random bytes are drawn in pages: a draw of any size costs as much as the other bookkeeping of a small request. */
const page = Buffer.alloc(4096);
let used = page.length;

function takeRandomHex(byteCount: number): string {
  if (used + byteCount > page.length) {
    randomFillSync(page);
    used = 0;
  }
  used += byteCount;
  return page.toString('hex', used - byteCount, used);
}

/** The W3C `traceparent` of a new span: in the parent's trace when that is valid, otherwise in a new, unsampled one. */
export function newTraceparent(parent?: string): string {
  const match = parent === undefined ? null : pattern.exec(parent);
  const spanId = takeRandomHex(8);
  if (match === null || match[1] === invalidTraceId || match[2] === invalidSpanId) {
    return `00-${takeRandomHex(16)}-${spanId}-00`;
  }
  return `00-${match[1]}-${spanId}-${match[3]}`;
}

/** The ids of a `traceparent`; undefined when invalid. */
export function readTraceIds(traceparent: string | undefined): TraceIds | undefined {
  const [, traceId = invalidTraceId, spanId = invalidSpanId] =
    (traceparent === undefined ? null : pattern.exec(traceparent)) ?? [];
  return traceId === invalidTraceId || spanId === invalidSpanId ? undefined : { trace_id: traceId, span_id: spanId };
}

/** Field names of log lines and exemplars. */
export type TraceIds = Readonly<Record<'trace_id' | 'span_id', string>>;

/** The ids of a sampled `traceparent`. */
export function readSampledTrace(traceparent: string | undefined): TraceIds | undefined {
  if (traceparent === undefined || (Number.parseInt(traceparent.slice(-1), 16) & 1) === 0) return undefined;
  return readTraceIds(traceparent);
}

const requestIdPattern = /^[\x21-\x7e]{1,128}$/;

/** The request id of the client, or a new one when that is invalid. */
export function readRequestId(given: unknown): string {
  return typeof given === 'string' && requestIdPattern.test(given) ? given : newRequestId();
}

/** Id of one inbound request, sent in `Request-Id` on every hop. */
export function newRequestId(): string {
  return randomUUID();
}
