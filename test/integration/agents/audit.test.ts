/** Operator actions on updates and webhooks commit with their audit entry, or not at all (A1). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bus, connectBus } from '#libs/infrastructure/nats';
import { contextFor } from '#libs/product/testing';
import { agents } from '#services/agents';
import { failureOf } from './fixture.ts';
import { startTelegramFixture, type TelegramFixture } from './telegram-fixture.ts';

const { replayWebhooks, setWebhook } = agents.rpcs;

let fixture: TelegramFixture;
let bus: Bus;
beforeAll(async () => {
  fixture = await startTelegramFixture(import.meta.url);
  const { env } = fixture.agents;
  const { NATS_URL: url = '', NATS_SUBJECT_PREFIX: prefix } = env.settings;
  bus = await connectBus({ url, prefix, name: 'admin', logger: env.logger, actors: env.actors });
  env.onStop(() => bus.close());
});
afterAll(() => fixture.stop());

/** Creates receipts of failed updates, each in a different chat unless a chat is given. Returns their ids. */
async function receiveFailed(count: number, chat?: number): Promise<number[]> {
  const updates = Array.from({ length: count }, () => {
    const update = fixture.compose(chat ?? fixture.next(), { text: 'Again' });
    return [update.update_id, JSON.stringify(update)];
  });
  const rows = await fixture.agents.env.sql<{ id: string }>(
    `insert into agents.webhook_receipts (dedupe_key, delivery_id, received_at, stream_sequence, agent_slug, agent_id, update_id, body, outcome, kind)
     select gen_random_uuid()::text, 'x', now(), 0, 'guide', (select id from agents.agents where slug = 'guide'), (item ->> 0)::bigint, convert_to(item ->> 1, 'UTF8'), 'failed', 'message'
     from jsonb_array_elements($1::jsonb) item returning id`,
    [JSON.stringify(updates)],
  );
  return rows.map(({ id }) => Number(id));
}
const countFailed = async (ids: readonly number[]): Promise<number> =>
  (
    await fixture.agents.env.sql(`select 1 from agents.webhook_receipts where id = any($1) and outcome = 'failed'`, [
      ids,
    ])
  ).length;
const countJobs = async (): Promise<number> =>
  (await fixture.agents.env.sql(`select 1 from agents.jobs where type = 'agents.work-chat'`)).length;
async function readEntries(): Promise<{ action: string; target: string | null; changes: any }[]> {
  const rows = await fixture.agents.env.sql<{ action: string; target: string | null; changes: string | null }>(
    'select action, target_id as target, changes::text from agents.audit_log order by id',
  );
  return rows.map((row) => ({ ...row, changes: JSON.parse(row.changes ?? 'null') }));
}

/** Makes PostgreSQL reject these writes while `work` runs. */
async function withoutWrites(writes: string, work: () => Promise<void>): Promise<void> {
  const { sql } = fixture.agents.env;
  await sql(
    `create function agents.refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`,
  );
  await sql(`create trigger refuse before ${writes} execute function agents.refuse()`);
  try {
    await work();
  } finally {
    await sql('drop function agents.refuse() cascade');
  }
}
const noEntries = 'insert on agents.audit_log for each row';

const replay = (selection: object) =>
  bus.call(replayWebhooks, { ...selection, limit: 100 }, contextFor(replayWebhooks));
const replayAll = () => replay({ outcome: 'failed' });
const acts: Readonly<Record<string, (ids: number[]) => Promise<unknown>>> = {
  'those that match': replayAll,
  'those that are named': (ids) => replay({ ids }),
};

describe('replay of Telegram updates (A1)', () => {
  it.each(Object.entries(acts))('commits %s and its audit entry in one transaction', async (_what, act) => {
    const ids = await receiveFailed(1);
    const [before, jobs] = [await readEntries(), await countJobs()];
    await withoutWrites(noEntries, async () => {
      expect((await failureOf(act(ids))).code).toBe('internal');
    });
    expect([await countFailed(ids), await countJobs(), (await readEntries()).length]).toEqual([1, jobs, before.length]);
    await act(ids);
    expect([await countFailed(ids), (await readEntries()).slice(before.length)]).toEqual([
      0,
      [expect.objectContaining({ action: 'webhook.replay' })],
    ]);
  });

  it('replays all selected updates or none, and writes audit entries only for replayed updates', async () => {
    const ids = await receiveFailed(3);
    const before = await readEntries();
    await withoutWrites(`update on agents.webhook_receipts for each row when (new.id = ${ids[2]})`, async () => {
      expect((await failureOf(replayAll())).code).toBe('internal');
    });
    expect([await countFailed(ids), await readEntries()]).toEqual([3, before]);
    expect(await replayAll()).toMatchObject({ matched: 3, changed: 3 });
    expect((await readEntries()).at(-1)).toEqual({
      action: 'webhook.replay',
      target: null,
      changes: { filter: { outcome: 'failed' }, matched: 3, changed: 3, failed: 0 },
    });
  });

  it('counts every replayed update of a chat, although one job processes all of them', async () => {
    await receiveFailed(2, fixture.next());
    const jobs = await countJobs();
    expect(await replayAll()).toMatchObject({ matched: 2, changed: 2, nothing_left: 0 });
    expect(await countJobs()).toBe(jobs + 1);
    expect((await readEntries()).at(-1)?.changes.changed).toBe(2);
  });

  it('records no audit entry when nothing is replayed', async () => {
    const before = await readEntries();
    expect(await replayAll()).toMatchObject({ selected: 0, changed: 0 });
    expect(await readEntries()).toEqual(before);
  });
});

describe('webhook registration of an agent at Telegram (A1)', () => {
  const set = (base_url = 'https://chat.example.org/') => fixture.agents.call(setWebhook, { slug: 'guide', base_url });

  it('fails a registration whose audit entry cannot be stored, and stores an entry for a successful one', async () => {
    const before = await readEntries();
    await withoutWrites(noEntries, async () => {
      expect(await failureOf(set())).toMatchObject({ code: 'internal', message: 'Internal error' });
    });
    expect(await readEntries()).toEqual(before);
    const { url } = await set();
    expect((await readEntries()).slice(before.length)).toEqual([
      { action: 'agent.set-webhook', target: 'guide', changes: { url } },
    ]);
  });

  it('stores no audit entry when the Bot API rejects the webhook', async () => {
    const before = await readEntries();
    expect((await failureOf(set('http://chat.example.org/'))).reason).toBe('bot_api_failed');
    expect(await readEntries()).toEqual(before);
  });
});
