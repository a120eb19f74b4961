/**
 * Operator lists and actions while services are unavailable: the available services return their data and run the
 * action, with counts. The data of the unavailable services is added later (P2, P3, P4).
 */
import { randomUUIDv7 } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import { toFailure } from '../../cli/failure.ts';
import { startTestPlatform, type TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let token: string;
beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url, {}, { services: ['api-gateway', 'directory', 'conversations'] });
  await platform.apply({
    people: [{ key: 'operator', name: 'Operator' }],
    accounts: [
      { email: 'operator@example.org', person: 'operator', password: 'the right password', groups: ['ops_operators'] },
    ],
  });
  token = await platform.login('operator@example.org', 'the right password');
});
afterAll(() => platform.stop());

const missing = ['agents', 'events', 'media', 'transcripts'];

async function makeDead(error: string, service = 'directory', id: string = randomUUIDv7()): Promise<string> {
  await platform.sql(
    `insert into ${service}.jobs (id, type, payload, state, attempts, error, finished_at) values ($1, '${service}.strange', '{}', 'dead', 3, $2, now())`,
    [id, error],
  );
  return id;
}

/** Creates the receipt of a failed booking, with its body. */
async function makeReceipt(key: string): Promise<number> {
  const [{ id } = { id: 0 }] = await platform.sql<{ id: number }>(
    `insert into conversations.webhook_receipts (source, dedupe_key, delivery_id, received_at, person_id, headers, trigger_event, body, outcome)
     values ('booking', $1, 'x', now(), '2147483647', '{}', 'BOOKING_CREATED', convert_to(format('{"uid": "%s"}', $1::text), 'UTF8'), 'person_not_found')
     returning id::int as id`,
    [key],
  );
  return id;
}

/** Returns the failure of an admin CLI command. */
async function failureOf(...args: string[]): Promise<ReturnType<typeof toFailure>> {
  try {
    throw new Error(`it answered ${JSON.stringify(await platform.ask(...args))}`);
  } catch (error) {
    return toFailure(error);
  }
}

describe('operator requests while services are unavailable (P2 to P4; rules/operations-api#jobs)', () => {
  it('return the jobs of the available services, and list the unavailable services', async () => {
    const id = await makeDead('while others are away');
    const { status, json } = await platform.call('GET', '/api/ops/jobs?error=others+are+away', { token });
    expect([status, json]).toEqual([
      200,
      { items: [expect.objectContaining({ id })], next: expect.any(String), missing },
    ]);
  });

  it('change jobs of the available services, and keep the counts of changed jobs', async () => {
    const id = await makeDead('to be queued again');
    const act = (body: unknown) => platform.call('POST', '/api/ops/jobs/redrive', { token, json: body });
    const filter = { error: 'to be queued again' };
    expect((await act({ filter, dry_run: true })).json).toMatchObject({ matched: 1, changed: 0, missing });
    expect((await act({ filter })).json).toMatchObject({ matched: 1, changed: 1, failed: 0, missing });
    const named = [
      { service: 'directory', id },
      { service: 'media', id },
    ];
    expect((await act({ ids: named })).json).toMatchObject({ failed: 0, missing: ['media'] });
  });

  it('return 503 for jobs when no service responds', async () => {
    for (const query of ['service=media', 'type=media.strange'])
      expect([query, (await platform.call('GET', `/api/ops/jobs?${query}`, { token })).status]).toEqual([query, 503]);
    expect((await platform.call('GET', '/api/ops/webhooks?kind=telegram', { token })).status).toBe(503);
  });

  it('list and replay webhooks of the available service', async () => {
    expect((await platform.call('GET', '/api/ops/webhooks', { token })).json).toEqual({
      items: [],
      next: expect.any(String),
      missing: ['agents'],
    });
    const json = { filter: { q: 'nothing has this' } };
    expect((await platform.call('POST', '/api/ops/webhooks/replay', { token, json })).json).toMatchObject({
      matched: 0,
      missing: ['agents'],
    });
  });
});

