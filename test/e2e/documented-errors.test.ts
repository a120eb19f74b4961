/** Documented errors with an external cause: unavailable services, or requests without a matching operation. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { buildDocuments } from '../../services/api-gateway/documents.ts';
import { routes } from '../../services/api-gateway/routes/index.ts';
import { fittingRequest, type MadeRequest } from './contract/requests.ts';
import { type DocumentedOperation, listOperations } from './contract/served-documents.ts';
import { type Answer, applyDemo, createConversation, startTestPlatform, type TestPlatform } from './test-platform.ts';

const maxBodyBytes = 4_194_304;
/** Ids and slugs for path parameters that do not exist. */
const absent = { integer: 2_147_483_647, string: 'nothing-of-that-name' };
const operations = listOperations(Object.values(buildDocuments(routes)));
/** Webhook operations: the gateway buffers their requests while a service is unavailable. */
const hooks = new Set(
  routes.filter(({ exemptFromShedding }) => exemptFromShedding === true).map(({ operationId }) => operationId),
);
const documenting = (status: number): DocumentedOperation[] =>
  operations.filter(({ responses }) => responses[status] !== undefined);

let platform: TestPlatform;
let alone: TestPlatform;
let userToken: string;
/** Ids of existing objects for uploads. For a missing object the error would be returned before the body is read. */
const present = { conversations: 0, experiences: 0 };
beforeAll(async () => {
  [platform, alone] = await Promise.all([
    startTestPlatform(import.meta.url),
    startTestPlatform(import.meta.url, {}, { services: ['api-gateway'] }),
  ]);
  const demo = await applyDemo(platform, 'errors');
  const holons = [{ slug: 'bread', name: 'Bread', class: 'experience' }];
  const { ids } = await platform.apply({ classes: [{ slug: 'experience', label: 'Experience' }], holons });
  present.experiences = ids['holons']?.['bread'] ?? 0;
  present.conversations = (await createConversation(platform, demo)).id;
  userToken = await platform.login('root-errors@example.org', 'secret-of-root-errors');
});
afterAll(() => Promise.all([platform.stop(), alone.stop()]));

/** Returns a request for the operation, the same in every run. */
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

function credentialsFor(
  place: TestPlatform,
  { security }: DocumentedOperation,
): { token: string | null; headers: Record<string, string> } {
  const schemes = new Set(security.flatMap((entry) => Object.keys(entry)));
  const token = schemes.has('sharedToken') ? place.sharedToken : schemes.has('userToken') ? userToken : null;
  return { token, headers: schemes.has('loginGate') ? { 'x-svc-api-key': place.loginSecret } : {} };
}

function send(
  place: TestPlatform,
  operation: DocumentedOperation,
  request: Pick<MadeRequest, 'path' | 'headers' | 'json' | 'body'>,
) {
  const { path, headers, json, body } = request;
  const credentials = credentialsFor(place, operation);
  return place.call(operation.method, path, {
    token: credentials.token,
    headers: { ...headers, ...credentials.headers },
    ...(json === undefined ? {} : { json }),
    ...(body === undefined ? {} : { body }),
  });
}

/** Sends a body that starts with `start` and never ends. */
function begin(operation: DocumentedOperation, start: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<Response> {
  const { token, headers } = credentialsFor(platform, operation);
  const { path, headers: own, body } = makeRequest(operation);
  const url = `${platform.baseUrl}${path.replace(/(conversations|experiences)\/2147483647/, (_all, kind: keyof typeof present) => `${kind}/${present[kind]}`)}`;
  const init = {
    method: operation.method,
    headers: {
      ...own,
      ...headers,
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body instanceof FormData ? { 'content-type': 'multipart/form-data; boundary=x' } : {}),
    },
    body: new ReadableStream({ start: (controller) => controller.enqueue(start) }),
    duplex: 'half' as const,
    signal,
  };
  return platform.recorder.fetch(url, init);
}

