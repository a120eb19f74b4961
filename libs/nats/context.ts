import { randomUUID } from 'node:crypto';
import type { CallContext } from './wire.ts';

/** Context of work that no client caused (start-up, sweeps, jobs, the CLI): a new request id and no actor, the process acts for itself. */
export function newContext(given: Omit<Partial<CallContext>, 'actor'> = {}): CallContext {
  return { requestId: randomUUID(), ...given };
}

/** What a service asks for itself while it serves a call: the same request, trace and deadline, for no client. */
export function withoutActor({ requestId, traceparent, deadlineMs }: CallContext): CallContext {
  return { requestId, traceparent, deadlineMs };
}
