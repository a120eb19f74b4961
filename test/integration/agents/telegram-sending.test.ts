import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type BotApiFault, startTelegram, waitFor } from '#libs/product/testing';
import { findFreePort } from '../../../libs/product/servers/ports.ts';
import { startTelegramFixture, type TelegramFixture } from './telegram-fixture.ts';

let fixture: TelegramFixture;
beforeAll(async () => {
  fixture = await startTelegramFixture(import.meta.url, { TELEGRAM_TIMEOUT_MS: '3000' });
});
afterAll(() => fixture.stop());

const sendsTo = (chat: number) =>
  fixture.telegram.callsOf('sendMessage').filter((call) => call.body['chat_id'] === chat);
const blockedAt = async (chat: number): Promise<unknown> =>
  (
    await fixture.agents.env.sql<{ blocked_at: unknown }>(
      'select blocked_at from agents.telegram_chats where chat_id = $1',
      [chat],
    )
  )[0]?.blocked_at;
const threadsOf = async (chat: number) =>
  await fixture.agents.env.sql<{ bodies: string[] }>(
    `select array(select m.body from agents.messages m where m.thread_id = t.id order by m.turn, m.id) as bodies
     from agents.threads t where t.thread_key like $1`,
    [`telegram:chat:${chat}:agent:%`],
  );

describe('a send rejected by the Bot API (D33b)', () => {
  it('repeats a send as plain text without parse mode when the HTML is rejected', async () => {
    const chat = fixture.next();
    fixture.agents.llm.answerWith(() => '**Bold** & <plain>');
    fixture.telegram.refuseHtml(true);
    const receipt = await fixture.ask(chat, { text: 'x' });
    fixture.telegram.refuseHtml(false);
    fixture.agents.llm.answerWith((messages) => `You said: ${messages.at(-1)?.content}`);
    expect([receipt.outcome, fixture.telegram.textsOf(chat)]).toEqual(['answered', ['Bold & <plain>']]);
    expect(sendsTo(chat).map((call) => call.body['parse_mode'])).toEqual(['HTML', undefined]);
  });

  it('repeats a send after the Retry-After of a 429 response, with messages in order', async () => {
    const chat = fixture.next();
    fixture.telegram.fail(chat, { kind: 'wait', seconds: 1 }, { kind: 'wait', seconds: 3 });
    const updates = ['first', 'second'].map((text) => fixture.compose(chat, { text }));
    for (const update of updates) await fixture.deliver(update);
    for (const update of updates) expect((await fixture.settled(update.update_id)).outcome).toBe('answered');
    expect(fixture.telegram.textsOf(chat)).toEqual(['You said: first', 'You said: second']);
    expect(fixture.telegram.impatient).toBe(0);
  });

  it('reports other rejected sends in the receipt without a retry, except for a retry without a deleted topic or question', async () => {
    const [chat, group] = [fixture.next(), -fixture.next()];
    fixture.telegram.fail(chat, { kind: 'error', status: 400, description: 'Bad Request: chat not found' });
    const receipt = await fixture.ask(chat, { text: 'x' });
    expect(receipt).toMatchObject({
      outcome: 'send_refused',
      sends: [{ status: 'refused', error: '400: Bad Request: chat not found' }],
    });
    expect(sendsTo(chat)).toHaveLength(1);
    fixture.telegram.fail(group, { kind: 'error', status: 400, description: 'Bad Request: message thread not found' });
    const topic = { text: 'y', chat: { id: group, type: 'supergroup' }, message_thread_id: 9, is_topic_message: true };
    expect((await fixture.ask(group, topic)).outcome).toBe('answered');
    expect(fixture.telegram.visible.at(-1)).toMatchObject({ chatId: group, topicId: undefined, replyTo: undefined });
  });

  it('marks the chat as blocked after a 403 response until the next message from the chat', async () => {
    const chat = fixture.next();
    fixture.telegram.block(chat);
    expect(await fixture.ask(chat, { text: 'x' })).toMatchObject({
      outcome: 'blocked',
      sends: [{ status: 'blocked' }],
    });
    expect(await blockedAt(chat)).not.toBeNull();
    fixture.telegram.unblock(chat);
    expect((await fixture.ask(chat, { text: 'back again' })).outcome).toBe('answered');
    expect([await blockedAt(chat), fixture.telegram.textsOf(chat)]).toEqual([null, ['You said: back again']]);
  });
});

