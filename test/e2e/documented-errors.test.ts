/** Documented answers that take a cause from outside: everything behind the gateway is gone, or the body is too large. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { buildDocuments } from '../../services/api-gateway/documents.ts';
import { routes } from '../../services/api-gateway/routes/index.ts';
import { fittingRequest, type MadeRequest } from './contract/requests.ts';
import { type DocumentedOperation, listOperations } from './contract/served-documents.ts';
import { applyDemo, startWorld, type World } from './world.ts';

const maxBodyBytes = 4_194_304;
/** Ids and slugs that nobody has, in the path; of a query only what is needed is sent. */
const absent = { integer: 2_147_483_647, string: 'nothing-of-that-name' };
const operations = listOperations(Object.values(buildDocuments(routes)));
const documenting = (status: number): DocumentedOperation[] => operations.filter(({ responses }) => responses[status] !== undefined);

let world: World;
let alone: World;
let userToken: string;
beforeAll(async () => {
  [world, alone] = await Promise.all([startWorld(import.meta.url), startWorld(import.meta.url, {}, { services: ['api-gateway'] })]);
  await applyDemo(world, 'errors');
  userToken = await world.login('root-errors@example.org', 'pw-root-errors');
});
afterAll(() => Promise.all([world.stop(), alone.stop()]));

/** The same request at every run, so that what it shows as an example stays. */
function makeRequest(documented: DocumentedOperation): MadeRequest {
  const parameters = documented.parameters.filter(({ in: place, required }) => place !== 'query' || required);
  const operation = { ...documented, parameters };
  const known = parameters
    .filter(({ in: place }) => place === 'path')
    .map(({ name, schema }) => [name, [schema['type'] === 'integer' ? absent.integer : absent.string]]);
  const requests = fittingRequest(operation, Object.fromEntries(known)).filter(
    ({ path }) => /2147483647|nothing-of-that-name/.test(path) || known.length === 0,
  );
  return fc.sample(requests, { numRuns: 1, seed: 7 })[0] as MadeRequest;
}

function send(place: World, operation: DocumentedOperation, request: Pick<MadeRequest, 'path' | 'headers' | 'json' | 'body'>) {
  const schemes = new Set(operation.security.flatMap((entry) => Object.keys(entry)));
  const token = schemes.has('sharedToken') ? place.sharedToken : schemes.has('userToken') ? userToken : null;
  const { path, headers, json, body } = request;
  return place.call(operation.method, path, {
    token,
    headers: { ...headers, ...(schemes.has('loginGate') ? { 'x-svc-api-key': place.loginSecret } : {}) },
    ...(json === undefined ? {} : { json }),
    ...(body === undefined ? {} : { body }),
  });
}

describe('everything behind the gateway is down (spec 03 §1, Overload or a dependency down)', () => {
  it.each(documenting(503))('$id answers 503 with Retry-After', async (operation) => {
    const answer = await send(alone, operation, makeRequest(operation));
    const envelope = operation.path.startsWith('/api/v1/')
      ? { code: 'server_error', message: expect.any(String), retryable: true }
      : { detail: expect.any(String) };
    expect([answer.status, answer.json]).toEqual([503, envelope]);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('answers everything else as ever', async () => {
    const silent = operations.filter(({ responses }) => responses['503'] === undefined);
    const statuses = await Promise.all(silent.map(async (operation) => (await send(alone, operation, makeRequest(operation))).status));
    expect(statuses).toEqual(silent.map(() => 200));
    expect((await alone.call('GET', '/api/openapi.json', { token: null })).status).toBe(200);
  });
});

describe('bodies over 4 MiB (spec 03 §1, JSON body cap)', () => {
  const body = ' '.repeat(maxBodyBytes + 1);
  const reading = documenting(413).filter(({ requestBody }) => requestBody?.content['application/json'] !== undefined);
  it.each(reading)('$id answers 413', async (operation) => {
    const answer = await send(world, operation, { ...makeRequest(operation), json: undefined, body });
    expect([answer.status, answer.json]).toEqual([413, { detail: expect.any(String) }]);
  });
});

describe('bodies that are no JSON (spec 03 §1, Unparsable JSON)', () => {
  const reading = documenting(400).filter(({ requestBody }) => requestBody?.content['application/json'] !== undefined);
  it.each(reading)('$id answers 400', async (operation) => {
    const answer = await send(world, operation, { ...makeRequest(operation), json: undefined, body: '{"a":' });
    expect([answer.status, answer.json]).toEqual([400, { detail: 'Cannot parse request body' }]);
  });
});

describe('paths that name nothing (spec 01 and 02, Errors)', () => {
  const named = documenting(404).filter(({ parameters }) => parameters.some(({ in: place }) => place === 'path'));
  it.each(named)('$id answers 404', async (operation) => {
    const hasId = operation.parameters.some(({ in: place, schema }) => place === 'path' && schema['minimum'] === Number.MIN_SAFE_INTEGER);
    const request = makeRequest(operation);
    const path = hasId ? request.path.replace('2147483647', '-99999999999999999999') : request.path;
    const answer = await send(world, operation, { ...request, path });
    expect(answer.status).toBe(404);
  });
});
