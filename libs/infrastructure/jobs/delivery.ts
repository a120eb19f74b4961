/** Parses a delivered message, which has the id of a job of this service, or a complete job from another service. */
import { findJsonProblem, isJsonObject, parseJson } from '#libs/infrastructure/json';
import type { Delivery } from '#libs/infrastructure/nats';
import { readRequestId, readTraceIds } from '#libs/infrastructure/telemetry';
import { isUuid } from './uuid.ts';

export interface DeliveredJob {
  readonly id: string;
  /** Set for a job from another service; this service then creates the row of the job. */
  readonly content?: { readonly key: string | null; readonly delayMs: number; readonly payload: string } | undefined;
}

/** Maximum size of a key, which must fit in an index entry of PostgreSQL. */
const maxKeyBytes = 2_000;
/** The latest time that both `Date` and PostgreSQL can represent. */
const lastTimeMs = 8.64e15;

/** Returns the job of a message; undefined for a malformed message, whose content is not used at all. */
export function readDelivery(delivery: Delivery): DeliveredJob | undefined {
  try {
    const body = parseJson(Buffer.from(delivery.data).toString('utf8'));
    if (!isJsonObject(body) || !isUuid(body['id'])) return undefined;
    if (!('payload' in body)) return { id: body['id'] };
    const key = typeof body['key'] === 'string' ? body['key'] : null;
    const runAtMs = typeof body['run_at'] === 'number' ? body['run_at'] : 0;
    // The database would reject these values. The message would be redelivered forever and fail each batch that
    // contains it.
    if (findJsonProblem(body) !== undefined || Buffer.byteLength(key ?? '') > maxKeyBytes || runAtMs > lastTimeMs)
      return undefined;
    return {
      id: body['id'],
      content: { key, delayMs: Math.max(0, runAtMs - Date.now()), payload: JSON.stringify(body['payload']) },
    };
  } catch {
    return undefined;
  }
}

/** Returns request id and trace from the message headers. An invalid request id or `traceparent` is dropped. */
export function readOrigin(delivery: Delivery): { requestId: string | null; traceparent: string | null } {
  const requestId = delivery.header('Request-Id');
  const traceparent = delivery.header('traceparent');
  return {
    requestId: requestId === undefined ? null : readRequestId(requestId),
    traceparent: readTraceIds(traceparent) === undefined ? null : (traceparent ?? null),
  };
}
