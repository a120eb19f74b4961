/** Loads the contracts of all services that respond over NATS, by name. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ServiceContract } from '#libs/infrastructure/contract';

const servicesDir = join(import.meta.dirname, '..', '..', '..', 'services');

async function loadContract(file: string): Promise<ServiceContract> {
  const exported = Object.values((await import(pathToFileURL(file).href)) as Record<string, unknown>);
  const contract = exported.find(
    (value) => typeof value === 'object' && value !== null && 'service' in value && 'rpcs' in value,
  );
  if (contract === undefined) throw new Error(`${file} exports no contract`);
  return contract as ServiceContract;
}

export const contracts: readonly ServiceContract[] = await Promise.all(
  readdirSync(servicesDir)
    .toSorted()
    .map((service) => join(servicesDir, service, 'contract.ts'))
    .filter((file) => existsSync(file))
    .map(loadContract),
);
