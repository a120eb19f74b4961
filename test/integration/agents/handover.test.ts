/** Takeovers on the web and in Telegram: record, memory and hand-back (H1 to H4). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newContext as context } from '#libs/infrastructure/nats';
import { superuser, waitFor } from '#libs/product/testing';
import { agents } from '#services/agents';
import { failureOf } from './fixture.ts';
import { startTelegramFixture, type TelegramFixture } from './telegram-fixture.ts';

const { rpcs } = agents;
const operator = () => ({ ...context(), actor: superuser });

let fixture: TelegramFixture;
beforeAll(async () => {
  fixture = await startTelegramFixture(import.meta.url, {
    TELEGRAM_TIMEOUT_MS: '3000',
    RATE_LIMIT_CHAT_PER_MINUTE: '0',
    RATE_LIMIT_CHAT_ADDRESS_PER_MINUTE: '0',
    AGENT_KNOWLEDGE: 'automatic',
  });
});
afterAll(() => fixture.stop());
beforeEach(() => fixture.agents.llm.answerWith((messages) => `You said: ${messages.at(-1)?.content}`));

const call = (name: 'take' | 'handBack', threadId: number) =>
  fixture.agents.bus.call(name === 'take' ? rpcs.takeThread : rpcs.handThreadBack, { thread_id: threadId }, operator());
const write = (threadId: number, body: string, name?: string) =>
  fixture.agents.bus.call(
    rpcs.sayInThread,
    { thread_id: threadId, body, ...(name && { idempotency_key: name }) },
    operator(),
  );
const read = (threadId: number, more: { before?: number; limit?: number } = {}) =>
  fixture.agents.bus.call(rpcs.readThread, { thread_id: threadId, limit: 50, ...more }, operator());
const updates = (visitorId: string, after = 0, slug = 'guide') =>
  fixture.agents.bus.call(rpcs.readChatUpdates, { agent_slug: slug, visitor_id: visitorId, after }, context());
const listBodies = async (threadId: number): Promise<string[]> =>
  (await read(threadId)).messages.map(({ author, body }) => `${author}: ${body}`);

async function threadOf(key: string): Promise<number> {
  const [row] = await fixture.agents.env.sql<{ id: string }>('select id from agents.threads where thread_key = $1', [
    key,
  ]);
  return Number(row?.id);
}

/** Opens the thread of a new visitor with one answered message. */
async function openThread(body = 'Hello'): Promise<{ id: number; visitorId: string; key: string }> {
  const { visitor_id: visitorId, thread_key: key } = await fixture.agents.say(body);
  return { id: await threadOf(key), visitorId, key };
}

/** Opens a Telegram chat with one answered message. */
async function openChat(chat = fixture.next()): Promise<{ id: number; chat: number }> {
  expect((await fixture.ask(chat, { text: 'Hello' })).outcome).toBe('answered');
  const [row] = await fixture.agents.env.sql<{ id: string }>('select id from agents.threads where thread_key like $1', [
    `telegram:chat:${chat}:agent:%`,
  ]);
  return { id: Number(row?.id), chat };
}

