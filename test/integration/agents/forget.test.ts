/** Erased data does not remain in messages, memory or knowledge (people erase, agents forget). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import { agents } from '#services/agents';
import { failureOf, type AgentFixture, startAgentFixture } from './fixture.ts';

const { forgetThreads, getRecord } = agents.rpcs;

let fixture: AgentFixture;
let agentId = 0;
let slug = '';
let agentCount = 0;
beforeAll(async () => {
  fixture = await startAgentFixture(import.meta.url, {
    MEMORY_DELAY_MS: '0',
    RATE_LIMIT_CHAT_PER_MINUTE: '100',
    AGENT_KNOWLEDGE: 'automatic',
  });
});
afterAll(() => fixture.stop());
beforeEach(async () => {
  fixture.llm.answerMemoryWith(undefined);
  slug = `forgetful-${++agentCount}`;
  const { ids } = await fixture.apply([{ slug, name: 'Forgetful' }]);
  agentId = ids.agents[slug] ?? 0;
});

async function idle(): Promise<void> {
  const waiting = `select 1 as one from agents.jobs where state in ('queued', 'running') limit 1`;
  await waitFor(async () => (await fixture.env.sql(waiting)).length === 0, { what: 'the memory jobs' });
}
const record = () => fixture.call(getRecord, { slug });

/** Returns the tables in which a column contains the text. */
async function findTraces(text: string): Promise<string[]> {
  const tables = await fixture.env.sql<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'agents'`,
  );
  expect(tables.length).toBeGreaterThan(10);
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await fixture.env.sql(
      `select 1 as one from agents.${name} t
       where position(lower($1) in lower(t::text)) > 0 or position(encode(convert_to($1, 'UTF8'), 'hex') in t::text) > 0 limit 1`,
      [text],
    );
    if (rows.length > 0) found.push(name);
  }
  return found;
}

/** Inserts a group thread as the Telegram feature records it. */
async function addGroup(
  chatId: number,
  turns: readonly { user: number; asked: string; answered: string }[],
): Promise<number> {
  const key = `telegram:chat:${chatId}:agent:${agentId}`;
  const [thread] = await fixture.env.sql<{ id: number }>(
    `insert into agents.threads (agent_id, thread_key, channel, turn_count) values ($1, $2, 'telegram', $3) returning id`,
    [agentId, key, turns.length],
  );
  for (const [index, { user, asked, answered }] of turns.entries()) {
    await fixture.env.sql(
      `insert into agents.messages (thread_id, turn, note_type, body, html, created_at, sender)
       values ($1, $2, 'chat_visitor', $3, $3, now(), $5), ($1, $2, 'chat_agent', $4, $4, now(), null)`,
      [thread?.id, index + 1, asked, answered, `telegram:user:${user}`],
    );
  }
  await fixture.env.sql(`insert into agents.thread_memories (thread_id, summary, up_to_turn) values ($1, $2, $3)`, [
    thread?.id,
    turns.map(({ asked }) => asked).join(' '),
    turns.length,
  ]);
  return thread?.id ?? 0;
}

describe('agents.memory.forget (people erase; agents forget --visitor, --thread, --telegram-user)', () => {
  it('removes a visitor from every table and keeps messages of other visitors', async () => {
    const secret = await fixture.say('Is the zanzibar room free?', { slug });
    await fixture.say('My zanzibar plans are secret', { slug, visitor_id: secret.visitor_id });
    await fixture.say('Is there parking?', { slug });
    await idle();
    expect((await record()).agent.memory.summary).toContain('zanzibar');
    expect(await findTraces('zanzibar')).toEqual(
      expect.arrayContaining(['messages', 'thread_memories', 'memory_facts', 'agent_memories']),
    );
    expect(await findTraces(secret.visitor_id)).toEqual(expect.arrayContaining(['threads', 'chat_hits']));

    const counts = await fixture.call(forgetThreads, { visitor_id: secret.visitor_id });
    expect(counts).toEqual({ threads: 1, messages: 4, facts: 2 });
    expect(await findTraces('zanzibar')).toEqual([]);
    expect(await findTraces(secret.visitor_id)).toEqual([]);
    await idle();
    expect(await findTraces('zanzibar')).toEqual([]);
    expect((await record()).agent.memory).toEqual({ summary: 'Is there parking?', notes: ['Is there parking?'] });
  });

  it('deletes nothing for an unknown visitor', async () => {
    await fixture.say('Is there parking?', { slug });
    for (const request of [
      { visitor_id: 'x'.repeat(32) },
      { thread_key: 'telegram:chat:1:agent:1' },
      { telegram_user_id: 5 },
    ]) {
      await expect(fixture.call(forgetThreads, request)).resolves.toEqual({
        threads: 0,
        messages: 0,
        facts: 0,
      });
    }
    expect((await record()).threads).toHaveLength(1);
  });

  it('rejects a request that does not select exactly one thread, person or agent', async () => {
    for (const request of [
      {},
      { slug },
      { all: true as const },
      { visitor_id: 'a', thread_key: 'b' },
      { slug, visitor_id: 'a' },
      { slug, all: true as const, telegram_user_id: 5 },
    ])
      expect((await failureOf(fixture.call(forgetThreads, request))).reason).toBe('ambiguous_selection');
  });

  it('deletes a Telegram user’s private chat, and only that user’s turns in groups', async () => {
    await addGroup(4711, [{ user: 4711, asked: 'zanzibar in private', answered: 'yes, zanzibar' }]);
    const group = await addGroup(-100, [
      { user: 1, asked: 'Is the kiosk open?', answered: 'Until six.' },
      { user: 4711, asked: 'zanzibar in the group', answered: 'zanzibar it is' },
      { user: 2, asked: 'My bus is late', answered: 'Take your time.' },
    ]);
    await addGroup(47, [{ user: 47, asked: 'somebody else', answered: 'ok' }]);
    const counts = await fixture.call(forgetThreads, { telegram_user_id: 4711 });
    expect(counts).toMatchObject({ threads: 1, messages: 4 });
    expect(await findTraces('zanzibar')).toEqual([]);
    await idle();
    const { threads } = await record();
    expect(threads.map(({ thread_key }) => thread_key)).toEqual([
      `telegram:chat:-100:agent:${agentId}`,
      `telegram:chat:47:agent:${agentId}`,
    ]);
    expect(threads[0]?.messages.map(({ body }) => body)).toEqual([
      'Is the kiosk open?',
      'Until six.',
      'My bus is late',
      'Take your time.',
    ]);
    expect(threads[0]?.memory).toMatchObject({
      facts: ['My bus is late'],
      summary: 'Is the kiosk open? / My bus is late',
      up_to_turn: 3,
    });
    await expect(
      fixture.env.sql(`select version from agents.thread_memories where thread_id = $1`, [group]),
    ).resolves.toEqual([{ version: 3 }]);
  });

  it('erases receipts of the erased chat, including receipts from before its migration', async () => {
    await addGroup(-1001, [{ user: 1, asked: 'zanzibar', answered: 'ok' }]);
    await fixture.env.sql(`insert into agents.telegram_chats (agent_id, chat_id, migrated_to) values ($1, -5, -1001)`, [
      agentId,
    ]);
    const addReceipt = (chatId: number, senderId: number, body: string): Promise<unknown> =>
      fixture.env.sql(
        `insert into agents.webhook_receipts (dedupe_key, delivery_id, received_at, stream_sequence, agent_slug, agent_id, chat_id, sender_id, body,
           outcome, reply_html, processed_at)
         values ($1, 'd', now(), 1, $2, $3, $4, $5, convert_to($6, 'UTF8'), 'answered', $6, now())`,
        [`key ${slug} ${chatId}`, slug, agentId, chatId, senderId, body],
      );
    await addReceipt(-1001, 1, '"zanzibar"');
    await addReceipt(-5, 1, '"zanzibar before"');
    await addReceipt(-77, 8, '"quagga"');
    expect(await findTraces('"zanzibar')).toContain('webhook_receipts');
    await fixture.call(forgetThreads, { thread_key: `telegram:chat:-1001:agent:${agentId}` });
    const remaining = `select count(*)::int as n from agents.webhook_receipts where agent_id = $1 and (body is not null or reply_html is not null)`;
    await expect(fixture.env.sql(remaining, [agentId])).resolves.toEqual([{ n: 1 }]);
    await fixture.call(forgetThreads, { telegram_user_id: 8 });
    await expect(fixture.env.sql(remaining, [agentId])).resolves.toEqual([{ n: 0 }]);
  });

  it('retains only the queue entry of an erased private chat with pending updates', async () => {
    const addChat = async (outcome: string, chatId: number): Promise<void> => {
      await fixture.env.sql(
        `with chat as (insert into agents.telegram_chats (agent_id, chat_id) values ($1, $2) returning id)
         insert into agents.webhook_receipts (dedupe_key, delivery_id, received_at, stream_sequence, agent_slug, agent_id, chat_id, sender_id, chat, outcome)
         select $3 || $2, 'd', now(), 1, $3, $1, $2, $2, id, $4 from chat`,
        [agentId, chatId, slug, outcome],
      );
      await fixture.call(forgetThreads, { telegram_user_id: chatId });
    };
    await addChat('pending', 9_001);
    await addChat('answered', 9_002);
    const remaining = await fixture.env.sql(`select chat_id from agents.telegram_chats where chat_id in (9001, 9002)`);
    expect(remaining).toEqual([{ chat_id: 9_001 }]);
  });

  it('prevents a running memory job from writing', async () => {
    let forgotten = false;
    const { visitor_id } = await fixture.say('Hello', { slug });
    await idle();
    fixture.llm.answerMemoryWith(async (messages) => {
      if (!forgotten) await fixture.call(forgetThreads, { visitor_id });
      forgotten = true;
      return messages.at(-1)?.content.includes('"notes"') === true
        ? '{"summary":"zanzibar"}'
        : '{"summary":"zanzibar","facts":["zanzibar"],"knowledge":["zanzibar is asked about"]}';
    });
    await fixture.say('My zanzibar', { slug, visitor_id });
    await waitFor(() => forgotten);
    await idle();
    expect(await findTraces('zanzibar')).toEqual([]);
  });

  it('prevents a running agent memory job from writing', async () => {
    let summaries = 0;
    const { visitor_id } = await fixture.say('Hello', { slug });
    await idle();
    fixture.llm.answerMemoryWith(async (messages) => {
      const { notes } = JSON.parse(messages.at(-1)?.content ?? '{}') as { notes?: string[] };
      if (notes === undefined) return '{"summary":"","facts":[],"knowledge":["zanzibar is asked about"]}';
      summaries++;
      if (summaries === 1) await fixture.call(forgetThreads, { visitor_id });
      return JSON.stringify({ summary: notes.join(' ') });
    });
    await fixture.say('zanzibar', { slug, visitor_id });
    await waitFor(() => summaries > 0);
    await idle();
    expect(await findTraces('zanzibar')).toEqual([]);
  });

  it('prevents a running turn from being recorded', async () => {
    const { visitor_id } = await fixture.say('Hello', { slug });
    fixture.llm.answerWith(async () => {
      await fixture.call(forgetThreads, { visitor_id });
      return 'zanzibar';
    });
    expect((await failureOf(fixture.say('My zanzibar', { slug, visitor_id }))).toBody()).toMatchObject({
      code: 'unavailable',
    });
    fixture.llm.answerWith(undefined);
    await idle();
    expect(await findTraces('zanzibar')).toEqual([]);
    expect((await record()).threads).toEqual([]);
  });
});

describe('agents.record.forget (agents forget SLUG)', () => {
  it('deletes one or all threads of an agent with their memory, and retains other agents', async () => {
    const other = await fixture.say('Is the zanzibar room free?', { slug });
    const one = await fixture.say('Is the zanzibar hall free?', { slug });
    const mine = slug;
    await fixture.apply([{ slug: `${mine}-b`, name: 'B' }]);
    await fixture.say('Is the yellow room free?', { slug: `${mine}-b` });
    await idle();
    await expect(fixture.call(forgetThreads, { slug: `${mine}-b`, thread_key: one.thread_key })).resolves.toMatchObject(
      {
        threads: 0,
      },
    );
    await expect(fixture.call(forgetThreads, { slug: mine, thread_key: one.thread_key })).resolves.toEqual({
      threads: 1,
      messages: 2,
      facts: 1,
    });
    expect((await record()).threads.map(({ thread_key }) => thread_key)).toEqual([other.thread_key]);
    await expect(fixture.call(forgetThreads, { slug: mine, all: true })).resolves.toEqual({
      threads: 1,
      messages: 2,
      facts: 1,
    });
    await idle();
    expect(await findTraces('zanzibar')).toEqual([]);
    expect(await findTraces('yellow')).not.toEqual([]);
  });
});
