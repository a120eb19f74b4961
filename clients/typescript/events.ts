/** The feed of events as one sequence that does not end, over lost connections and restarts of the server. */
import { backoff, type RetryOptions, sleep } from './attempts.ts';
import { ApiConnectionError, ApiError } from './errors.ts';
import type { PlatformEvent } from './event-types.ts';
import type { Operations } from './operations.ts';
import type { CallOptions } from './transport.ts';

type TypeOf<Type> = Type extends `${infer Kind}.${string}` ? Type | `${Kind}.*` : never;
/** A type of event, or all of a kind, such as `person.*`. */
export type EventType = TypeOf<PlatformEvent['type']>;

/** The events that a choice of types means. */
type EventOf<Types extends EventType> = Types extends `${infer Kind}.*`
  ? Extract<PlatformEvent, { type: `${Kind}.${string}` }>
  : Extract<PlatformEvent, { type: Types }>;

export interface FollowOptions<Types extends EventType = EventType> {
  /** Only what comes behind this cursor, that of the event that you worked last; `latest` = from now on; absent = from the oldest that is kept. */
  readonly after?: string;
  /** Only these. */
  readonly types?: readonly Types[];
  /** Only events of this subject, or with the type alone of all such subjects. */
  readonly subject?: { readonly type: PlatformEvent['subject']['type']; readonly id?: number };
  /** Events of a page; default 100. */
  readonly pageSize?: number;
  /** Seconds for which the server holds a request until something comes; default 25. */
  readonly waitSeconds?: number;
  /**
   * What comes behind the cursor is no longer kept in whole (410): read anew what you follow, then it goes on with the oldest event that is
   * kept. Without it the iteration throws.
   */
  readonly onExpired?: (error: ApiError) => void | Promise<void>;
  /** Ends the iteration: it throws the signal's reason. */
  readonly signal?: AbortSignal;
  readonly token?: string;
  /** Only the waits: it is tried again until `signal` says otherwise. */
  readonly retry?: Pick<RetryOptions, 'firstDelayMs' | 'maxDelayMs'>;
}

/** An answer that came sooner was not held: the server is about to stop. */
const heldMs = 1_000;

/**
 * Every event, each once, in their order. A lost connection, a restart and a busy server are waited for, with backoff; keep `cursor` of each event
 * with what you made of it, and begin there the next time.
 * @throws ApiError when the server refuses (401, 403, 400; 410 without `onExpired`); the reason of `signal`
 */
export async function* followEvents<Types extends EventType = EventType>(
  list: Operations['listEvents'],
  { after, types, subject, pageSize, waitSeconds = 25, onExpired, signal, token, retry }: FollowOptions<Types> = {},
): AsyncGenerator<EventOf<Types>, void, undefined> {
  const call: CallOptions = { retry: { attempts: 1 }, ...(signal && { signal }), ...(token !== undefined && { token }) };
  const query = {
    wait: waitSeconds,
    ...(types && { types: [...types] }),
    ...(subject && { subject_type: subject.type, ...(subject.id !== undefined && { subject_id: subject.id }) }),
    ...(pageSize !== undefined && { limit: pageSize }),
  };
  let failures = 0;
  for (let cursor = after; ;) {
    signal?.throwIfAborted();
    const requestedMs = performance.now();
    try {
      const { body } = await list({ query: { ...query, ...(cursor !== undefined && { after: cursor }) } }, call);
      // A page may end early, without any event, where much is not seen: what is behind it is asked for at once.
      const hasMore = body.items.length > 0 || (body.has_more && body.next !== cursor);
      const isHeld = hasMore || cursor === 'latest' || waitSeconds === 0 || performance.now() - requestedMs >= heldMs;
      failures = isHeld ? 0 : failures + 1;
      yield* body.items as unknown as EventOf<Types>[];
      cursor = body.next;
      if (!isHeld || (waitSeconds === 0 && !hasMore)) await sleep(backoff(Math.max(1, failures), retry), signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ApiError && error.status === 410 && onExpired !== undefined) {
        await onExpired(error);
        cursor = undefined;
        continue;
      }
      if (!mayPass(error)) throw error;
      failures += 1;
      const requestedMs = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
      await sleep(Math.max(requestedMs, backoff(failures, retry)), signal);
    }
  }
}

/** The same request may succeed later. */
function mayPass(error: unknown): boolean {
  if (error instanceof ApiError) return error.status === 408 || error.status === 429 || error.status >= 500;
  return error instanceof ApiConnectionError;
}