describe('a taken-over thread (rules/agents#a-person-answers; H1, H2)', () => {
  it('sends no agent reply in a taken-over thread until the takeover ends, and records all messages together', async () => {
    const { id, visitorId, key } = await openThread();
    expect(await call('take', id)).toMatchObject({
      thread: { id, agent: 'guide', channel: 'web', taken_by: { account_id: 1 } },
    });
    const before = fixture.agents.llm.requests.length;
    expect(await fixture.agents.say('Is anybody there?', { visitor_id: visitorId })).toEqual({
      visitor_id: visitorId,
      thread_key: key,
      human_html: 'Is anybody there?',
      agent_html: expect.stringContaining('A person'),
      created_at: expect.any(String),
      waits_for: 'person',
    });
    expect(fixture.agents.llm.requests.length).toBe(before);
    expect((await read(id)).thread.waiting).toBe(true);
    const { message } = await write(id, 'I **am**.');
    expect(message).toMatchObject({
      author: 'operator',
      account_id: 1,
      html: 'I <b>am</b>.',
      delivery: null,
      turn: 3,
    });
    expect((await read(id)).thread).toMatchObject({ waiting: false, turns: 3 });
    expect(await call('handBack', id)).toMatchObject({ thread: { taken_by: null } });
    expect(await fixture.agents.say('Thanks', { visitor_id: visitorId })).toMatchObject({
      agent_html: expect.stringContaining('Thanks'),
    });
    expect(await listBodies(id)).toEqual([
      'visitor: Hello',
      'agent: You said: Hello',
      'visitor: Is anybody there?',
      'operator: I **am**.',
      'visitor: Thanks',
      'agent: You said: Thanks',
    ]);
    const { threads } = await fixture.agents.call(rpcs.getRecord, { slug: 'guide', thread_key: key });
    expect(threads[0]?.messages.map(({ note_type: type }) => type)).toEqual([
      'chat_visitor',
      'chat_agent',
      'chat_visitor',
      'chat_operator',
      'chat_visitor',
      'chat_agent',
    ]);
  });

  it('discards the running reply at a takeover and keeps the visitor’s message', async () => {
    const { id, visitorId } = await openThread();
    const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
    const { promise: free, resolve: answer } = Promise.withResolvers<void>();
    fixture.agents.llm.answerWith(async () => {
      isAsked();
      await free;
      return 'Too late';
    });
    const reply = fixture.agents.say('Slowly', { visitor_id: visitorId });
    await asked;
    await call('take', id);
    answer();
    expect(await reply).toMatchObject({ waits_for: 'person' });
    expect(await listBodies(id)).toEqual(['visitor: Hello', 'agent: You said: Hello', 'visitor: Slowly']);
  });

  it('returns the same reply for a repeated idempotency key, also after the takeover ended', async () => {
    const { id, visitorId } = await openThread();
    await call('take', id);
    const named = { visitor_id: visitorId, name: 'a-name-of-sixteen-characters' };
    const first = await fixture.agents.say('Once', named);
    await call('handBack', id);
    expect(await fixture.agents.say('Once', named)).toEqual(first);
    expect((await listBodies(id)).filter((line) => line === 'visitor: Once')).toHaveLength(1);
  });

  it('allows one operator per thread: a repeated takeover by this operator has no effect, and writing requires a takeover', async () => {
    const { id } = await openThread();
    expect(await failureOf(write(id, 'Hi'))).toMatchObject({ code: 'conflict', reason: 'thread_not_taken' });
    const { thread } = await call('take', id);
    expect(await call('take', id)).toEqual({ thread });
    for (const blank of [' \n\0', '\u200b\u3164'])
      expect(await failureOf(write(id, blank))).toMatchObject({ code: 'bad_request', reason: 'empty_message' });
    const { message } = await write(id, 'Once', 'name-1');
    expect(await write(id, 'Once', 'name-1')).toEqual({ message });
    expect((await write(id, 'Twice', 'name-1')).message.turn).toBe(message.turn + 1);
    await call('handBack', id);
    await call('handBack', id);
    expect(await failureOf(call('take', 999_999))).toMatchObject({ code: 'not_found', reason: 'thread_not_found' });
    const [{ actions } = { actions: [] }] = await fixture.agents.env.sql<{ actions: string[] }>(
      `select array_agg(action order by id) as actions from agents.audit_log where target_id = $1`,
      [String(id)],
    );
    expect(actions).toEqual(['thread.take', 'thread.say', 'thread.say', 'thread.hand-back']);
    expect(JSON.stringify(await fixture.agents.env.sql('select changes from agents.audit_log'))).not.toMatch(
      /Once|Twice/,
    );
  });

  it('returns later operator messages to the visitor of the thread, and nothing to unknown visitors', async () => {
    const { id, visitorId } = await openThread();
    expect(await updates(visitorId)).toEqual({ waits_for: null, messages: [], next: 0 });
    await call('take', id);
    await write(id, 'One <script>');
    const { next } = await updates(visitorId);
    await write(id, 'Two');
    expect(await updates(visitorId)).toMatchObject({
      waits_for: 'person',
      messages: [
        { operator_html: 'One &lt;script&gt;', created_at: expect.stringMatching(/\+00:00$/) },
        { operator_html: 'Two' },
      ],
    });
    const later = await updates(visitorId, next);
    expect(later.messages).toHaveLength(1);
    expect(await updates(visitorId, later.next)).toEqual({ waits_for: 'person', messages: [], next: later.next });
    for (const [who, slug] of [
      ['x'.repeat(32), 'guide'],
      [visitorId, 'mute'],
      [`${visitorId}\0`, 'guide'],
      ["' or true --", 'guide'],
    ] as const)
      expect(await updates(who, 0, slug)).toEqual({ waits_for: null, messages: [], next: 0 });
  });

  it('notifies waiting visitors on every replica of a takeover, an operator message or the end of a takeover (H2)', async () => {
    const replica = await fixture.agents.replica({
      RATE_LIMIT_CHAT_PER_MINUTE: '0',
      RATE_LIMIT_CHAT_ADDRESS_PER_MINUTE: '0',
    });
    const { id, visitorId } = await openThread();
    const wait = async (waitsFor: 'person' | null, after: number, act: () => Promise<unknown>) => {
      const request = { agent_slug: 'guide', visitor_id: visitorId, after, wait: 8, waits_for: waitsFor };
      const startedAt = performance.now();
      // several requests, so that both replicas process some
      const answers = Promise.all(
        Array.from({ length: 6 }, () => fixture.agents.bus.call(rpcs.readChatUpdates, request, context())),
      );
      await fixture.agents.env.sql('select pg_sleep(0.3)');
      await act();
      const [first, ...others] = await answers;
      for (const other of others) expect(other).toEqual(first);
      expect(performance.now() - startedAt).toBeLessThan(6_000);
      return first;
    };
    expect(await wait(null, 0, () => call('take', id))).toEqual({ waits_for: 'person', messages: [], next: 0 });
    const messages = await wait('person', 0, () => write(id, 'At once'));
    expect(messages).toMatchObject({ waits_for: 'person', messages: [{ operator_html: 'At once' }] });
    expect(await wait('person', messages?.next ?? 0, () => call('handBack', id))).toMatchObject({
      waits_for: null,
      messages: [],
    });
    expect(await wait('person', messages?.next ?? 0, () => Promise.resolve())).toMatchObject({
      waits_for: null,
      messages: [],
    });
    await replica.stop();
  });

  it('lists a taken-over thread once, even when several threads change concurrently', async () => {
    const ids = [(await openThread()).id, (await openThread()).id, (await openThread()).id].toSorted(
      (one, other) => other - one,
    );
    await fixture.agents.env.sql(`update agents.threads set updated_at = '2099-01-01T00:00:00Z' where id = any($1)`, [
      ids,
    ]);
    const listed: number[] = [];
    let before: { at: string; id: number } | undefined;
    for (let page = 0; page < ids.length; page++) {
      const { items } = await fixture.agents.bus.call(
        rpcs.listThreads,
        { limit: 1, ...(before !== undefined && { before }) },
        operator(),
      );
      const [{ id, updated_at: at } = { id: 0, updated_at: '' }] = items;
      listed.push(id);
      before = { at, id };
    }
    expect(listed).toEqual(ids);
  });

  it('filters threads by takeover, and returns threads and messages in pages that never split a turn', async () => {
    const { id, visitorId } = await openThread();
    await fixture.agents.say('Again', { visitor_id: visitorId });
    await call('take', id);
    const list = (taken: boolean) =>
      fixture.agents.bus.call(rpcs.listThreads, { agent: 'guide', channel: 'web', taken, limit: 200 }, operator());
    expect((await list(true)).items.map((item) => item.id)).toContain(id);
    expect((await list(false)).items.map((item) => item.id)).not.toContain(id);
    expect(JSON.stringify(await list(true))).not.toContain(visitorId);
    const newest = await read(id, { limit: 3 });
    expect(newest.messages.map(({ body }) => body)).toEqual(['Again', 'You said: Again']);
    const { before } = newest;
    expect((await read(id, { limit: 1, before: before ?? 0 })).messages.map(({ body }) => body)).toEqual([
      'Hello',
      'You said: Hello',
    ]);
  });
});

