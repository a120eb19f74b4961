/** The event feed as an endless sequence that survives lost connections and server restarts. */
import { backoff, type RetryOptions, sleep } from './attempts.ts';
import { ApiConnectionError, ApiError } from './errors.ts';
import type { PlatformEvent } from './event-types.ts';
import type { Operations } from './operations.ts';
import type { CallOptions } from './transport.ts';

type TypeOf<Type> = Type extends `${infer Kind}.${string}` ? Type | `${Kind}.*` : never;
/** An event type, or all types of a resource, such as `person.*`. */
export type EventType = TypeOf<PlatformEvent['type']>;

/** The events that match a filter of types. */
type EventOf<Types extends EventType> = Types extends `${infer Kind}.*`
  ? Extract<PlatformEvent, { type: `${Kind}.${string}` }>
  : Extract<PlatformEvent, { type: Types }>;

export interface FollowOptions<Types extends EventType = EventType> {
  /**
   * Cursor of the last processed event. With `latest`, only new events are returned; without a cursor, the oldest
   * stored event is the first.
   */
  readonly after?: string;
  /** Returns only events of these types. */
  readonly types?: readonly Types[];
  /** Returns only events of this subject; without `id`, of all subjects of this type. */
  readonly subject?: { readonly type: PlatformEvent['subject']['type']; readonly id?: number };
  /** Events per page; default 100. */
  readonly pageSize?: number;
  /** Seconds that the server waits for new events; default 25. */
  readonly waitSeconds?: number;
  /**
   * Called when events after the cursor were removed (410). Reload the data that you follow; the iteration then
   * continues with the oldest stored event. Without this callback the iteration throws the error.
   */
  readonly onExpired?: (error: ApiError) => void | Promise<void>;
  /** Ends the iteration, which throws the signal's reason. */
  readonly signal?: AbortSignal;
  readonly token?: string;
  /** Delays between retries. The number of retries is not limited. */
  readonly retry?: Pick<RetryOptions, 'firstDelayMs' | 'maxDelayMs'>;
}

/**
 * The server waits for events before it returns an empty response. An empty response in less time than this means that
 * the server is stopping.
 */
const heldMs = 1_000;

/**
 * Yields every event once, in order. Retries lost connections and unavailable servers with backoff. Store the `cursor`
 * of each event together with its result, and pass it as `after` the next time.
 * @throws ApiError for 400, 401 and 403, and for 410 without `onExpired`; the reason of `signal`
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
      // A page can be short or empty because the caller cannot see many of its events. The next page is then requested
      // at once.
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

/** Returns true when a retry can succeed after this error. */
function mayPass(error: unknown): boolean {
  if (error instanceof ApiError) return error.status === 408 || error.status === 429 || error.status >= 500;
  return error instanceof ApiConnectionError;
}
