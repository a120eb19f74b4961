/** Status of a service for operators (P1): handlers of `statusRpcs`. */
import { type Actor, consumerOf, mayReadOps, type ServiceContract, type ServiceStatus } from '#libs/contract';
import { appError } from '#libs/errors';
import type { Jobs } from '#libs/jobs';
import type { Bus } from '#libs/nats';
import type { Telemetry } from '#libs/telemetry';

/** Service-specific fields of the status. */
export type StatusDetails = Partial<Pick<ServiceStatus, 'webhooks' | 'failed_logins'>>;

export interface StatusParts {
  readonly contract: ServiceContract;
  readonly telemetry: Pick<Telemetry, 'describe'>;
  readonly jobs: Pick<Jobs, 'admin'>;
  readonly bus: Pick<Bus, 'consumerLag'>;
  readonly details: (() => Promise<StatusDetails>) | undefined;
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
      if (!mayReadOps(actor))
        throw appError('permission_denied', 'not_an_operator', 'You do not have access to operations.');
      return describe();
    },
    adminDescribeService: describe,
  };
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