describe('a taken-over Telegram chat (H3)', () => {
  const words = async (id: number): Promise<(string | null)[]> =>
    (await read(id)).messages.flatMap(({ author, delivery }) => (author === 'operator' ? [delivery] : []));
  const delivered = (id: number, expected: (string | null)[]) =>
    waitFor(async () => ((await words(id)).join() === expected.join() ? true : undefined), { what: 'the delivery' });

  it('delivers operator messages once and in order, without agent replies until the takeover ends', async () => {
    const { id, chat } = await openChat();
    await call('take', id);
    const typing = fixture.telegram.callsOf('sendChatAction').length;
    expect((await fixture.ask(chat, { text: 'Help' })).outcome).toBe('left_to_person');
    expect(fixture.telegram.callsOf('sendChatAction').length).toBe(typing);
    fixture.telegram.fail(chat, { kind: 'wait', seconds: 1 });
    for (const text of ['One', 'Two', 'Three']) await write(id, text);
    await delivered(id, ['sent', 'sent', 'sent']);
    await call('handBack', id);
    expect((await fixture.ask(chat, { text: 'Bye' })).outcome).toBe('answered');
    expect(fixture.telegram.callsOf('sendChatAction').length).toBeGreaterThan(typing);
    expect(fixture.telegram.textsOf(chat)).toEqual(['You said: Hello', 'One', 'Two', 'Three', 'You said: Bye']);
    expect(fixture.telegram.impatient).toBe(0);
  });

  it('delivers operator messages to the topic of the last message, or without a topic if the topic was deleted', async () => {
    const chat = -fixture.next();
    const ask = (text: string, topic?: number) =>
      fixture.ask(chat, {
        text,
        chat: { id: chat, type: 'supergroup', is_forum: true },
        ...(topic === undefined ? {} : { message_thread_id: topic, is_topic_message: true }),
      });
    expect((await ask('Hello', 7)).outcome).toBe('answered');
    const [thread] = await fixture.agents.env.sql<{ id: string }>(
      'select id from agents.threads where thread_key like $1',
      [`telegram:chat:${chat}:agent:%`],
    );
    const id = Number(thread?.id);
    await call('take', id);
    await write(id, 'In seven');
    expect((await ask('Help', 9)).outcome).toBe('left_to_person');
    await write(id, 'In nine');
    await delivered(id, ['sent', 'sent']);
    fixture.telegram.fail(chat, { kind: 'error', status: 400, description: 'Bad Request: message thread not found' });
    await write(id, 'In none');
    await delivered(id, ['sent', 'sent', 'sent']);
    await ask('Hello all');
    await write(id, 'To all');
    await delivered(id, ['sent', 'sent', 'sent', 'sent']);
    const sent = fixture.telegram.visible.filter(({ chatId }) => chatId === chat);
    expect(sent.map(({ text, topicId }) => [text, topicId])).toEqual([
      ['You said: Hello', 7],
      ['In seven', 7],
      ['In nine', 9],
      ['In none', undefined],
      ['To all', undefined],
    ]);
    await call('handBack', id);
  });

  it('reports unknown, rejected and blocked sends of operator messages without retrying them', async () => {
    const { id, chat } = await openChat();
    await call('take', id);
    fixture.telegram.fail(chat, { kind: 'silent', delivered: true });
    await write(id, 'Perhaps');
    await delivered(id, ['unknown']);
    fixture.telegram.fail(chat, { kind: 'error', status: 400, description: 'Bad Request: chat not found' });
    await write(id, 'No');
    await delivered(id, ['unknown', 'failed']);
    fixture.telegram.block(chat);
    await write(id, 'x'.repeat(9_000));
    await delivered(id, ['unknown', 'failed', 'failed']);
    expect(fixture.telegram.callsOf('sendMessage').filter(({ body }) => body['chat_id'] === chat)).toHaveLength(4);
  });

  it('does not repeat the sends of a delivery attempt that crashed', async () => {
    const { id, chat } = await openChat();
    await call('take', id);
    fixture.telegram.fail(chat, { kind: 'wait', seconds: 8 });
    await write(id, 'Once');
    const isWaiting = `select 1 from agents.operator_sends s join agents.messages m on m.id = s.message_id
      where m.thread_id = $1 and s.status = 'planned' and s.error like '429%'`;
    await waitFor(async () => ((await fixture.agents.env.sql(isWaiting, [id])).length > 0 ? true : undefined), {
      what: 'the wait',
    });
    await fixture.agents.env.sql(
      `update agents.operator_sends s set status = 'sending' from agents.messages m where m.id = s.message_id and m.thread_id = $1`,
      [id],
    );
    await delivered(id, ['unknown']);
    expect(fixture.telegram.textsOf(chat)).toEqual(['You said: Hello']);
  });

  it('keeps the takeover when the group becomes a supergroup', async () => {
    const [group, supergroup] = [-fixture.next(), -fixture.next() - 1_000_000];
    const { id } = await openChat(group);
    await call('take', id);
    fixture.telegram.migrate(group, supergroup);
    await write(id, 'Here');
    await delivered(id, ['sent']);
    expect(fixture.telegram.textsOf(supergroup)).toEqual(['Here']);
    const answered = await fixture.ask(supergroup, { text: 'And now?', chat: { id: supergroup, type: 'supergroup' } });
    expect(answered.outcome).toBe('left_to_person');
  });
});

