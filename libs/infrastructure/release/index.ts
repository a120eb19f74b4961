/** Version, migrations and NATS permissions of this release (rules/operations#releases). */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const servicesDir = join(import.meta.dirname, '..', '..', '..', 'services');
const packageFile = join(import.meta.dirname, '..', '..', '..', 'package.json');

export const releaseVersion: string = (JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }).version;

/**
 * Returns the NATS permissions by user, as configured in deploy/helm/coherence/files/nats.conf. The administrator has
 * all permissions.
 */
export function natsPermissions(): Readonly<
  Record<string, { readonly publish: readonly string[]; readonly subscribe: readonly string[] }>
> {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'nats-permissions.json'), 'utf8'));
}

/** Returns the migrations folder of a service. */
export const migrationsFolder = (service: string): string => join(servicesDir, service, 'migrations');

/** Returns the migration names of a service in order, one per file; empty for a service without a database. */
export function serviceMigrations(service: string): string[] {
  const folder = migrationsFolder(service);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .flatMap((file) => /^(Migration\d{14}_\w+)\.ts$/.exec(file)?.[1] ?? [])
    .toSorted();
}

/**
 * Returns the migrations of a service that replace earlier ones, with the names of the earlier migrations
 * (`replaced.json`).
 */
export function replacedMigrations(service: string): Readonly<Record<string, readonly string[]>> {
  const file = join(migrationsFolder(service), 'replaced.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string[]>) : {};
}

/**
 * Returns the names. If they contain all migrations that another one replaces, the replacing one is returned instead.
 */
export function withReplacements(
  names: readonly string[],
  replaced: Readonly<Record<string, readonly string[]>>,
): string[] {
  const result = new Set(names);
  for (const [name, former] of Object.entries(replaced)) {
    if (!former.every((item) => result.has(item))) continue;
    for (const item of former) result.delete(item);
    result.add(name);
  }
  return [...result].toSorted();
}

/** Returns the migration names of every service with a database, by schema. */
export function listMigrations(): Record<string, string[]> {
  const all = readdirSync(servicesDir)
    .toSorted()
    .map((service) => [service, serviceMigrations(service)] as const);
  return Object.fromEntries(all.filter(([, names]) => names.length > 0));
}

/** Returns the name of a service in the chart's values and in names of variables. */
export function componentOf(service: string): string {
  return service === 'api-gateway' ? 'gateway' : service;
}
