/**
 * Calls several services. When a service does not reply, the results of the other services are still returned (P2 to
 * P4).
 */
import { CliError, describeFailure } from './failure.ts';

export interface Replies<T> {
  readonly found: readonly T[];
  /** Error text of each service that did not reply. */
  readonly failures: ReadonlyMap<string, string>;
}

/** Calls all services in parallel. Returns the replies and, by service, the failures. */
export async function callAll<T>(
  services: readonly string[],
  call: (service: string) => Promise<T>,
): Promise<Replies<T>> {
  const found: T[] = [];
  const failures = new Map<string, string>();
  await Promise.all(
    services.map(async (service) => {
      try {
        found.push(await call(service));
      } catch (error) {
        failures.set(service, describeFailure(error));
      }
    }),
  );
  return { found, failures };
}

const describeAll = (failures: Replies<unknown>['failures']): string =>
  [...failures].map(([service, failure]) => `${service}: ${failure}`).join('; ');

/** @throws CliError when a service did not reply */
export function requireAll({ failures }: Replies<unknown>): void {
  if (failures.size > 0) throw new CliError(`No reply from ${describeAll(failures)}`, 'unavailable');
}

/**
 * Reports a partial result. A service that did not reply may have completed the change.
 * @param summary result as text
 * @param done result by service, for --json
 * @throws CliError when a service did not reply
 */
export function requireDone(
  failures: Replies<unknown>['failures'],
  summary: string,
  done: Readonly<Record<string, unknown>>,
): void {
  if (failures.size === 0) return;
  const again = 'You can safely run the command again.';
  const details = { done, missing: [...failures.keys()].toSorted() };
  throw new CliError(
    `${summary === '' ? '' : `${summary} `}No reply from ${describeAll(failures)}. ${again}`,
    'unavailable',
    details,
  );
}