describe('operator messages (H4)', () => {
  it('marks operator messages and unanswered messages in the next prompt', async () => {
    const { id, visitorId } = await openThread();
    await call('take', id);
    await fixture.agents.say('First', { visitor_id: visitorId });
    await write(id, 'It costs 12.');
    await fixture.agents.say('Second', { visitor_id: visitorId });
    await call('handBack', id);
    await fixture.agents.say('Third', { visitor_id: visitorId });
    const messages = fixture.agents.llm.requests.at(-1)?.messages.filter(({ role }) => role !== 'system') ?? [];
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
    expect(messages.at(3)?.content).toMatch(/^\[A person .*\]\nIt costs 12\.$/);
    expect(messages.at(4)?.content).toBe('Second\n\nThird');
  });

  it('excludes operator messages from other threads and facts, and includes the visitor’s messages in the memory', async () => {
    const { id, visitorId } = await openThread();
    await call('take', id);
    await fixture.agents.say('I am called Ada', { visitor_id: visitorId });
    await write(id, 'Hello Ada');
    fixture.agents.llm.answerMemoryWith(() =>
      JSON.stringify({ summary: 's', facts: ['Called Ada'], knowledge: ['people like tea'] }),
    );
    await fixture.agents.env.sql(
      `update agents.jobs set run_at = now() where type = 'agents.thread-memory' and state = 'queued'`,
    );
    const facts = () =>
      fixture.agents.env.sql<{ kind: string; body: string }>(
        'select kind, body from agents.memory_facts where thread_id = $1',
        [id],
      );
    await waitFor(async () => ((await facts()).length > 0 ? true : undefined), { what: 'the memory' });
    expect(await facts()).toEqual([{ kind: 'visitor', body: 'Called Ada' }]);
    const prompts = fixture.agents.llm.memoryRequests.map(
      ({ messages }) => JSON.parse(messages.at(-1)?.content ?? '{}') as { turns?: unknown },
    );
    expect(prompts.map(({ turns }) => turns)).toContainEqual([
      { visitor: 'Hello', agent: 'You said: Hello' },
      { visitor: 'I am called Ada' },
      { operator: 'Hello Ada' },
    ]);
  });

  it('includes only the visitor’s messages in the memory with the demo model, regardless of the last author', async () => {
    const { id, visitorId } = await openThread('I like tea');
    await call('take', id);
    await write(id, 'Hello from a person');
    fixture.agents.llm.answerMemoryWith(undefined);
    const remember = async (): Promise<string[]> => {
      await fixture.agents.env.sql(
        `update agents.jobs set run_at = now() where type = 'agents.thread-memory' and state = 'queued'`,
      );
      const jobs = () =>
        fixture.agents.env.sql<{ state: string }>(`select state from agents.jobs where key = $1 order by id`, [
          `thread:${id}`,
        ]);
      await waitFor(async () => ((await jobs()).every(({ state }) => state === 'succeeded') ? true : undefined), {
        what: 'the memory',
      });
      return (
        await fixture.agents.env.sql<{ summary: string }>(
          'select summary from agents.thread_memories where thread_id = $1',
          [id],
        )
      ).map(({ summary }) => summary);
    };
    expect(await remember()).toEqual(['I like tea']);
    await write(id, 'Are you still there?');
    expect(await remember()).toEqual(['I like tea']);
    await call('handBack', id);
    await fixture.agents.say('I do', { visitor_id: visitorId });
    expect(await remember()).toEqual(['I like tea / I do']);
  });

  it('erases operator messages with the visitor, and in groups all operator messages since the erased person’s first turn', async () => {
    const { id, visitorId } = await openThread();
    await call('take', id);
    await write(id, 'A secret of theirs');
    await fixture.agents.call(rpcs.forgetThreads, { visitor_id: visitorId });
    const group = -fixture.next();
    const { id: ofGroup } = await openChat(group);
    await call('take', ofGroup);
    await write(ofGroup, 'To all before');
    await fixture.ask(group, { text: 'I am Bo', from: { id: 777, is_bot: false, first_name: 'Bo' } });
    await write(ofGroup, 'Dear Bo');
    await fixture.agents.call(rpcs.forgetThreads, { telegram_user_id: 777 });
    expect(await listBodies(ofGroup)).toEqual(['visitor: Hello', 'agent: You said: Hello', 'operator: To all before']);
    const remaining = await fixture.agents.env.sql(
      `select 1 from agents.thread_takeovers where thread_id = $1 union all select 1 from agents.messages where body = 'A secret of theirs'`,
      [id],
    );
    expect(remaining).toEqual([]);
  });
});
