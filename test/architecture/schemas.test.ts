import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { compileSchema } from '#libs/infrastructure/schema';
import { routes } from '../../services/api-gateway/routes/index.ts';
import { contracts } from '../../libs/product/servers/service-contracts.ts';
import { readServiceSettings } from '../../libs/product/servers/service-settings.ts';

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

describe('schemas', () => {
  it('schemas are valid JSON Schema 2020-12', async () => {
    const settings = (await readServiceSettings()).map(({ properties, required }) => ({ properties, required }));
    expect([settings.length, ofContracts.length > 300, ofRoutes.length > 250]).toEqual([7, true, true]);
    const ajv = new Ajv2020({ logger: false });
    const isSchema = (schema: object): unknown => ajv.validateSchema(schema);
    expect(isSchema({ type: 'object', properties: { a: { minimum: 'much' } } })).toBe(false);
    for (const schema of [...ofContracts, ...ofRoutes, ...settings]) {
      if (isSchema(schema) !== true) expect([schema, ajv.errorsText()]).toEqual([]);
    }
  });

  it('schemas of contracts compile', () => {
    for (const schema of ofContracts) expect(() => compileSchema(schema)(undefined)).not.toThrow();
  });
});
