/** Several services asked for the same: one that does not answer hides nothing that the others say or do (P2 to P4). */
import { CliError, describeFailure } from './failure.ts';

export interface Replies<T> {
  readonly found: readonly T[];
  /** Why, by the service that did not answer. */
  readonly failures: ReadonlyMap<string, string>;
}

/** Asks all of them at once. */
export async function callAll<T>(services: readonly string[], call: (service: string) => Promise<T>): Promise<Replies<T>> {
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

/** @throws CliError when a list misses somebody */
export function requireAll({ failures }: Replies<unknown>): void {
  if (failures.size > 0) throw new CliError(`No answer from ${describeAll(failures)}`, 'unavailable');
}

/**
 * What an act came to where somebody did not answer: the others have done their part, and the one that is missing may have.
 * @param summary what was done, for a terminal
 * @param done the same by service, for a program
 * @throws CliError when somebody is missing
 */
export function requireDone(failures: Replies<unknown>['failures'], summary: string, done: Readonly<Record<string, unknown>>): void {
  if (failures.size === 0) return;
  const again = 'Run it again: what is done changes nothing more.';
  const details = { done, missing: [...failures.keys()].toSorted() };
  throw new CliError(`${summary === '' ? '' : `${summary} `}No answer from ${describeAll(failures)}. ${again}`, 'unavailable', details);
}
