/** Reads the settings of every service from `services/<name>/config.ts`. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export interface SettingSchema {
  readonly default?: unknown;
  readonly description?: string;
  /** True for secrets. */
  readonly writeOnly?: boolean;
  /** Marker set by `ownSecret` of libs/infrastructure/config. */
  readonly chosenByUs?: boolean;
  readonly neededUnless?: string;
  /** Marker set by `rotatedSecret` of libs/infrastructure/config. */
  readonly mostValues?: number;
  /** Marker set by `accountName` of libs/infrastructure/config. */
  readonly namesAccount?: boolean;
}

export interface ServiceSettings {
  readonly service: string;
  readonly properties: Readonly<Record<string, SettingSchema>>;
  readonly required: readonly string[];
}

const servicesDir = join(import.meta.dirname, '..', '..', '..', 'services');

/**
 * Returns the settings of all services.
 * @throws Error when a service does not export a schema of its settings
 */
export async function readServiceSettings(): Promise<ServiceSettings[]> {
  const found: ServiceSettings[] = [];
  for (const service of readdirSync(servicesDir).toSorted()) {
    if (!existsSync(configOf(service))) continue;
    const schema = (await listExports(service)).find(isObjectSchema);
    if (schema === undefined) throw new Error(`${configOf(service)} does not export a schema of its settings`);
    found.push({ service, properties: schema.properties, required: schema.required ?? [] });
  }
  return found;
}

/** Returns the configuration of a service. @throws ConfigError for the same settings as the service itself */
export async function loadServiceConfig(service: string, settings: Readonly<Record<string, string>>): Promise<unknown> {
  const load = (await listExports(service)).find(
    (value) => typeof value === 'function' && value.name.startsWith('load'),
  );
  if (load === undefined) throw new Error(`${configOf(service)} exports no function that reads its settings`);
  return (load as (env: Readonly<Record<string, string>>) => unknown)(settings);
}

const configOf = (service: string): string => join(servicesDir, service, 'config.ts');

async function listExports(service: string): Promise<unknown[]> {
  return Object.values((await import(pathToFileURL(configOf(service)).href)) as Record<string, unknown>);
}

function isObjectSchema(value: unknown): value is { properties: Record<string, SettingSchema>; required?: string[] } {
  return typeof value === 'object' && value !== null && 'properties' in value && 'type' in value;
}
