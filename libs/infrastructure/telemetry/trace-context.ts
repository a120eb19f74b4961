import { randomFillSync, randomUUID } from 'node:crypto';

const pattern = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const invalidTraceId = '0'.repeat(32);
const invalidSpanId = '0'.repeat(16);

/** Random bytes are generated in blocks of this size, because generating a few bytes costs as much as a whole block. */
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
 * Returns the W3C `traceparent` of a new span. The span belongs to the parent's trace if `parent` is valid, otherwise
 * to a new, unsampled trace.
 */
export function newTraceparent(parent?: string): string {
  const match = parent === undefined ? null : pattern.exec(parent);
  const spanId = takeRandomHex(8);
  if (match === null || match[1] === invalidTraceId || match[2] === invalidSpanId) {
    return `00-${takeRandomHex(16)}-${spanId}-00`;
  }
  return `00-${match[1]}-${spanId}-${match[3]}`;
}

/** Returns the ids in a `traceparent`; undefined when it is invalid. */
export function readTraceIds(traceparent: string | undefined): TraceIds | undefined {
  const [, traceId = invalidTraceId, spanId = invalidSpanId] =
    (traceparent === undefined ? null : pattern.exec(traceparent)) ?? [];
  return traceId === invalidTraceId || spanId === invalidSpanId ? undefined : { trace_id: traceId, span_id: spanId };
}

/** Ids of a span, under the field names of log lines and exemplars. */
export type TraceIds = Readonly<Record<'trace_id' | 'span_id', string>>;

/** Returns the ids in a sampled `traceparent`; undefined when it is not sampled or invalid. */
export function readSampledTrace(traceparent: string | undefined): TraceIds | undefined {
  if (traceparent === undefined || (Number.parseInt(traceparent.slice(-1), 16) & 1) === 0) return undefined;
  return readTraceIds(traceparent);
}

const requestIdPattern = /^[\x21-\x7e]{1,128}$/;

/** Returns the client's request id, or a new id if the client's is invalid. */
export function readRequestId(given: unknown): string {
  return typeof given === 'string' && requestIdPattern.test(given) ? given : newRequestId();
}

/** Returns the id of a new inbound request, which is sent in `Request-Id` on every hop. */
export function newRequestId(): string {
  return randomUUID();
}
