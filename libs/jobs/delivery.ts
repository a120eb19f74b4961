/** What a delivered message asks for: a job of this service by its id, or another service's job with everything in it. */
import { findJsonProblem, isJsonObject, parseJson } from '#libs/json';
import type { Delivery } from '#libs/nats';
import { readRequestId, readTraceIds } from '#libs/telemetry';
import { isUuid } from './uuid.ts';

export interface DeliveredJob {
  readonly id: string;
  /** Present when another service made the job: it gets its row here. */
  readonly content?: { readonly key: string | null; readonly delayMs: number; readonly payload: string } | undefined;
}

/** What an index of PostgreSQL surely takes. */
const mostKeyBytes = 2_000;
/** The last time that a `Date` knows: PostgreSQL knows it too. */
const lastTimeMs = 8.64e15;

/** The job that a message calls for, undefined when it is no such message: nothing in it can be trusted then. */
export function readDelivery(delivery: Delivery): DeliveredJob | undefined {
  try {
    const body = parseJson(Buffer.from(delivery.data).toString('utf8'));
    if (!isJsonObject(body) || !isUuid(body['id'])) return undefined;
    if (!('payload' in body)) return { id: body['id'] };
    const key = typeof body['key'] === 'string' ? body['key'] : null;
    const runAtMs = typeof body['run_at'] === 'number' ? body['run_at'] : 0;
    // What the database refuses would come again for ever, and would take what is stored together with it along.
    if (findJsonProblem(body) !== undefined || Buffer.byteLength(key ?? '') > mostKeyBytes || runAtMs > lastTimeMs) return undefined;
    return {
      id: body['id'],
      content: { key, delayMs: Math.max(0, runAtMs - Date.now()), payload: JSON.stringify(body['payload']) },
    };
  } catch {
    return undefined;
  }
}

/** Who caused the job, as the message's headers tell; what is no id of a request, or no `traceparent`, is not stored. */
export function readOrigin(delivery: Delivery): { requestId: string | null; traceparent: string | null } {
  const requestId = delivery.header('Request-Id');
  const traceparent = delivery.header('traceparent');
  return {
    requestId: requestId === undefined ? null : readRequestId(requestId),
    traceparent: readTraceIds(traceparent) === undefined ? null : (traceparent ?? null),
  };
}
