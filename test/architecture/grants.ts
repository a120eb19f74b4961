/**
 * Checks that the contracts grant exactly what the code uses. Callers of operations, starters of jobs and consumers of
 * events are named in the declaration; the rights of the NATS users are derived from it.
 */
import type { ServiceContract } from '#libs/infrastructure/contract';
import type { SourceFile } from './sources.ts';

type Kind = 'rpcs' | 'jobs' | 'events';
/** `directory.rpcs.getPeople` → users that call it. */
type Uses = Map<string, Set<string>>;

/**
 * Matches calls to a service that the operator selects. Such a call counts as a use of all operations with that key.
 */
const useOfAny = /(?<![\w.])rpcs\.(\w+)|\b(?:jobAdmin|status)Rpcs\([^)]*\)\.(\w+)/g;

/** Returns which users use each operation, job and event of other services. */
export function findUses(files: readonly SourceFile[], contracts: readonly ServiceContract[]): Uses {
  const uses: Uses = new Map();
  const services = contracts.map(({ service }) => service).join('|');
  const add = (declaration: string, user: string): void => {
    uses.set(declaration, (uses.get(declaration) ?? new Set()).add(user));
  };
  for (const { path, text } of files) {
    const user = findUser(path);
    if (user === undefined) continue;
    const named = new RegExp(
      `(typeof )?\\b(${services})\\.(rpcs|jobs)\\.(\\w+)\\b(?!\\.(?:reply|request|errors|payload))`,
      'g',
    );
    for (const [, type, service, kind, key] of text.matchAll(named))
      if (type === undefined) add(`${service}.${kind}.${key}`, user);
    const taken = new RegExp(`const \\{([^}]+)\\} =\\s+(${services})\\.rpcs;`, 'g');
    for (const [, keys = '', service] of text.matchAll(taken))
      for (const key of keys.split(',')) add(`${service}.rpcs.${key.trim()}`, user);
    const received = new RegExp(`subscribeEvent\\(\\s*(${services})\\.events\\.(\\w+)`, 'g');
    for (const [, service, key] of text.matchAll(received)) add(`${service}.events.${key}`, user);
    if (user !== 'cli' && user !== 'api-gateway') continue;
    for (const [, first, second] of text.matchAll(useOfAny)) {
      const key = first ?? second ?? '';
      for (const { service, rpcs } of contracts) if (Object.hasOwn(rpcs, key)) add(`${service}.rpcs.${key}`, user);
    }
  }
  return uses;
}

function findUser(path: string): string | undefined {
  if (path.endsWith('.test.ts')) return undefined;
  if (/^(cli|tools\/demo)\//.test(path)) return 'cli';
  return /^services\/([a-z-]+)\//.exec(path)?.[1];
}

/**
 * Returns one line per use without a grant and per grant without a use. `given` lists grants whose use cannot be
 * detected in the code.
 */
export function compareGrants(
  contracts: readonly ServiceContract[],
  uses: Uses,
  given: Readonly<Record<string, readonly string[]>> = {},
): string[] {
  const problems: string[] = [];
  for (const contract of contracts) {
    for (const [declaration, granted] of listGrants(contract)) {
      const used = new Set([...(uses.get(declaration) ?? []), ...(given[declaration] ?? [])]);
      if (!granted.includes(contract.service)) used.delete(contract.service);
      for (const user of granted)
        if (!used.has(user)) problems.push(`${declaration} names ${user}, which does not use it`);
      for (const user of used)
        if (!granted.includes(user)) problems.push(`${user} uses ${declaration}, which does not name it`);
    }
  }
  return problems;
}

function listGrants({ service, rpcs, jobs, events }: ServiceContract): [string, readonly string[]][] {
  const name = (kind: Kind, key: string): string => `${service}.${kind}.${key}`;
  return [
    ...Object.entries(rpcs).map(([key, { callers }]): [string, string[]] => [name('rpcs', key), Object.keys(callers)]),
    ...Object.entries(jobs).map(([key, { startedBy }]): [string, readonly string[]] => [name('jobs', key), startedBy]),
    ...Object.entries(events).map(([key, { subscribers }]): [string, readonly string[]] => [
      name('events', key),
      subscribers,
    ]),
  ];
}
