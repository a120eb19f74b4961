/** The settings of every service, read from the schemas that the services themselves use. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export interface SettingSchema {
  readonly default?: unknown;
  readonly description?: string;
  /** True for secrets. */
  readonly writeOnly?: boolean;
  /** See `ownSecret` of libs/config. */
  readonly chosenByUs?: boolean;
  readonly neededUnless?: string;
  /** See `accountName` of libs/config. */
  readonly namesAccount?: boolean;
}

export interface ServiceSettings {
  readonly service: string;
  readonly properties: Readonly<Record<string, SettingSchema>>;
  readonly required: readonly string[];
}

const servicesDir = join(import.meta.dirname, '..', '..', 'services');

/** @throws Error when a service exports no schema of its settings. */
export async function readServiceSettings(): Promise<ServiceSettings[]> {
  const found: ServiceSettings[] = [];
  for (const service of readdirSync(servicesDir).toSorted()) {
    const file = join(servicesDir, service, 'config.ts');
    if (!existsSync(file)) continue;
    const schema = Object.values((await import(pathToFileURL(file).href)) as Record<string, unknown>).find(isObjectSchema);
    if (schema === undefined) throw new Error(`${file} exports no schema of its settings`);
    found.push({ service, properties: schema.properties, required: schema.required ?? [] });
  }
  return found;
}

function isObjectSchema(value: unknown): value is { properties: Record<string, SettingSchema>; required?: string[] } {
  return typeof value === 'object' && value !== null && 'properties' in value && 'type' in value;
}