describe('a send with unknown outcome (D33b)', () => {
  const faults: [string, BotApiFault][] = [
    ['a 502 of something in between', { kind: 'broken', status: 502, delivered: false }],
    ['a 500 of the Bot API', { kind: 'error', status: 500, description: 'Internal Server Error' }],
    ['a cut connection', { kind: 'dropped', delivered: true }],
    ['a time-out', { kind: 'silent', delivered: true }],
  ];
  it.each(faults)(
    'reports a send after %s in the receipt without repeating it, and continues with the chat',
    async (_what, fault) => {
      const chat = fixture.next();
      fixture.telegram.fail(chat, fault);
      const receipt = await fixture.ask(chat, { text: 'one' });
      expect(receipt).toMatchObject({
        outcome: 'send_unknown',
        sends: [{ part: 1, status: 'unknown', error: expect.any(String) }],
      });
      expect((await fixture.ask(chat, { text: 'two' })).outcome).toBe('answered');
      const delivered = 'delivered' in fault && fault.delivered;
      expect(fixture.telegram.textsOf(chat)).toEqual([...(delivered ? ['You said: one'] : []), 'You said: two']);
      expect(sendsTo(chat)).toHaveLength(2);
    },
  );

  it('repeats a send of unknown outcome on an operator’s replay, but does not repeat an answered update', async () => {
    const chat = fixture.next();
    fixture.telegram.fail(chat, { kind: 'broken', status: 504, delivered: false });
    const receipt = await fixture.ask(chat, { text: 'one' });
    const requestsBefore = fixture.agents.llm.requests.length;
    await fixture.replay(receipt.id);
    await waitFor(async () => (await fixture.settled(receipt.update_id ?? 0)).outcome === 'answered');
    expect(await fixture.replay(receipt.id)).toMatchObject({ changed: 0, nothing_left: 1, job_ids: [] });
    expect([fixture.telegram.textsOf(chat), fixture.agents.llm.requests.length]).toEqual([
      ['You said: one'],
      requestsBefore,
    ]);
  });

  it('never exposes the token of a failed send', async () => {
    const rows = await fixture.agents.env.sql<{ error: string | null }>('select error from agents.telegram_sends');
    expect(rows.filter((row) => row.error?.includes('test-bot-token') === true)).toEqual([]);
  });
});

describe('a group that becomes a supergroup (D32, D33b)', () => {
  it('moves reply and thread to the new chat when a send reports the migration', async () => {
    const [from, to] = [-fixture.next(), -fixture.next() - 1_000_000];
    await fixture.ask(from, { text: 'before' });
    fixture.telegram.migrate(from, to);
    expect((await fixture.ask(from, { text: 'between' })).outcome).toBe('answered');
    expect((await fixture.ask(to, { text: 'after', chat: { id: to, type: 'supergroup' } })).outcome).toBe('answered');
    expect(fixture.telegram.textsOf(to)).toEqual(['You said: between', 'You said: after']);
    expect([await threadsOf(from), (await threadsOf(to))[0]?.bodies.filter((body) => !body.startsWith('You'))]).toEqual(
      [[], ['before', 'between', 'after']],
    );
  });

  it('moves the thread in order when service messages report the migration, in any order of the two messages', async () => {
    for (const order of [
      ['to', 'from'],
      ['from', 'to'],
    ]) {
      const [from, to] = [-fixture.next(), -fixture.next() - 1_000_000];
      const chatOf = { from: { id: from, type: 'group' }, to: { id: to, type: 'supergroup' } };
      await fixture.ask(from, { text: 'before' });
      await fixture.ask(to, { text: 'early', chat: chatOf.to });
      const service = {
        to: fixture.compose(from, { chat: chatOf.from, migrate_to_chat_id: to }),
        from: fixture.compose(to, { chat: chatOf.to, migrate_from_chat_id: from }),
      };
      for (const side of order) await fixture.deliver(service[side as 'from' | 'to']);
      for (const { update_id } of Object.values(service))
        expect((await fixture.settled(update_id)).outcome).toBe('migrated');
      await fixture.ask(to, { text: 'after', chat: chatOf.to });
      expect([
        await threadsOf(from),
        (await threadsOf(to))[0]?.bodies.filter((body) => !body.startsWith('You')),
      ]).toEqual([[], ['before', 'early', 'after']]);
    }
  });
});

