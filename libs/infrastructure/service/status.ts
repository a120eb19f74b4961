/** Status of a service for operators (P1): handlers of `statusRpcs`. */
import { requireOpsReader } from '#libs/infrastructure/actor';
import {
  type Actor,
  consumerOf,
  type Finding,
  type ServiceContract,
  type ServiceStatus,
} from '#libs/infrastructure/contract';
import type { Jobs } from '#libs/infrastructure/jobs';
import type { Bus } from '#libs/infrastructure/nats';
import type { Telemetry } from '#libs/infrastructure/telemetry';

/** Service-specific fields of the status. */
export type StatusDetails = Partial<Pick<ServiceStatus, 'webhooks' | 'failed_logins'>>;

/** A check for `doctor` that only the service can make. */
export interface ServiceCheck {
  readonly name: string;
  /** False for optional features. */
  readonly needed: boolean;
  /** Returns the state. @throws Error whose message names the problem and its remedy */
  readonly examine: () => Promise<string>;
}

export interface StatusParts {
  readonly contract: ServiceContract;
  readonly telemetry: Pick<Telemetry, 'describe'>;
  readonly jobs: Pick<Jobs, 'admin'>;
  readonly bus: Pick<Bus, 'consumerLag'>;
  readonly details: (() => Promise<StatusDetails>) | undefined;
  readonly checks: readonly ServiceCheck[];
}

/** Milliseconds for which counts are cached. */
const cacheMs = 2_000;

export function statusHandlers(parts: StatusParts) {
  const count = memoizeFor(cacheMs, async () => ({
    jobs: await parts.jobs.admin.count(),
    consumers: await listConsumers(parts),
    ...(await parts.details?.()),
  }));
  const describe = async (): Promise<ServiceStatus> => {
    const [process, counts] = await Promise.all([parts.telemetry.describe(), count()]);
    return { ...process, ...counts };
  };
  return {
    describeService: (_request: object, { actor }: { readonly actor?: Actor | undefined }): Promise<ServiceStatus> => {
      requireOpsReader(actor);
      return describe();
    },
    adminDescribeService: async (): Promise<ServiceStatus & { findings: Finding[] }> => {
      const [described, findings] = await Promise.all([describe(), Promise.all(parts.checks.map(examine))]);
      return { ...described, findings };
    },
  };
}

async function examine({ name, needed, examine: run }: ServiceCheck): Promise<Finding> {
  try {
    return { name, needed, ok: true, detail: await run() };
  } catch (error) {
    return { name, needed, ok: false, detail: error instanceof Error ? error.message : String(error) };
  }
}

/** Returns the consumers of the service. Only the service itself has the permission to query them. */
function listConsumers({ contract, bus }: StatusParts): Promise<ServiceStatus['consumers']> {
  const own = [
    ...Object.values(contract.jobs).map(({ type }) => ({ stream: 'JOBS' as const, name: consumerOf(type) })),
    ...Object.values(contract.consumers ?? {}).map(({ stream, durable }) => ({ stream, name: durable })),
  ];
  return Promise.all(
    own.map(async ({ stream, name }) => {
      const { pending, ackPending } = await bus.consumerLag(stream, name);
      return { stream, name, pending, lag: pending + ackPending };
    }),
  );
}

/**
 * Returns a function that shares the result of `work` among concurrent callers, and caches it for `milliseconds`.
 * Failures are not cached.
 */
function memoizeFor<T>(milliseconds: number, work: () => Promise<T>): () => Promise<T> {
  let until = -Infinity;
  let shared: Promise<T> | undefined;
  return () => {
    if (shared !== undefined && performance.now() < until) return shared;
    until = performance.now() + milliseconds;
    const own = work();
    shared = own;
    own.catch(() => (shared = undefined));
    return own;
  };
}