describe('all services behind the gateway are unavailable (rules/http#overload)', () => {
  const refusing = documenting(503).filter(({ id }) => !hooks.has(id));
  const answers = new Map<string, Answer>();
  beforeAll(async () => {
    // Each request fails after half a second without a response, so the requests are sent in parallel.
    await Promise.all(
      refusing.map(async (operation) =>
        answers.set(operation.id, await send(alone, operation, makeRequest(operation))),
      ),
    );
  });

  it.each(refusing)('$id returns 503 with Retry-After when all services are unavailable', ({ id, path }) => {
    const answer = answers.get(id) as Answer;
    const envelope = /^\/api\/(v1|ops)\//.test(path)
      ? { code: 'server_error', message: expect.any(String), retryable: true }
      : { detail: expect.any(String) };
    expect([answer.status, answer.json]).toEqual([503, envelope]);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('returns 200 for webhooks, which the gateway buffers while services are unavailable', async () => {
    const silent = operations.filter(({ id }) => hooks.has(id));
    const statuses = await Promise.all(
      silent.map(async (operation) => (await send(alone, operation, makeRequest(operation))).status),
    );
    expect(statuses).toEqual(silent.map(() => 200));
    expect((await alone.call('GET', '/api/openapi.json', { token: null })).status).toBe(200);
  });
});

describe('bodies over 4 MiB (rules/http#json-body-cap)', () => {
  const body = ' '.repeat(maxBodyBytes + 1);
  const reading = documenting(413).filter(({ requestBody }) => requestBody?.content['application/json'] !== undefined);
  it.each(reading)('$id returns 413 for a body over 4 MiB', async (operation) => {
    const answer = await send(platform, operation, { ...makeRequest(operation), json: undefined, body });
    expect([answer.status, answer.json]).toEqual([413, { detail: expect.any(String) }]);
  });
});

describe('invalid JSON bodies (rules/http#unparsable-bodies)', () => {
  const reading = documenting(400).filter(({ requestBody }) => requestBody?.content['application/json'] !== undefined);
  it.each(reading)('$id returns 400 for an invalid JSON body', async (operation) => {
    const answer = await send(platform, operation, { ...makeRequest(operation), json: undefined, body: '{"a":' });
    expect([answer.status, answer.json]).toEqual([400, { detail: 'Cannot parse request body' }]);
  });
});

describe('paths of unknown objects (rules/http#error-envelopes)', () => {
  const named = documenting(404).filter(({ parameters }) => parameters.some(({ in: place }) => place === 'path'));
  it.each(named)('$id returns 404 for an unknown object in the path', async (operation) => {
    const hasId = operation.parameters.some(
      ({ in: place, schema }) => place === 'path' && schema['minimum'] === Number.MIN_SAFE_INTEGER,
    );
    const request = makeRequest(operation);
    const path = hasId ? request.path.replace('2147483647', '-99999999999999999999') : request.path;
    const answer = await send(platform, operation, { ...request, path });
    expect(answer.status).toBe(404);
  });
});

describe('request heads over 16 KiB (rules/http#size-of-heads)', () => {
  it.each(documenting(431))('$id returns 431 for request headers over 16 KiB', async (operation) => {
    const { path, headers } = makeRequest(operation); // The gateway does not read the body after an oversized header, so no body is sent.
    const answer = await send(platform, operation, { path, headers: { ...headers, 'x-long': 'x'.repeat(20_000) } });
    expect([answer.status, answer.json]).toEqual([431, { detail: expect.any(String) }]);
  });
});

describe('compressed bodies (D61)', () => {
  it.each(documenting(415))('$id returns 415 for a compressed body', async (operation) => {
    const request = makeRequest(operation);
    const answer = await send(platform, operation, {
      ...request,
      headers: { ...request.headers, 'content-encoding': 'gzip' },
    });
    expect([answer.status, answer.json]).toEqual([415, { detail: expect.any(String) }]);
  });
});

describe('bodies that are not sent (rules/http#slow-and-unwanted-bodies; D62)', () => {
  it('returns 408 for an unsent body on every operation that reads a body', async () => {
    const slow = documenting(408);
    const answers = await Promise.all(
      slow.map((operation) => begin(operation, Buffer.from('{'), AbortSignal.timeout(30_000))),
    );
    expect(await Promise.all(answers.map((answer) => answer.json()))).toEqual(
      slow.map(() => ({ detail: expect.any(String) })),
    );
    expect(answers.map(({ status }) => status)).toEqual(slow.map(() => 408));
  });

  it.each(documenting(503).filter(({ id }) => hooks.has(id)))(
    '$id returns 503 for the oldest of too many requests with unsent bodies',
    async (operation) => {
      const all = new AbortController();
      const nearlyAll = Buffer.alloc(maxBodyBytes - 1, ' ');
      const begun = Array.from({ length: 18 }, () => begin(operation, nearlyAll, all.signal));
      const answer = await Promise.any(begun);
      expect([answer.status, await answer.json(), answer.headers.get('retry-after')]).toEqual([
        503,
        { detail: expect.any(String) },
        '1',
      ]);
      all.abort();
      await Promise.allSettled(begun);
    },
  );
});