describe('invalid migrations (D32)', () => {
  const secrets = 'my secret plans';
  const person = 7_654_321;

  it('ignores a service message that would migrate a private chat', async () => {
    await fixture.ask(person, { text: secrets });
    const [group, supergroup] = [-fixture.next(), -fixture.next() - 1_000_000];
    const claims = [
      { chat: { id: supergroup, type: 'supergroup' }, migrate_from_chat_id: person },
      { chat: { id: person, type: 'private' }, migrate_to_chat_id: supergroup },
      { chat: { id: group, type: 'group' }, migrate_to_chat_id: person },
    ];
    for (const { chat, ...claim } of claims) {
      const { update_id: id, message } = fixture.compose(chat.id, { chat, ...claim });
      await fixture.deliver({ update_id: id, message });
      expect((await fixture.settled(id)).outcome).toBe('ignored');
    }
    expect((await threadsOf(person))[0]?.bodies).toContain(secrets);
    expect(await threadsOf(supergroup)).toEqual([]);
  });

  it('rejects a migration of a private chat reported by a send', async () => {
    const supergroup = -fixture.next() - 1_000_000;
    await fixture.ask(person, { text: secrets });
    fixture.telegram.migrate(person, supergroup);
    expect((await fixture.ask(person, { text: 'Where am I?' })).outcome).toBe('send_refused');
    expect((await threadsOf(person))[0]?.bodies).toContain(secrets);
    expect([await threadsOf(supergroup), fixture.telegram.textsOf(supergroup)]).toEqual([[], []]);
  });
});

describe('an unavailable Bot API (D33b)', () => {
  it('retries a reply for up to a day while the Bot API is unavailable', async () => {
    const port = await findFreePort();
    const away = await startTelegramFixture(import.meta.url, { TELEGRAM_API_ROOT: `http://127.0.0.1:${port}` });
    try {
      const update = away.compose(7, { text: 'anyone?' });
      await away.deliver(update);
      const error = 'select error from agents.telegram_sends where error is not null';
      await waitFor(async () =>
        (await away.agents.env.sql<{ error: string }>(error))[0]?.error.includes('ECONNREFUSED'),
      );
      const old = away.compose(8, { text: 'too late?' });
      await away.deliver(old);
      await waitFor(async () => (await away.find(old.update_id))?.sends[0]?.error?.includes('ECONNREFUSED'));
      await away.agents.env.sql(
        `update agents.webhook_receipts set stored_at = now() - interval '25 hours' where chat_id = 8`,
      );
      expect(await away.settled(old.update_id)).toMatchObject({
        outcome: 'expired',
        sends: [{ part: 1, status: 'given_up' }],
      });
      const back = await startTelegram({ port });
      away.agents.env.onStop(() => back.stop());
      expect((await away.settled(update.update_id)).outcome).toBe('answered');
      expect(back.textsOf(7)).toEqual(['You said: anyone?']);
    } finally {
      await away.stop();
    }
  });
});
