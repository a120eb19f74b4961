import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { agents, firstUpdateReceiptId } from '#services/agents';
import { systemContext } from '#libs/nats';
import { waitFor } from '#libs/testing';
import { failureOf } from './place.ts';
import { botToken, startDesk, type TelegramDesk, webhookSecret } from './telegram-desk.ts';

let desk: TelegramDesk;
beforeAll(async () => {
  desk = await startDesk(import.meta.url);
});
afterAll(() => desk.stop());

const newest = async () => (await desk.place.bus.call(agents.rpcs.listReceipts, { limit: 1 }, systemContext('test'))).items[0];
const show = (id: number) => desk.place.bus.call(agents.rpcs.showReceipt, { id }, systemContext('test'));
const arrived = async (outcome: string, known = 0) =>
  await waitFor(async () => {
    const receipt = await newest();
    return receipt !== undefined && receipt.id > known && receipt.outcome === outcome ? receipt : undefined;
  });
const lastId = async (): Promise<number> => (await newest())?.id ?? 0;

describe('receipts of updates (D20, D31, D33d)', () => {
  it.each([
    ['without a secret', null],
    ['with an empty secret', ''],
    ['with another secret', 'webhook-secret_2'],
  ])('drops an update %s, and works it when an operator trusts it', async (_what, secret) => {
    const chat = desk.next();
    const known = await lastId();
    await desk.deliver(desk.compose(chat, { text: 'Let me in' }), { secret });
    const receipt = await arrived('rejected_secret', known);
    expect([receipt.update_id, desk.telegram.textsOf(chat)]).toEqual([null, []]);
    expect((await failureOf(desk.replay(receipt.id))).reason).toBe('receipt_not_trusted');
    await desk.replay(receipt.id, true);
    await waitFor(() => desk.telegram.textsOf(chat).length === 1);
  });

  it('checks no secret for an agent without one', async () => {
    const chat = desk.next();
    await desk.deliver(desk.compose(chat, { text: 'Hello' }), { slug: 'mirrored', secret: null });
    await waitFor(() => desk.telegram.textsOf(chat).length === 1);
  });

  it.each([
    ['no JSON', '{"update_id":'],
    ['no object', '[]'],
    ['no update_id', '{"message":{"text":"x"}}'],
    ['U+0000', '{"update_id":1,"message":{"text":"a\\u0000"}}'],
    ['too deep', `{"update_id":1,"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
    ['nothing', ''],
  ])('keeps no body of an unreadable request: %s', async (_what, body) => {
    const known = await lastId();
    await desk.deliver(Buffer.from(body));
    const receipt = await arrived('rejected_unreadable', known);
    expect(await show(receipt.id)).toMatchObject({ body: null, sends: [], source: 'telegram', agent_slug: 'guide' });
    expect((await failureOf(desk.replay(receipt.id))).reason).toBe('receipt_without_body');
  });

  it('tells a body over the cap by its missing body', async () => {
    const known = await lastId();
    await desk.deliver(null);
    expect(await show((await arrived('rejected_too_large', known)).id)).toMatchObject({ body: null });
  });

  it('keeps an update for an unknown agent, which a replay answers when there is one', async () => {
    const known = await lastId();
    const update = desk.compose(desk.next(), { text: 'Anybody?' });
    await desk.deliver(update, { slug: 'later', secret: null });
    const receipt = await arrived('agent_not_found', known);
    expect((await failureOf(desk.replay(receipt.id))).reason).toBe('agent_not_found');
    await desk.place.apply([{ slug: 'later', name: 'Later', config: { messaging: { bot_token: botToken } } }]);
    await desk.replay(receipt.id);
    expect((await desk.settled(update.update_id)).outcome).toBe('answered');
    expect((await show(receipt.id)).agent_slug).toBe('later');
  });

  it.each([
    ['nothing', ''],
    ['a path', '../guide'],
    ['U+0000', 'gui\0de'],
    ['thousands of characters', 'x'.repeat(5_000)],
    ['a name of the language', 'constructor'],
  ])('has no effect for a slug of %s', async (_what, slug) => {
    const known = await lastId();
    const chat = desk.next();
    await desk.deliver(desk.compose(chat, { text: 'x' }), { slug, secret: null });
    await arrived('agent_not_found', known);
    expect(desk.telegram.textsOf(chat)).toEqual([]);
  });

  it('keeps the update as it came, without the secret anywhere', async () => {
    const update = desk.compose(desk.next(), { text: 'Keep this' });
    await desk.deliver(update);
    const receipt = await desk.settled(update.update_id);
    expect(receipt.body).toBe(JSON.stringify(update));
    expect(receipt.id).toBeGreaterThanOrEqual(firstUpdateReceiptId);
    const rows = await desk.place.env.sql<{ row: string }>('select r::text as row from agents.webhook_receipts r');
    expect(rows.filter(({ row }) => row.includes(webhookSecret))).toEqual([]);
  });

  it('fails an update of an agent without a token, and the model is not asked', async () => {
    const asked = desk.place.llm.requests.length;
    expect(await desk.ask(desk.next(), { text: 'x' }, 'mute')).toMatchObject({
      outcome: 'failed',
      message: expect.stringContaining('bot_token'),
    });
    expect(desk.place.llm.requests).toHaveLength(asked);
  });

  it('expires an update that nobody could answer for a day, and the model is not asked (spec 02, Receives updates; D32)', async () => {
    const update = desk.compose(desk.next(), { text: 'Yesterday' });
    const { sql } = desk.place.env;
    await sql(`create function agents.age() returns trigger language plpgsql as $$ begin
      new.stored_at := now() - interval '25 hours'; return new; end $$`);
    await sql(`create trigger age before insert on agents.webhook_receipts for each row when (new.update_id = ${update.update_id})
      execute function agents.age()`);
    const asked = desk.place.llm.requests.length;
    await desk.deliver(update);
    expect(await desk.settled(update.update_id)).toMatchObject({ outcome: 'expired', sends: [] });
    expect(desk.place.llm.requests).toHaveLength(asked);
    await sql('drop function agents.age() cascade');
    await desk.replay((await desk.settled(update.update_id)).id);
    await waitFor(async () => (await desk.find(update.update_id))?.outcome === 'answered');
  });

  it('gives an update up whose turn cannot be recorded, so that its chat goes on (D32)', async () => {
    const [chat, { sql }] = [desk.next(), desk.place.env];
    await sql(`create function agents.break_turn() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$`);
    await sql(`create trigger break_turn before insert on agents.messages for each row when (new.body = 'Break it')
      execute function agents.break_turn()`);
    const [broken, next] = [desk.compose(chat, { text: 'Break it' }), desk.compose(chat, { text: 'Go on' })];
    await desk.deliver(broken);
    await desk.deliver(next);
    await waitFor(
      async () => {
        await sql(`update agents.jobs set run_at = now() where state = 'queued' and sent_at is null`);
        return (await desk.find(broken.update_id))?.outcome === 'failed';
      },
      { timeoutMs: 30_000, intervalMs: 100 },
    );
    await sql('drop function agents.break_turn() cascade');
    expect(await desk.find(broken.update_id)).toMatchObject({ message: 'Internal error; see the log.', sends: [] });
    expect((await desk.settled(next.update_id)).outcome).toBe('answered');
    expect(desk.telegram.textsOf(chat)).toEqual(['You said: Go on']);
  }, 40_000);

  it('loses what was said with the person who is forgotten, and keeps what became of it', async () => {
    const [chat, other] = [desk.next(), desk.next()];
    const receipt = await desk.ask(chat, { text: 'My secret wish' });
    const kept = await desk.ask(other, { text: 'Another wish' });
    const forget = { telegram_user_id: chat };
    expect(await desk.place.bus.call(agents.rpcs.forgetPerson, forget, systemContext('test'))).toMatchObject({ threads: 1, messages: 2 });
    expect(await show(receipt.id)).toMatchObject({ body: null, outcome: 'answered' });
    expect((await show(kept.id)).body).toContain('Another wish');
    const rows = await desk.place.env.sql<{ row: string | null }>(`select r.reply_html || r.id as row from agents.webhook_receipts r`);
    expect(rows.filter(({ row }) => row?.includes('My secret wish') === true)).toEqual([]);
  });

  it('answers 404 for a receipt that does not exist', async () => {
    expect((await failureOf(show(1))).code).toBe('not_found');
    expect((await failureOf(desk.replay(1))).code).toBe('not_found');
  });

  it('lists by outcome, newest first', async () => {
    const { items } = await desk.place.bus.call(agents.rpcs.listReceipts, { outcome: 'answered' }, systemContext('test'));
    expect(items.every((item) => item.outcome === 'answered')).toBe(true);
    expect(items.map((item) => item.received_at)).toEqual(
      items
        .map((item) => item.received_at)
        .toSorted()
        .toReversed(),
    );
  });
});

describe('order of acceptance (D32)', () => {
  it('holds an update back while one that was accepted before it has no receipt', async () => {
    const chat = desk.next();
    const [first, second] = [desk.compose(chat, { text: 'first' }), desk.compose(chat, { text: 'second' })];
    const { sql } = desk.place.env;
    await sql(`create sequence agents.refusals`);
    await sql(`create function agents.refuse() returns trigger language plpgsql security definer as $$ begin
      if nextval('agents.refusals') <= 2 then raise exception 'not yet'; end if; return new; end $$`);
    await sql(`create trigger refuse before insert on agents.webhook_receipts for each row when (new.update_id = ${first.update_id})
      execute function agents.refuse()`);
    await desk.deliver(first);
    await waitFor(async () => (await sql<{ called: boolean }>(`select is_called as called from agents.refusals`))[0]?.called);
    await desk.deliver(second);
    await waitFor(async () => (await desk.find(second.update_id))?.outcome === 'pending');
    expect(await desk.find(first.update_id)).toBeUndefined();
    expect((await desk.settled(second.update_id)).outcome).toBe('answered');
    expect(desk.telegram.textsOf(chat)).toEqual(['You said: first', 'You said: second']);
  }, 30_000);
});

describe('agents.webhook.set and info (design of providers §2, Webhook delivery)', () => {
  const set = (slug: string) =>
    desk.place.bus.call(agents.rpcs.setWebhook, { slug, base_url: 'https://chat.example.org/' }, systemContext('test'));

  it('registers the address of the agent with its secret, and tells what the Bot API knows', async () => {
    expect(await set('guide')).toMatchObject({ url: 'https://chat.example.org/api/hook/agents/guide', has_secret: true });
    expect(desk.telegram.callsOf('setWebhook').at(-1)?.body).toEqual({
      url: 'https://chat.example.org/api/hook/agents/guide',
      secret_token: webhookSecret,
      allowed_updates: ['message', 'edited_message', 'channel_post', 'edited_channel_post', 'my_chat_member'],
    });
    const info = await desk.place.bus.call(agents.rpcs.getWebhookInfo, { slug: 'guide' }, systemContext('test'));
    expect(info).toMatchObject({ url: 'https://chat.example.org/api/hook/agents/guide', username: 'example_bot', pending_update_count: 0 });
  });

  it('refuses an unknown agent and one without a token', async () => {
    expect((await failureOf(set('nobody'))).reason).toBe('agent_not_found');
    expect((await failureOf(set('mute'))).reason).toBe('bot_not_configured');
  });
});
