/**
 * The NATS services protocol ($SRV.PING, INFO, STATS) for `nats service ls`, `info` and `stats`. The published package
 * is a pre-release for an older client and measures handlers only until their first await.
 */
import type { BusSubscription, Subscriptions } from './subscriptions.ts';
import { randomToken } from './token.ts';

/** Counters of one operation in this process. */
export class EndpointStats {
  readonly name: string;
  readonly subject: string;
  readonly queueGroup: string;
  readonly summary: string;
  requests = 0;
  errors = 0;
  lastError = '';
  processingMs = 0;

  constructor(endpoint: { name: string; subject: string; queueGroup: string; summary: string }) {
    this.name = endpoint.name;
    this.subject = endpoint.subject;
    this.queueGroup = endpoint.queueGroup;
    this.summary = endpoint.summary;
  }
}

const typePrefix = 'io.nats.micro.v1';

/** Subscribes to the monitoring subjects of one service. `name` may contain only letters, digits, `-` and `_`. */
export function announceService(
  subscriptions: Subscriptions,
  service: { name: string; version: string; description: string; endpoints: readonly EndpointStats[] },
): BusSubscription[] {
  const id = randomToken();
  const identity = { name: service.name, id, version: service.version, metadata: {} };
  const started = new Date().toISOString();
  const answers: Record<string, () => unknown> = {
    PING: () => ({ type: `${typePrefix}.ping_response`, ...identity }),
    INFO: () => ({
      type: `${typePrefix}.info_response`,
      ...identity,
      description: service.description,
      endpoints: service.endpoints.map((endpoint) => ({
        name: endpoint.name,
        subject: endpoint.subject,
        queue_group: endpoint.queueGroup,
        metadata: { summary: endpoint.summary },
      })),
    }),
    STATS: () => ({
      type: `${typePrefix}.stats_response`,
      ...identity,
      started,
      endpoints: service.endpoints.map(toStats),
    }),
  };
  return Object.entries(answers).flatMap(([verb, answer]) =>
    [`$SRV.${verb}`, `$SRV.${verb}.${service.name}`, `$SRV.${verb}.${service.name}.${id}`].map((subject) =>
      subscriptions.subscribe(subject, { callback: (message) => void message.respond(JSON.stringify(answer())) }),
    ),
  );
}

function toStats(endpoint: EndpointStats): Record<string, unknown> {
  const nanoseconds = Math.round(endpoint.processingMs * 1e6);
  return {
    name: endpoint.name,
    subject: endpoint.subject,
    queue_group: endpoint.queueGroup,
    num_requests: endpoint.requests,
    num_errors: endpoint.errors,
    last_error: endpoint.lastError,
    processing_time: nanoseconds,
    average_processing_time: endpoint.requests === 0 ? 0 : Math.round(nanoseconds / endpoint.requests),
  };
}
