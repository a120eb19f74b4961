/**
 * Statuses of the set-up over HTTP that other tests do not produce: concurrent requests with one key, stale ETags,
 * known ETags, dependent objects and invalid cursors (rules/http#idempotency-keys; W5, W10, W12, W14).
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import { routes } from '../../services/api-gateway/routes/index.ts';
import { holdLocks } from '../hold-locks.ts';
import {
  type Answer,
  applyDemo,
  createConversation,
  type Demo,
  startTestPlatform,
  type TestPlatform,
} from './test-platform.ts';

let platform: TestPlatform;
let demo: Demo;
let token: string;
/** Ids for the placeholders of paths. */
const ids: Record<string, number> = {};
beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url);
  demo = await applyDemo(platform, 'set-up');
  const applied = await platform.apply({
    classes: [{ slug: 'group', journeys: ['joining'] }],
    journeys: [{ slug: 'joining', name: 'Joining', steps: [{ slug: 'asked', title: 'Asked' }] }],
    people: [{ key: 'gone', name: 'Gone' }],
    holons: [{ slug: 'choir', name: 'Choir', class: 'group' }],
    accounts: [{ email: 'gone@example.org', person: 'gone', password: 'secret-of-gone' }],
    memberships: [{ key: 'member', person: `ada-${demo.tag}`, holon: 'choir', journey: 'joining', step: 'asked' }],
    relationships: [{ key: 'both', from: 'choir', to: `event-${demo.tag}`, journey: 'joining', step: 'asked' }],
  });
  token = await platform.login(`root-${demo.tag}@example.org`, `secret-of-root-${demo.tag}`);
  const idOf = (list: string, key: string): number => applied.ids[list]?.[key] ?? 0;
  const [account] = await platform.sql<{ id: number }>('select id from directory.accounts where email = $1', [
    `root-${demo.tag}@example.org`,
  ]);
  const post = async (path: string, json: object): Promise<any> =>
    (await send('POST', `/api/v1${path}`, { json })).json;
  Object.assign(ids, {
    account: account?.id,
    conversation: (await createConversation(platform, demo)).id,
    person: demo.ada,
    gone: idOf('people', 'gone'),
    holon: idOf('holons', 'choir'),
    membership: idOf('memberships', 'member'),
    relationship: idOf('relationships', 'both'),
    question: (await post('/journeys/joining/questions', { text: 'Why?' })).question.id,
    sphere: (await post('/spheres', { name: 'Music' })).sphere.id,
    note: (await post(`/people/${demo.ada}/notes`, { body: 'Sings.' })).note.id,
  });
  await post('/agents', { slug: 'helper', name: 'Helper' });
});
afterAll(() => platform.stop());

/** Sends a request; `path` can have placeholders `{name}` of `ids`. */
function send(
  method: string,
  path: string,
  { json, headers = {} }: { json?: object; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => String(ids[name]));
  return platform.call(method, filled, { token, headers, ...(json === undefined ? {} : { json }) });
}
const routeOf = (operation: string) => routes.find(({ operationId }) => operationId === operation);
const error = (code: string, retryable = false) => ({ code, message: expect.any(String), retryable });

describe('concurrent requests with one Idempotency-Key (I1)', () => {
  const writes = [
    ['createClass', '/api/v1/classes', { slug: 'not-made' }],
    ['updateClass', '/api/v1/classes/holon/group/update', { label: 'Not written' }],
    ['createJourney', '/api/v1/journeys', { slug: 'not-made', name: 'Not made' }],
    ['updateJourney', '/api/v1/journeys/joining/update', { name: 'Not written' }],
    ['createStep', '/api/v1/journeys/joining/steps', { slug: 'not-made', title: 'Not made' }],
    ['updateStep', '/api/v1/journeys/joining/steps/asked/update', { title: 'Not written' }],
    ['createQuestion', '/api/v1/journeys/joining/questions', { text: 'Not made' }],
    ['updateQuestion', '/api/v1/journeys/joining/questions/{question}/update', { text: 'Not written' }],
    ['createSphere', '/api/v1/spheres', { name: 'Not made' }],
    ['updateSphere', '/api/v1/spheres/{sphere}/update', { name: 'Not written' }],
    ['createPersonNote', '/api/v1/people/{person}/notes', { body: 'Not made' }],
    ['createHolonNote', '/api/v1/holons/{holon}/notes', { body: 'Not made' }],
    ['updateNote', '/api/v1/notes/{note}/update', { body: 'Not written' }],
    ['createAgent', '/api/v1/agents', { slug: 'not-made', name: 'Not made' }],
    ['updateAgent', '/api/v1/agents/helper/update', { name: 'Not written' }],
    ['linkAccountIdentity', '/api/v1/accounts/{account}/identities/link', { subject: 'not-made' }],
    ['unlinkAccountIdentity', '/api/v1/accounts/{account}/identities/unlink', { subject: 'not-made' }],
    ['createConversation', '/api/coherence/conversations', { journey_slug: 'joining' }],
    ['updateConversation', '/api/coherence/conversations/{conversation}/update', { start: '2026-05-02T10:00:00Z' }],
  ] as const;
  const key = randomUUID();
  let letGo: Awaited<ReturnType<typeof holdLocks>>;
  beforeAll(async () => {
    const held = `hashtextextended(json_build_array('kept-answer', $1::integer, operation, $2::text)::text, 0)`;
    const subjects = writes.map(([operation]) => routeOf(operation)?.rpc?.subject ?? '');
    letGo = await holdLocks(platform, `select pg_advisory_xact_lock(${held}) from unnest($3::text[]) operation`, [
      ids['account'],
      key,
      subjects,
    ]);
  });
  afterAll(async () => expect(await letGo()).toBe('stopped'));

  it.each(writes)('%s returns 409 while the first request runs', async (operation, path, json) => {
    const answer = await send('POST', path, { json, headers: { 'idempotency-key': key } });
    const envelope = path.startsWith('/api/v1/')
      ? error('idempotency_in_progress', true)
      : { error: 'idempotency_in_progress', message: expect.any(String), retryable: true };
    expect([operation, answer.status, answer.json]).toEqual([operation, 409, envelope]);
  });

  it('starts none of the operations', async () => {
    for (const text of ['Not made', 'not-made', 'Not written'])
      expect([text, await platform.findInDatabase(text)]).toEqual([text, []]);
  });
});

