/** What a delivered message asks for: a job of this service by its id, or another service's job with everything in it. */
import { isJsonObject, parseJson } from '#libs/json';
import type { Delivery } from '#libs/nats';
import { isUuid } from './uuid.ts';

export interface DeliveredJob {
  readonly id: string;
  /** Present when another service made the job: it gets its row here. */
  readonly content?: { readonly key: string | null; readonly delayMs: number; readonly payload: string } | undefined;
}

/** The job that a message calls for, undefined when it is no such message: nothing in it can be trusted then. */
export function readDelivery(delivery: Delivery): DeliveredJob | undefined {
  try {
    const body = parseJson(Buffer.from(delivery.data).toString('utf8'));
    if (!isJsonObject(body) || !isUuid(body['id'])) return undefined;
    if (!('payload' in body)) return { id: body['id'] };
    const { key, run_at: runAt } = body;
    return {
      id: body['id'],
      content: {
        key: typeof key === 'string' ? key : null,
        delayMs: typeof runAt === 'number' ? Math.max(0, runAt - Date.now()) : 0,
        payload: JSON.stringify(body['payload']),
      },
    };
  } catch {
    return undefined;
  }
}

/** Who caused the job, as the message's headers tell. */
export function readOrigin(delivery: Delivery): { requestId: string | null; traceparent: string | null } {
  return { requestId: delivery.header('Request-Id') ?? null, traceparent: delivery.header('traceparent') ?? null };
}
