/**
 * Generated requests for every documented operation; each response is checked against the served document (see
 * contract/recorder.ts).
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type LlmServer, startLlm } from '#libs/product/testing';
import { buildDocuments } from '../../services/api-gateway/documents.ts';
import { routes } from '../../services/api-gateway/routes/index.ts';
import { sized } from '../drill.ts';
import type { Known } from './contract/arbitraries.ts';
import { applyNetwork } from './contract/network.ts';
import { breakingRequest, fittingRequest, type MadeRequest } from './contract/requests.ts';
import { type DocumentedOperation, fetchDocuments, listOperations, type OpenApi } from './contract/served-documents.ts';
import { type Answer, applyDemo, createConversation, startTestPlatform, type TestPlatform } from './test-platform.ts';

const fittingRuns = Number(process.env['CONTRACT_RUNS'] ?? 20);
/** All are rejected in the same way, so fewer runs are enough. */
const breakingRuns = Number(process.env['CONTRACT_RUNS'] ?? sized({ smoke: 5, release: 20 }));
const documents: OpenApi[] = Object.values(buildDocuments(routes));
const operations = listOperations(documents);

let llm: LlmServer;
let platform: TestPlatform;
let known: Known;
let userToken: string;
let ownPerson: number | undefined;
let ownAccount: number | undefined;
beforeAll(async () => {
  llm = await startLlm();
  const settings = { LLM_BASE_URL: llm.baseUrl, LLM_API_KEY: llm.apiKey, LLM_MODEL: 'generated' };
  platform = await startTestPlatform(import.meta.url, settings);
  const demo = await applyDemo(platform, 'any');
  await platform.apply({ agents: [{ slug: 'guide', name: 'Guide', prompt: 'You are the guide.' }] });
  const conversation = (await createConversation(platform, demo)) as { id: number };
  userToken = await login();
  const [account] = await platform.sql<{ id: number; person: number }>(
    `select id::int as id, person_id::int as person from directory.accounts where email = 'root-any@example.org'`,
  );
  ownPerson = account?.person;
  ownAccount = account?.id;
  const network = await applyNetwork(platform);
  known = {
    ...network,
    conversation_id: [conversation.id],
    person_id: [demo.ada, demo.ben, ...network.person_id],
    holon_id: [demo.event, ...network.holon_id],
    journey: [demo.journey],
    journey_slug: [demo.journey, ...network.journey_slug],
    step_slug: ['first', 'second', ...network.step_slug],
    event_slug: ['event-any'],
    holon_slug: ['event-any'],
    connected_holon_slug: ['event-any'],
    slug: ['guide', ...network.slug],
    agent_slug: ['guide'],
    ids: [String(demo.ada), `${demo.ada},${demo.ben}`, String(demo.event)],
  };
});
afterAll(async () => {
  await platform.stop();
  await llm.stop();
});

const login = (): Promise<string> => platform.login('root-any@example.org', 'secret-of-root-any');

async function send(
  operation: DocumentedOperation,
  request: MadeRequest,
  more: Record<string, string> = {},
): Promise<Answer> {
  const schemes = new Set(operation.security.flatMap((entry) => Object.keys(entry)));
  // A token can log out only once, so each logout request gets a new token.
  const token =
    operation.id === 'logout'
      ? await login()
      : schemes.has('userToken')
        ? userToken
        : schemes.has('sharedToken')
          ? platform.sharedToken
          : null;
  const gate = schemes.has('loginGate') ? { 'x-svc-api-key': platform.loginSecret } : {};
  const { path, headers, json, body } = request;
  return platform.call(operation.method, path, {
    token,
    headers: { ...headers, ...gate, ...more },
    ...(json === undefined ? {} : { json }),
    ...(body === undefined ? {} : { body }),
  });
}

/**
 * Returns a unique idempotency key. A key that was used for another request gets 422, which the header schema cannot
 * express.
 */
function nameAlone({ headers }: MadeRequest): Record<string, string> {
  const name = headers['Idempotency-Key'];
  return name === undefined ? {} : { 'Idempotency-Key': `${name}${randomUUID()}` };
}

/** Changes of the account of the session, and merging or erasing its person, would end the session. */
const endsSession = ({ method }: DocumentedOperation, { path, json }: MadeRequest): boolean =>
  (method !== 'GET' && new RegExp(`^/api/v1/accounts/${ownAccount}(/|$)`).test(path)) ||
  new RegExp(`^/api/v1/people/${ownPerson}/(merge|erase)`).test(path) ||
  (path.endsWith('/merge') && (json as { into?: unknown }).into === ownPerson);

const interruptAfterTimeLimit = 20_000;

/** Returns the path with a long poll of at most 1 s: longer ones would take all the time of a property. */
const shortenWait = (path: string): string => path.replace(/(?<=[?&]wait=)[1-9]\d*(?=&|$)/, '1');

describe('generated requests (rules/http#live-schema; rules/http#order-of-checks)', () => {
  it('generates requests from the served API documents', async () => {
    expect(await fetchDocuments(platform.baseUrl)).toEqual(JSON.parse(JSON.stringify(documents)));
    expect(operations.length).toBeGreaterThan(15);
  });

  it.each(operations)(
    '$id returns a documented response for valid requests, and never 422 or 500',
    async (operation) => {
      await fc.assert(
        fc.asyncProperty(fittingRequest(operation, known), async (generated) => {
          const request = { ...generated, path: shortenWait(generated.path) };
          fc.pre(!endsSession(operation, request));
          const answer = await send(operation, request, nameAlone(request));
          expect(answer.status).toBeLessThan(500);
          expect([answer.status, answer.status === 422 ? answer.json : undefined]).toEqual([
            expect.any(Number),
            undefined,
          ]);
          const tag = answer.headers.get('etag');
          if (operation.method !== 'GET' || answer.status !== 200 || tag === null) return;
          expect((await send(operation, { ...request, headers: {} }, { 'if-none-match': tag })).status).toBe(304);
        }),
        { numRuns: fittingRuns, interruptAfterTimeLimit },
      );
    },
  );

  const breakable = operations.filter((operation) => breakingRequest(operation, {}) !== undefined);
  it.each(breakable)('$id rejects invalid requests with a documented error', async (operation) => {
    const requests = breakingRequest(operation, known);
    if (requests === undefined) throw new Error('nothing to break');
    await fc.assert(
      fc.asyncProperty(requests, async (request) => {
        const answer = await send(operation, request);
        // The operation validates the value only after it has found the object, so 404 is also allowed for a missing
        // object.
        const isAbsent = answer.status === 404 && request.refusedWith !== 422;
        expect([request.broken, isAbsent ? request.refusedWith : answer.status]).toEqual([
          request.broken,
          request.refusedWith,
        ]);
      }),
      { numRuns: breakingRuns, interruptAfterTimeLimit },
    );
  });
});
