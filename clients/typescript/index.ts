/** Typed client of the Coherence API; see README.md. */
import { ApiError } from './errors.ts';
import { type EventType, type FollowOptions, followEvents } from './events.ts';
import { type OperationErrors, type Operations, operationTable } from './operations.ts';
import { type AnyRequest, type CallOptions, type ClientOptions, type OperationEntry, send } from './transport.ts';

export * from './event-types.ts';
export * from './operations.ts';
export type { RetryOptions } from './attempts.ts';
export { ApiConnectionError, ApiError, ApiTimeoutError } from './errors.ts';
export type { EventType, FollowOptions } from './events.ts';
export { listItems, type Page, type PagedRequest } from './pages.ts';
export { type ReceivedWebhook, verifyWebhook, type WebhookEvent, type WebhookOptions, type WebhookTestEvent, WebhookVerificationError } from './webhooks.ts';
export type { ApiReply, CallOptions, ClientOptions, NotModified, Upload } from './transport.ts';

/** All operations, the event feed as a sequence, and the same client with another credential. */
export type Client = Operations & {
  withToken(token: string): Client;
  /** Yields events until `signal` aborts or the server rejects the request. */
  events<Types extends EventType = EventType>(options?: FollowOptions<Types>): ReturnType<typeof followEvents<Types>>;
};

/** Returns a client of one server. The client has no state except its options. */
export function createClient(options: ClientOptions): Client {
  const methods = Object.entries<OperationEntry>(operationTable).map(([name, entry]) => [
    name,
    (request?: AnyRequest, call?: CallOptions) => send(name, entry, options, request, call),
  ]);
  const operations = Object.fromEntries(methods) as unknown as Operations;
  return {
    ...operations,
    withToken: (token) => createClient({ ...options, token }),
    events: (follow) => followEvents(operations.listEvents, { ...(options.retry && { retry: options.retry }), ...follow }),
  };
}

/**
 * Returns true for an error of this operation; the status then narrows the type of the body. Undocumented statuses,
 * e.g. of a proxy, are possible too.
 */
export function isErrorOf<Name extends keyof OperationErrors>(error: unknown, operation: Name): error is ApiError & OperationErrors[Name] {
  return error instanceof ApiError && error.operation === operation;
}
