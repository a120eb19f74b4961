import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RequestOf } from '#libs/infrastructure/contract';
import { agents, firstUpdateReceiptId } from '#services/agents';
import { createDatabase } from '#libs/infrastructure/orm';
import { contextFor, waitFor } from '#libs/product/testing';
import { sweepReceipts } from '#libs/product/webhooks';
import { dropOldContents } from '../../../services/agents/receipts/statements.ts';
import { failureOf } from './fixture.ts';
import {
  botToken,
  echoChannel,
  startTelegramFixture,
  type TelegramFixture,
  webhookSecret,
} from './telegram-fixture.ts';

let fixture: TelegramFixture;
beforeAll(async () => {
  fixture = await startTelegramFixture(import.meta.url);
});
afterAll(() => fixture.stop());

const { listWebhooks, replayWebhooks, showWebhook } = agents.rpcs;
const list = async (request: RequestOf<typeof listWebhooks>) =>
  (await fixture.agents.bus.call(listWebhooks, request, contextFor(listWebhooks))).items;
const newest = async () => (await list({ limit: 1 }))[0];
const showReceipt = (id: number) => fixture.agents.bus.call(showWebhook, { id }, contextFor(showWebhook));
const arrived = async (outcome: string, known = 0) =>
  await waitFor(async () => {
    const receipt = await newest();
    return receipt !== undefined && receipt.id > known && receipt.outcome === outcome ? receipt : undefined;
  });
const lastId = async (): Promise<number> => (await newest())?.id ?? 0;

