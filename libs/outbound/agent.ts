/** What opens and keeps the connections of outgoing calls. */
import { Agent } from 'undici';
import type { AllowedHost } from './address.ts';
import { createConnector } from './connector.ts';
import type { Resolve } from './names.ts';

export interface AgentOptions {
  /** Whether hosts that the configuration does not name are reached by TLS alone; default false. */
  requireTls?: boolean;
  /** Default 10 000. */
  connectTimeoutMs?: number;
  /** Time until the response's headers; default 30 000. */
  headersTimeoutMs?: number;
  /** Longest silence inside a body; default 30 000. */
  bodyIdleTimeoutMs?: number;
  /** Takes the place of every resolver in tests. */
  resolve?: Resolve;
  /** `address[:port]` of name servers that are asked instead of the system's, in tests. */
  nameServers?: readonly string[];
}

export function createAgent(allowed: readonly AllowedHost[], options: AgentOptions): Agent {
  return new Agent({
    connect: createConnector({
      allowed,
      requireTls: options.requireTls ?? false,
      connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
      ...(options.resolve === undefined ? {} : { resolve: options.resolve }),
      ...(options.nameServers === undefined ? {} : { nameServers: options.nameServers }),
    }),
    headersTimeout: options.headersTimeoutMs ?? 30_000,
    bodyTimeout: options.bodyIdleTimeoutMs ?? 30_000,
    allowH2: false,
    pipelining: 1,
  });
}
