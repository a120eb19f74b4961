import { randomFillSync, randomUUID } from 'node:crypto';

const pattern = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const invalidTraceId = '0'.repeat(32);
const invalidSpanId = '0'.repeat(16);

/** Random bytes are drawn in pages: a draw of any size costs as much as the rest of a small request's bookkeeping. */
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

/**
 * The W3C `traceparent` of a new span: of the parent's trace when the parent is a valid header, else of a new, unsampled one.
 */
export function newTraceparent(parent?: string): string {
  const match = parent === undefined ? null : pattern.exec(parent);
  const spanId = takeRandomHex(8);
  if (match === null || match[1] === invalidTraceId || match[2] === invalidSpanId) {
    return `00-${takeRandomHex(16)}-${spanId}-00`;
  }
  return `00-${match[1]}-${spanId}-${match[3]}`;
}

/** The ids of a `traceparent`, or undefined when it is not valid. */
export function readTraceIds(traceparent: string | undefined): TraceIds | undefined {
  const [, traceId = invalidTraceId, spanId = invalidSpanId] = (traceparent === undefined ? null : pattern.exec(traceparent)) ?? [];
  return traceId === invalidTraceId || spanId === invalidSpanId ? undefined : { trace_id: traceId, span_id: spanId };
}

/** As log lines and exemplars name them. */
export type TraceIds = Readonly<Record<'trace_id' | 'span_id', string>>;

/** The ids of a sampled `traceparent`: a trace that a collector has. */
export function readSampledTrace(traceparent: string | undefined): TraceIds | undefined {
  if (traceparent === undefined || (Number.parseInt(traceparent.slice(-1), 16) & 1) === 0) return undefined;
  return readTraceIds(traceparent);
}

const requestIdPattern = /^[\x21-\x7e]{1,128}$/;

/** The id that a client gave its request, or another when it is none. */
export function readRequestId(given: unknown): string {
  return typeof given === 'string' && requestIdPattern.test(given) ? given : newRequestId();
}

/** Id of one inbound request, carried in `Request-Id` through every hop. */
export function newRequestId(): string {
  return randomUUID();
}
