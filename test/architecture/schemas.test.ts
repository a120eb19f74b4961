import { describe, expect, it } from '@jest/globals';
import { compileSchema } from '#libs/schema';
import { contracts } from '../../tools/servers/service-contracts.ts';

describe('schemas of contracts', () => {
  it('can be compiled, which a service does when it checks the first value', () => {
    const schemas = contracts.flatMap(({ rpcs, jobs, events }) => [
      ...Object.values(rpcs).flatMap(({ request, reply }) => [request, reply]),
      ...[...Object.values(jobs), ...Object.values(events)].map(({ payload }) => payload),
    ]);
    expect(schemas.length).toBeGreaterThan(300);
    for (const schema of schemas) expect(() => compileSchema(schema)(undefined)).not.toThrow();
  });
});