describe('admin CLI actions while services are unavailable (P3, P4; rules/operations-api#jobs)', () => {
  it('report the result of each service, exit with status 1, and change nothing else when repeated', async () => {
    await Promise.all([makeDead('told by service'), makeDead('told by service')]);
    const act = () => failureOf('jobs', 'redrive', '--error', 'told by service');
    const { exitCode, body } = await act();
    expect([exitCode, body.code, body.details]).toEqual([1, 'unavailable', { done: { redriven: 2 }, missing }]);
    expect(body.message).toMatch(/^2 jobs are queued again\. No reply from agents, .*run the command again/);
    await waitFor(
      async () =>
        (await platform.sql(`select 1 from directory.jobs where error = 'told by service' and state = 'dead'`))
          .length === 0,
    );
    expect((await act()).body.message).toMatch(/^0 jobs are queued again\. No reply from /);
    // A job belongs to one service, so the action succeeds although other services are unavailable.
    expect(await platform.ask('jobs', 'discard', await makeDead('of one service'))).toEqual({ discarded: 1 });
    const queued = randomUUIDv7();
    await platform.sql(
      `insert into directory.jobs (id, type, payload, key, run_at) values ($1, 'directory.strange', '{}', 'later', now() + interval '1 day')`,
      [queued],
    );
    expect((await failureOf('jobs', 'cancel', '--key', 'later')).body.details).toMatchObject({
      done: { cancelled: 1 },
    });
    expect((await failureOf('jobs', 'cancel', '--key', 'later')).body.details).toMatchObject({
      done: { cancelled: 0 },
    });
  });

  it('report the webhooks that the first service replayed when the second service does not respond', async () => {
    const id = await makeReceipt('replayed-alone');
    const act = (...more: string[]) => failureOf('webhooks', 'replay', '--text', 'replayed-alone', ...more);
    const counts = { matched: 1, replayed: 1, without_body: 0, nothing_left: 0, no_agent: 0 };
    const details = { done: { conversations: counts }, missing: ['agents'] };
    const processed = async () =>
      (
        await platform.sql(`select 1 from conversations.webhook_receipts where id = $1 and processed_at is not null`, [
          id,
        ])
      ).length;
    expect(await act('--dry-run')).toMatchObject({ exitCode: 1, body: { code: 'unavailable', details } });
    expect(await processed()).toBe(0);
    const { code, stdout } = await platform.cli('webhooks', 'replay', '--text', 'replayed-alone', '--json');
    const { error } = JSON.parse(stdout) as { error: { message: string; details: unknown } };
    expect([code, error.details]).toEqual([1, details]);
    expect(error.message).toMatch(
      /^conversations: 1 receipt is processed again\. No reply from agents\. .*run the command again/,
    );
    await waitFor(async () => (await processed()) === 1);
    const listed = await failureOf('webhooks', 'list', '--text', 'replayed-alone');
    expect([listed.exitCode, listed.text]).toEqual([1, expect.stringMatching(/^No reply from agents$/)]);
  });
});

describe('operator lists when services are available again (P2, P4; rules/operations-api#jobs)', () => {
  const read = async (path: string, query: string) =>
    (await platform.call('GET', `/api/ops/${path}?${query}`, { token })).json;

  it('return rows that an earlier page missed on a later page, once, and end after all rows of all services', async () => {
    const error = 'error=comes+later&limit=2';
    const services = ['media', 'directory', 'media', 'directory', 'directory', 'media'];
    const ids = services.map((_service, place) => `01900000-0000-7000-8000-00000000000${services.length - place}`);
    for (const [place, service] of services.entries()) await makeDead('comes later', service, ids[place]);
    const receipts = [await makeReceipt('comes-later-1'), await makeReceipt('comes-later-2')].toReversed();
    const [{ id: update } = { id: 0 }] = await platform.sql<{ id: number }>(
      `insert into agents.webhook_receipts (dedupe_key, delivery_id, received_at, stored_at, stream_sequence, agent_slug, update_id, kind, chat_id, body, outcome)
       values ('comes-later', 'd', now(), now(), 1, 'guide', 1, 'message', 1, convert_to('{"text":"comes-later-3"}', 'UTF8'), 'answered') returning id::float8 as id`,
    );

    const first = await read('jobs', error);
    expect(first.items.map(({ id }: { id: string }) => id)).toEqual([ids[1], ids[3]]);
    const firstWebhooks = await read('webhooks', 'q=comes-later&limit=1');
    expect([firstWebhooks.items[0].id, firstWebhooks.missing]).toEqual([receipts[0], ['agents']]);
    await platform.runtime.restart('media');
    // A job created between two pages is not listed; it is newer than the first page.
    await makeDead('comes later', 'directory');
    const told = [...first.items];
    let page = first;
    for (let count = 0; count < 2; count++) {
      page = await read('jobs', `${error}&cursor=${page.next}`);
      expect(page.missing).toEqual(['agents', 'events', 'transcripts']);
      told.push(...page.items);
    }
    expect(told.map(({ id }) => ids.indexOf(id))).toEqual([1, 3, 0, 2, 4, 5]);
    // The available services have returned all rows; only unavailable services may have more.
    expect(page.next).toEqual(expect.any(String));
    expect((await platform.call('GET', `/api/ops/jobs?${error}&cursor=${page.next}`, { token })).status).toBe(503);

    for (const service of ['agents', 'events', 'transcripts']) await platform.runtime.restart(service);
    expect(await read('jobs', `${error}&cursor=${page.next}`)).toEqual({ items: [], next: null, missing: [] });
    const webhooks = [];
    for (let next = firstWebhooks.next; next !== null;) {
      const more = await read('webhooks', `q=comes-later&limit=1&cursor=${next}`);
      webhooks.push(...more.items.map(({ id }: { id: number }) => id));
      next = more.next;
    }
    expect(webhooks).toEqual([update, receipts[1]]);
  });
});
