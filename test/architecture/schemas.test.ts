import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { TSchema } from '#libs/contract';
import { compileSchema } from '#libs/schema';
import { routes } from '../../services/api-gateway/routes/index.ts';
import { contracts } from '../../tools/servers/service-contracts.ts';

const servicesDir = join(import.meta.dirname, '..', '..', 'services');

const ofContracts = contracts.flatMap(({ rpcs, jobs, events }) => [
  ...Object.values(rpcs).flatMap(({ request, reply }) => [request, reply]),
  ...[...Object.values(jobs), ...Object.values(events)].map(({ payload }) => payload),
]);
const ofRoutes = routes
  .flatMap(({ params, query, headers, body, replies }) => [
    params,
    query,
    headers,
    body?.schema,
    ...Object.values(replies).map((reply) => reply.schema),
  ])
  .filter((schema) => schema !== undefined);

async function listSettings(): Promise<TSchema[]> {
  const modules = await Promise.all(
    readdirSync(servicesDir).map(async (name) => (await import(join(servicesDir, name, 'config.ts'))) as Record<string, unknown>),
  );
  return modules.flatMap((exported) =>
    Object.entries(exported).flatMap(([name, value]) => (name.endsWith('Settings') ? [value as TSchema] : [])),
  );
}

describe('schemas', () => {
  it('are JSON Schema 2020-12, which no service looks at when it compiles them', async () => {
    const settings = await listSettings();
    expect([settings.length, ofContracts.length > 300, ofRoutes.length > 250]).toEqual([7, true, true]);
    const ajv = new Ajv2020({ logger: false });
    const isSchema = (schema: object): unknown => ajv.validateSchema(schema);
    expect(isSchema({ type: 'object', properties: { a: { minimum: 'much' } } })).toBe(false);
    for (const schema of [...ofContracts, ...ofRoutes, ...settings]) {
      if (isSchema(schema) !== true) expect([schema, ajv.errorsText()]).toEqual([]);
    }
  });

  it('of contracts can be compiled, which a service does when it checks the first value', () => {
    for (const schema of ofContracts) expect(() => compileSchema(schema)(undefined)).not.toThrow();
  });
});