describe('webhook receipts of Telegram updates (D20, D31, D33d)', () => {
  it.each([
    ['without a secret', null],
    ['with an empty secret', ''],
    ['with another secret', `${webhookSecret}2`],
  ])('drops an update %s and stores only its size and digest (D68)', async (_what, secret) => {
    const chat = fixture.next();
    const known = await lastId();
    const update = fixture.compose(chat, { text: 'Let me in' });
    await fixture.deliver(update, { secret });
    const receipt = await arrived('rejected_secret', known);
    expect([receipt.update_id, fixture.telegram.textsOf(chat)]).toEqual([null, []]);
    const bytes = JSON.stringify(update);
    const stored = {
      body: null,
      body_digest: createHash('sha256').update(bytes).digest('hex'),
      body_size: bytes.length,
    };
    expect(await showReceipt(receipt.id)).toMatchObject(stored);
    expect(await fixture.replay(receipt.id)).toMatchObject({ changed: 0, without_body: 1 });
  });

  it('stores request headers, truncated for rejected updates (P4, D68)', async () => {
    const headers = { 'content-type': 'application/json', 'user-agent': 'x'.repeat(2_000) };
    const update = fixture.compose(fixture.next(), { text: 'Hello' });
    await fixture.deliver(update, { headers });
    expect(await showReceipt((await fixture.settled(update.update_id)).id)).toMatchObject({
      outcome: 'answered',
      headers,
    });
    const known = await lastId();
    await fixture.deliver(update, { headers, secret: 'no' });
    const storedHeaders = { ...headers, 'user-agent': 'x'.repeat(200) };
    expect(await showReceipt((await arrived('rejected_secret', known)).id)).toMatchObject({ headers: storedHeaders });
  });

  it('rejects updates of an agent without a secret, without calling the model (D64)', async () => {
    await fixture.agents.apply([{ slug: 'open', name: 'Open', config: {} }]);
    // Stores the configuration as an earlier release did.
    await fixture.agents.env.sql(
      `update agents.agents set config = jsonb_build_object('messaging', jsonb_build_object('bot_token', $1::text)) where slug = 'open'`,
      [botToken],
    );
    const requestsBefore = fixture.agents.llm.requests.length;
    for (const secret of [null, '', webhookSecret]) {
      const [chat, known] = [fixture.next(), await lastId()];
      await fixture.deliver(fixture.compose(chat, { text: 'Hello' }), { slug: 'open', secret });
      const receipt = await arrived('rejected_unsigned', known);
      expect(await showReceipt(receipt.id)).toMatchObject({
        body: null,
        message: expect.stringContaining('webhook_secret'),
        sends: [],
      });
      expect(fixture.telegram.textsOf(chat)).toEqual([]);
    }
    expect(fixture.agents.llm.requests).toHaveLength(requestsBefore);
  });

  it('accepts updates of an agent without a secret with ALLOW_UNSIGNED_WEBHOOKS (D64)', async () => {
    const trusting = await startTelegramFixture(import.meta.url, { ALLOW_UNSIGNED_WEBHOOKS: 'true' });
    try {
      await trusting.agents.apply([{ slug: 'open', name: 'Open', config: { messaging: { bot_token: botToken } } }]);
      const update = trusting.compose(trusting.next(), { text: 'Hello' });
      await trusting.deliver(update, { slug: 'open', secret: null });
      expect((await trusting.settled(update.update_id)).outcome).toBe('answered');
    } finally {
      await trusting.stop();
    }
  });

  it('stores no body of ignored updates (D68)', async () => {
    const update = {
      update_id: fixture.next(),
      message: { message_id: 1, date: 1, chat: { id: 5, type: 'private' }, photo: [] },
    };
    await fixture.deliver(update);
    const receipt = await fixture.settled(update.update_id);
    expect(receipt).toMatchObject({ outcome: 'ignored', body: null, body_size: JSON.stringify(update).length });
    const text = '/start@another_bot';
    const entities = [{ type: 'bot_command', offset: 0, length: text.length }];
    for (const slug of ['guide', 'mirrored']) {
      const { id } = await fixture.ask(fixture.next(), { text, entities }, slug);
      await waitFor(async () => (await showReceipt(id)).body === null);
      expect((await showReceipt(id)).outcome).toBe('ignored');
    }
    await waitFor(() => fixture.telegram.textsOf(echoChannel).some((echoed) => echoed.includes(text)));
  });

  it('counts repeated rejections in one receipt (D68)', async () => {
    const count = async (): Promise<{ rows: number; deliveries: number }> =>
      (
        await fixture.agents.env.sql<{ rows: number; deliveries: number }>(
          `select count(*)::int as rows, coalesce(sum(deliveries), 0)::int as deliveries from agents.webhook_receipts
           where outcome = 'rejected_secret'`,
        )
      )[0] ?? { rows: 0, deliveries: 0 };
    const before = await count();
    await Promise.all(
      Array.from({ length: 150 }, () =>
        fixture.deliver(fixture.compose(fixture.next(), { text: 'Let me in' }), { secret: 'no' }),
      ),
    );
    await waitFor(async () => (await count()).deliveries === before.deliveries + 150);
    const { rows } = await count();
    // The limit applies per hour, and the hour can change during the test.
    expect(rows).toBeLessThanOrEqual(2 * (100 + 1));
    if (before.rows > 0) expect(rows).toBeLessThan(before.rows + 150);
  });

  it('deletes bodies, replies and rejected receipts after RECEIPT_RETENTION_DAYS (D68)', async () => {
    const { env } = fixture.agents;
    const answered = await fixture.ask(fixture.next(), { text: 'Keep this for a while' });
    const known = await lastId();
    await fixture.deliver(Buffer.from('no JSON'));
    const refused = await arrived('rejected_unreadable', known);
    const age = (id: number, days: number) =>
      env.sql(
        `update agents.webhook_receipts set received_at = now() - make_interval(days => $2, mins => 1) where id = $1`,
        [id, days],
      );
    const db = await createDatabase({
      url: env.settings['DATABASE_URL'] ?? '',
      schema: 'agents',
      poolSize: 2,
      logger: env.logger,
      applicationName: 'test retention',
    });
    env.onStop(() => db.close());
    const sweep = () => sweepReceipts({ db, dropContents: dropOldContents, days: 90 });
    for (const { id } of [answered, refused]) await age(id, 89);
    await sweep();
    expect((await showReceipt(answered.id)).body).not.toBeNull();
    await expect(showReceipt(refused.id)).resolves.toBeDefined();
    for (const { id } of [answered, refused]) await age(id, 90);
    await sweep();
    expect(await showReceipt(answered.id)).toMatchObject({ outcome: 'answered', body: null });
    await expect(
      env.sql(`select 1 from agents.webhook_receipts where id = $1 and reply_html is not null`, [answered.id]),
    ).resolves.toEqual([]);
    expect((await failureOf(showReceipt(refused.id))).code).toBe('not_found');
  });

  it.each([
    ['no JSON', '{"update_id":'],
    ['no object', '[]'],
    ['no update_id', '{"message":{"text":"x"}}'],
    ['too deep', `{"update_id":1,"a":${'['.repeat(100)}${']'.repeat(100)}}`],
  ])('stores the body of an unreadable request for replay: %s (D68)', async (_what, body) => {
    const known = await lastId();
    await fixture.deliver(Buffer.from(body));
    const receipt = await arrived('rejected_unreadable', known);
    const shown = { body: expect.stringContaining(body.slice(0, 40)), kind: 'telegram', agent_slug: 'guide' };
    expect(await showReceipt(receipt.id)).toMatchObject({ ...shown, sends: [] });
    expect(await fixture.replay(receipt.id)).toMatchObject({ changed: 0, nothing_left: 1, job_ids: [] });
    expect(await showReceipt(receipt.id)).toMatchObject({ ...shown, outcome: 'rejected_unreadable' });
  });

  it.each([
    ['of more than 64 KiB', `{"update_id":1,"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
    ['of nothing', ''],
  ])('stores no body of an unreadable request %s', async (_what, body) => {
    const known = await lastId();
    await fixture.deliver(Buffer.from(body));
    const receipt = await arrived('rejected_unreadable', known);
    expect(await showReceipt(receipt.id)).toMatchObject({
      body: null,
      sends: [],
      kind: 'telegram',
      agent_slug: 'guide',
    });
    expect(await fixture.replay(receipt.id)).toMatchObject({ changed: 0, without_body: 1 });
  });

  it('stores no body that exceeds the size limit', async () => {
    const known = await lastId();
    await fixture.deliver(null);
    expect(await showReceipt((await arrived('rejected_too_large', known)).id)).toMatchObject({ body: null });
  });

  it('stores an update for an unknown agent and verifies it at replay with the agent’s current secret (P8)', async () => {
    const deliver = async (secret: string | null, body?: Buffer): Promise<{ id: number; chat: number }> => {
      const [chat, known] = [fixture.next(), await lastId()];
      await fixture.deliver(body ?? fixture.compose(chat, { text: 'Anybody?' }), { slug: 'later', secret });
      return { id: (await arrived('agent_not_found', known)).id, chat };
    };
    const good = await deliver(webhookSecret);
    const forged = [await deliver(`${webhookSecret}2`), await deliver(null)];
    const unreadable = await deliver(webhookSecret, Buffer.from('{"update_id":'));
    const forgotten = await deliver(webhookSecret);
    await fixture.agents.call(agents.rpcs.forgetThreads, { telegram_user_id: forgotten.chat });
    expect(await fixture.replay(forgotten.id)).toMatchObject({ changed: 0, without_body: 1 });
    expect(await fixture.replay(good.id)).toMatchObject({ changed: 0, failed: 1, no_agent: 1 });
    const later = {
      slug: 'later',
      name: 'Later',
      config: { messaging: { bot_token: botToken, webhook_secret: webhookSecret } },
    };
    await fixture.agents.apply([{ ...later, config: {} }]);
    expect(await fixture.replay(good.id)).toMatchObject({ changed: 0, failed: 1, no_agent: 1 });
    expect(await showReceipt(good.id)).toMatchObject({
      outcome: 'agent_not_found',
      body: expect.stringContaining('Anybody?'),
    });
    await fixture.agents.apply([later]);
    for (const { id, chat } of forged) {
      expect(await fixture.replay(id)).toMatchObject({ changed: 1, job_ids: [] });
      expect(await showReceipt(id)).toMatchObject({ outcome: 'rejected_secret', body: null });
      expect(fixture.telegram.textsOf(chat)).toEqual([]);
    }
    await fixture.replay(unreadable.id);
    expect(await showReceipt(unreadable.id)).toMatchObject({ outcome: 'rejected_unreadable', body: '{"update_id":' });
    expect((await fixture.replay(good.id)).job_ids).toHaveLength(1);
    await waitFor(async () => (await showReceipt(good.id)).outcome === 'answered');
    expect(fixture.telegram.textsOf(good.chat)).toEqual(['You said: Anybody?']);
  });

  it('removes control characters from a text before replying to it (D74)', async () => {
    const chat = fixture.next();
    expect((await fixture.ask(chat, { text: 'a\u0000\u001b[2Jb\nc\u009d' })).outcome).toBe('answered');
    expect(fixture.telegram.textsOf(chat)).toEqual(['You said: a[2Jb\nc']);
  });

  it.each([
    ['nothing', ''],
    ['a path', '../guide'],
    ['U+0000', 'gui\0de'],
    ['thousands of characters', 'x'.repeat(5_000)],
    ['a name of the language', 'constructor'],
  ])('ignores an update for the slug %s', async (_what, slug) => {
    const known = await lastId();
    const chat = fixture.next();
    await fixture.deliver(fixture.compose(chat, { text: 'x' }), { slug, secret: null });
    await arrived('agent_not_found', known);
    expect(fixture.telegram.textsOf(chat)).toEqual([]);
  });

  it('stores the received update without the secret', async () => {
    const update = fixture.compose(fixture.next(), { text: 'Keep this' });
    await fixture.deliver(update);
    const receipt = await fixture.settled(update.update_id);
    expect(receipt.body).toBe(JSON.stringify(update));
    expect(receipt.id).toBeGreaterThanOrEqual(firstUpdateReceiptId);
    const rows = await fixture.agents.env.sql<{ row: string }>('select r::text as row from agents.webhook_receipts r');
    expect(rows.filter(({ row }) => row.includes(webhookSecret))).toEqual([]);
  });

  it('fails an update of an agent without a token, without calling the model', async () => {
    const requestsBefore = fixture.agents.llm.requests.length;
    expect(await fixture.ask(fixture.next(), { text: 'x' }, 'mute')).toMatchObject({
      outcome: 'failed',
      message: expect.stringContaining('bot_token'),
    });
    expect(fixture.agents.llm.requests).toHaveLength(requestsBefore);
  });

  it('expires an update after a day without calling the model (rules/agents#messaging-webhook; D32)', async () => {
    const update = fixture.compose(fixture.next(), { text: 'Yesterday' });
    const { sql } = fixture.agents.env;
    await sql(`create function agents.age() returns trigger language plpgsql as $$ begin
      new.stored_at := now() - interval '25 hours'; return new; end $$`);
    await sql(`create trigger age before insert on agents.webhook_receipts for each row when (new.update_id = ${update.update_id})
      execute function agents.age()`);
    const requestsBefore = fixture.agents.llm.requests.length;
    await fixture.deliver(update);
    expect(await fixture.settled(update.update_id)).toMatchObject({ outcome: 'expired', sends: [] });
    expect(fixture.agents.llm.requests).toHaveLength(requestsBefore);
    await sql('drop function agents.age() cascade');
    await fixture.replay((await fixture.settled(update.update_id)).id);
    await waitFor(async () => (await fixture.find(update.update_id))?.outcome === 'answered');
  });

  it('fails an update whose turn cannot be recorded, so that its chat continues (D32)', async () => {
    const [chat, { sql }] = [fixture.next(), fixture.agents.env];
    await sql(
      `create function agents.break_turn() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$`,
    );
    await sql(`create trigger break_turn before insert on agents.messages for each row when (new.body = 'Break it')
      execute function agents.break_turn()`);
    const [broken, next] = [fixture.compose(chat, { text: 'Break it' }), fixture.compose(chat, { text: 'Go on' })];
    await fixture.deliver(broken);
    await fixture.deliver(next);
    await waitFor(
      async () => {
        await sql(`update agents.jobs set run_at = now() where state = 'queued' and sent_at is null`);
        return (await fixture.find(broken.update_id))?.outcome === 'failed';
      },
      { intervalMs: 100 },
    );
    await sql('drop function agents.break_turn() cascade');
    expect(await fixture.find(broken.update_id)).toMatchObject({ message: 'Internal error. See the log.', sends: [] });
    expect((await fixture.settled(next.update_id)).outcome).toBe('answered');
    expect(fixture.telegram.textsOf(chat)).toEqual(['You said: Go on']);
  });

  it('erases the contents of receipts with the person, and retains their outcomes', async () => {
    const [chat, other] = [fixture.next(), fixture.next()];
    const receipt = await fixture.ask(chat, { text: 'My secret wish' });
    const kept = await fixture.ask(other, { text: 'Another wish' });
    const forget = { telegram_user_id: chat };
    expect(await fixture.agents.call(agents.rpcs.forgetThreads, forget)).toMatchObject({
      threads: 1,
      messages: 2,
    });
    expect(await showReceipt(receipt.id)).toMatchObject({ body: null, outcome: 'answered', chat_id: null });
    expect((await showReceipt(kept.id)).body).toContain('Another wish');
    expect(await findNumber(chat)).toEqual([]);
    expect(await findNumber(other)).toEqual([
      'telegram_chats',
      'telegram_sends',
      'threads',
      'webhook_receipts',
      'webhook_receipts',
    ]);
    const rows = await fixture.agents.env.sql<{ row: string | null }>(
      `select r.reply_html || r.id as row from agents.webhook_receipts r`,
    );
    expect(rows.filter(({ row }) => row?.includes('My secret wish') === true)).toEqual([]);
  });

  it('reports a receipt that does not exist', async () => {
    expect((await failureOf(showReceipt(1))).code).toBe('not_found');
    expect(await fixture.replay(1)).toMatchObject({ selected: 0, failed: 1 });
  });

  it('excludes answered updates and updates without an agent from bulk replay', async () => {
    const replay = (outcome: 'answered' | 'agent_not_found', limit = 1_000) =>
      fixture.agents.bus.call(replayWebhooks, { outcome, limit }, contextFor(replayWebhooks));
    const { selected, changed, without_body: withoutBody, nothing_left: nothingLeft } = await replay('answered');
    expect([selected > 2, changed, withoutBody + nothingLeft]).toEqual([true, 0, selected]);
    expect(await replay('answered', 1)).toMatchObject({ selected: 1, changed: 0, more: true });
    expect(await replay('agent_not_found')).toMatchObject({ changed: 0 });
  });

  it('lists receipts by outcome, newest first', async () => {
    const items = await list({ outcome: 'answered', limit: 100 });
    expect(items.every((item) => item.outcome === 'answered')).toBe(true);
    expect(items.map((item) => item.received_at)).toEqual(
      items
        .map((item) => item.received_at)
        .toSorted()
        .toReversed(),
    );
  });
});

/** Returns the tables with rows that contain a user's Telegram id, which is also the id of the user's private chat. */
async function findNumber(user: number): Promise<string[]> {
  const rows = await fixture.agents.env.sql<{ place: string }>(
    `select 'telegram_chats' as place from agents.telegram_chats where chat_id = $1
     union all select 'telegram_sends' from agents.telegram_sends where chat_id = $1
     union all select 'threads' from agents.threads where thread_key like 'telegram:chat:' || $1 || ':%'
     union all select 'webhook_receipts' from agents.webhook_receipts where chat_id = $1
     union all select 'webhook_receipts' from agents.webhook_receipts where sender_id = $1 order by 1`,
    [user],
  );
  return rows.map(({ place }) => place);
}

describe('order of accepted updates (D32)', () => {
  it('delays an update while an earlier update of the chat has no receipt', async () => {
    const chat = fixture.next();
    const [first, second] = [fixture.compose(chat, { text: 'first' }), fixture.compose(chat, { text: 'second' })];
    const { sql } = fixture.agents.env;
    await sql(`create sequence agents.refusals`);
    await sql(`create function agents.refuse() returns trigger language plpgsql security definer as $$ begin
      if nextval('agents.refusals') <= 2 then raise exception 'not yet'; end if; return new; end $$`);
    await sql(`create trigger refuse before insert on agents.webhook_receipts for each row when (new.update_id = ${first.update_id})
      execute function agents.refuse()`);
    await fixture.deliver(first);
    await waitFor(
      async () => (await sql<{ called: boolean }>(`select is_called as called from agents.refusals`))[0]?.called,
    );
    await fixture.deliver(second);
    await waitFor(async () => (await fixture.find(second.update_id))?.outcome === 'pending');
    expect(await fixture.find(first.update_id)).toBeUndefined();
    expect((await fixture.settled(second.update_id)).outcome).toBe('answered');
    expect(fixture.telegram.textsOf(chat)).toEqual(['You said: first', 'You said: second']);
  });
});

describe('agents.webhook.set and info (rules/providers#telegram-webhook)', () => {
  const set = (slug: string) =>
    fixture.agents.call(agents.rpcs.setWebhook, { slug, base_url: 'https://chat.example.org/' });

  it('registers the agent’s webhook with its secret and returns the webhook state from the Bot API', async () => {
    expect(await set('guide')).toMatchObject({
      url: 'https://chat.example.org/api/hook/agents/guide',
      has_secret: true,
    });
    expect(fixture.telegram.callsOf('setWebhook').at(-1)?.body).toEqual({
      url: 'https://chat.example.org/api/hook/agents/guide',
      secret_token: webhookSecret,
      allowed_updates: ['message', 'edited_message', 'channel_post', 'edited_channel_post', 'my_chat_member'],
    });
    const info = await fixture.agents.call(agents.rpcs.getWebhookInfo, { slug: 'guide' });
    expect(info).toMatchObject({
      url: 'https://chat.example.org/api/hook/agents/guide',
      username: 'example_bot',
      pending_update_count: 0,
    });
  });

  it('rejects registration for an agent whose updates would be rejected (D64)', async () => {
    expect((await failureOf(set('open'))).reason).toBe('webhook_secret_missing');
  });

  it('rejects registration for an unknown agent and for an agent without a token', async () => {
    expect((await failureOf(set('nobody'))).reason).toBe('agent_not_found');
    expect((await failureOf(set('mute'))).reason).toBe('bot_not_configured');
  });
});