describe('If-Match of an older representation (I2, W12)', () => {
  it.each([
    ['POST', '/api/v1/journeys/joining/questions/{question}/update', { text: 'Who?' }],
    ['POST', '/api/v1/journeys/joining/steps/asked/update', { title: 'Invited' }],
    ['POST', '/api/v1/spheres/{sphere}/update', { name: 'Song' }],
    ['POST', '/api/v1/notes/{note}/update', { body: 'Hums.' }],
    ['POST', '/api/v1/agents/helper/update', { name: 'Adviser' }],
    ['POST', '/api/v1/people/{gone}/erase', { confirm: 'Gone' }],
    ['DELETE', '/api/v1/notes/{note}', undefined],
    ['DELETE', '/api/v1/journeys/joining/steps/asked', undefined],
    ['DELETE', '/api/v1/journeys/joining', undefined],
    ['DELETE', '/api/v1/classes/holon/group', undefined],
    ['DELETE', '/api/v1/agents/helper', undefined],
  ])('%s %s returns 412', async (method, path, json) => {
    const headers = { 'if-match': '"older"' };
    const answer = await send(method, path, { headers, ...(json === undefined ? {} : { json }) });
    expect([answer.status, answer.json]).toEqual([412, error('precondition_failed')]);
  });
});

describe('deletion of objects that others depend on (W14)', () => {
  it.each([
    ['/api/v1/journeys/joining/steps/asked', { memberships: 1, relationships: 1, conversations: 0 }],
    ['/api/v1/journeys/joining', { memberships: 1, relationships: 1, catalogues: 1, conversations: 0 }],
    ['/api/v1/classes/holon/group', { holons: 1 }],
  ])('DELETE %s returns 409 with their numbers', async (path, counts) => {
    const answer = await send('DELETE', path);
    expect([answer.status, answer.json]).toEqual([
      409,
      { ...error('in_use'), counts: expect.objectContaining(counts) },
    ]);
  });
});

describe('If-None-Match of the current representation (W13)', () => {
  const readTwice = async (path: string): Promise<unknown[]> => {
    const read = await send('GET', path);
    const tag = read.headers.get('etag');
    const again = await send('GET', path, { headers: { 'if-none-match': tag ?? '' } });
    return [read.status, again.status, again.text, again.headers.get('etag') === tag];
  };

  it.each(['/api/v1/accounts/{account}', '/api/v1/agents/helper', '/api/v1/classes/holon/group'])(
    'GET %s returns 304',
    async (path) => expect(await readTwice(path)).toEqual([200, 304, '', true]),
  );

  it('GET /api/v1/people/{person_id}/erasure returns 304 after the end of the erasure', async () => {
    const started = await send('POST', '/api/v1/people/{gone}/erase', { json: { confirm: 'Gone' } });
    expect(started.status).toBe(202);
    const path = '/api/v1/people/{gone}/erasure';
    await waitFor(async () => (await send('GET', path)).json?.erasure?.state === 'done', { what: 'the erasure' });
    expect(await readTwice(path)).toEqual([200, 304, '', true]);
  });
});

describe('cursors that no page returned (W10)', () => {
  it.each([
    '/api/v1/people/{person}/history',
    '/api/v1/holons/{holon}/history',
    '/api/v1/memberships/{membership}/history',
    '/api/v1/relationships/{relationship}/history',
    '/api/v1/accounts/{account}/history',
    '/api/v1/journeys/joining/history',
    '/api/v1/classes/holon/group/history',
    '/api/v1/agents/helper/history',
  ])('GET %s returns 400', async (path) => {
    const answer = await send('GET', `${path}?cursor=nonsense`);
    expect([answer.status, answer.json]).toEqual([400, error('validation_error')]);
  });
});

describe('deletion by slug (rules/http#validation-items)', () => {
  const bySlug = ['deleteClass', 'deleteJourney', 'deleteStep', 'deleteAgent'];
  it.each(bySlug)('%s documents no 422, since no slug and no If-Match is malformed', async (operation) => {
    const document = (await platform.call('GET', '/api/v1/openapi.json')).json;
    const path = routeOf(operation)?.path ?? '';
    expect(Object.keys(document.paths[path].delete.responses)).toEqual(expect.arrayContaining(['204', '404', '412']));
    expect(document.paths[path].delete.responses['422']).toBeUndefined();
    for (const slug of ['%00', '%20', '-1', 'x'.repeat(5_000), '%F0%9F%8E%B5', 'a%2Fb']) {
      for (const tag of ['', 'nonsense', '"x', ',', 'W/', '*']) {
        const answer = await send('DELETE', path.replaceAll(/\{\w+\}/g, slug), { headers: { 'if-match': tag } });
        expect([slug.slice(0, 20), tag, answer.status]).toEqual([slug.slice(0, 20), tag, 404]);
      }
    }
  });
});
