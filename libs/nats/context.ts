import { randomUUID } from 'node:crypto';
import type { CallContext } from './wire.ts';

/** Context of work that no request caused (start-up, sweeps, CLI): a new request id and the system actor of that name. */
export function systemContext(name: string, given: Partial<CallContext> = {}): CallContext {
  return { requestId: randomUUID(), actor: { kind: 'system', name }, ...given };
}
