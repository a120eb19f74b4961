/** Lists and acts of operators while services are away: the rest is told and done, with its counts (P2, P3, P4). */
import { randomUUIDv7 } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startWorld, type World } from './world.ts';

let world: World;
let token: string;
beforeAll(async () => {
  world = await startWorld(import.meta.url, {}, { services: ['api-gateway', 'directory', 'conversations'] });
  await world.apply({
    people: [{ key: 'operator', name: 'Operator' }],
    accounts: [{ email: 'operator@example.org', person: 'operator', password: 'the right password', groups: ['ops_operators'] }],
  });
  token = await world.login('operator@example.org', 'the right password');
});
afterAll(() => world.stop());

const missing = ['agents', 'events', 'media', 'transcripts'];

async function makeDead(error: string): Promise<string> {
  const id = randomUUIDv7();
  await world.sql(
    `insert into directory.jobs (id, type, payload, state, attempts, error, finished_at) values ($1, 'directory.strange', '{}', 'dead', 3, $2, now())`,
    [id, error],
  );
  return id;
}

describe('operators while services are away (P2 to P4; rules/operations-api#jobs)', () => {
  it('are told the jobs of the others, and which services are missing', async () => {
    const id = await makeDead('while others are away');
    const { status, json } = await world.call('GET', '/api/ops/jobs?error=others+are+away', { token });
    expect([status, json]).toEqual([200, { items: [expect.objectContaining({ id })], next: null, missing }]);
  });

  it('act on the others, and keep the counts', async () => {
    const id = await makeDead('to be queued again');
    const act = (body: unknown) => world.call('POST', '/api/ops/jobs/redrive', { token, json: body });
    const filter = { error: 'to be queued again' };
    expect((await act({ filter, dry_run: true })).json).toMatchObject({ matched: 1, changed: 0, missing });
    expect((await act({ filter })).json).toMatchObject({ matched: 1, changed: 1, failed: 0, missing });
    const named = [
      { service: 'directory', id },
      { service: 'media', id },
    ];
    expect((await act({ ids: named })).json).toMatchObject({ failed: 0, missing: ['media'] });
  });

  it('are told so with 503 where none answers', async () => {
    for (const query of ['service=media', 'type=media.strange'])
      expect([query, (await world.call('GET', `/api/ops/jobs?${query}`, { token })).status]).toEqual([query, 503]);
    expect((await world.call('GET', '/api/ops/webhooks?kind=telegram', { token })).status).toBe(503);
  });

  it('see and replay webhooks of the service that answers', async () => {
    expect((await world.call('GET', '/api/ops/webhooks', { token })).json).toEqual({ items: [], next: null, missing: ['agents'] });
    const json = { filter: { q: 'nothing has this' } };
    expect((await world.call('POST', '/api/ops/webhooks/replay', { token, json })).json).toMatchObject({ matched: 0, missing: ['agents'] });
  });
});
