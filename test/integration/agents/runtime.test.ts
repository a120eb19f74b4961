/**
 * The chat runtime as messaging channels use it: threads are found by key and turns by idempotency key, and the caller
 * writes its rows in the same transaction.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { createMetrics } from '#libs/infrastructure/telemetry';
import { contextFor, startTcpProxy, waitFor } from '#libs/product/testing';
import { agents } from '#services/agents';
import { findAgent } from '../../../services/agents/agent/index.ts';
import type { Agent } from '../../../services/agents/agent/statements/agents.ts';
import { type ChatRuntime, createChatRuntime, type TurnRequest } from '../../../services/agents/chat/runtime.ts';
import { createTurnQueue, TurnFailure } from '../../../services/agents/chat/turn-queue.ts';
import {
  createMeasuredModel,
  createStoredHabit,
  createTokenBudget,
} from '../../../services/agents/language-model/index.ts';
import { createMessagingHtml } from '../../../services/agents/messaging-html.ts';
import { createModel, plainRepliesRequired } from '#libs/infrastructure/openai';
import { type AgentFixture, startAgentFixture } from './fixture.ts';

const addRow = { name: 'test.add-row', text: `insert into public.caller_rows (turn, body) values ($1, $2)` };

let fixture: AgentFixture;
let db: Database;
let agent: Agent;
let runtime: ChatRuntime;
const remembered: number[] = [];

beforeAll(async () => {
  fixture = await startAgentFixture(import.meta.url, { RATE_LIMIT_CHAT_PER_MINUTE: '0' });
  await fixture.apply([{ slug: 'guide', name: 'Guide', prompt: 'You are the guide.' }]);
  await fixture.env.sql(`create table public.caller_rows (turn integer, body text)`);
  const { logger, settings } = fixture.env;
  const url = settings['DATABASE_URL'] ?? '';
  db = await createDatabase({ url, schema: 'agents', poolSize: 5, logger, applicationName: 'test runtime' });
  fixture.env.onStop(() => db.close());
  const model = createModel({
    baseUrl: fixture.llm.baseUrl,
    apiKey: fixture.llm.apiKey,
    model: 'scripted',
    timeoutMs: 1_000,
  });
  const metrics = createMetrics('test');
  const budget = createTokenBudget({ db, metrics, dailyTokens: 0 });
  runtime = createChatRuntime({
    db,
    queue: createTurnQueue({ db, logger }),
    model: createMeasuredModel({
      db,
      logger,
      metrics,
      models: { chat: model, memory: model, publishing: model },
      budget,
    }),
    html: createMessagingHtml(),
    promptTokens: 12_000,
    knowledge: 'off',
    enqueueMemory: async (_tx, threadId) => void remembered.push(threadId),
  });
  agent = (await findAgent(db, 'guide')) as Agent;
});
afterAll(() => fixture.stop());
afterEach(() => fixture.llm.answerWith(undefined));

let chatCount = 0;
function ask(body: string, more: Partial<TurnRequest> & { chat?: number } = {}) {
  const { chat = ++chatCount, ...rest } = more;
  return runtime.runTurn({
    agent,
    thread: { key: keyOf(chat), channel: 'telegram' },
    opening: 'any',
    body,
    deadlineMs: Date.now() + 20_000,
    signal: new AbortController().signal,
    logger: fixture.env.logger,
    ...rest,
  });
}
const keyOf = (chat: number): string => `telegram:chat:${chat}:agent:${agent.id}`;
const bodiesOf = async (chat: number): Promise<string[]> => {
  const rows = await fixture.env.sql<{ body: string }>(
    `select m.body from agents.messages m join agents.threads t on t.id = m.thread_id where t.thread_key = $1 order by m.turn, m.id`,
    [keyOf(chat)],
  );
  return rows.map(({ body }) => body);
};
const countThreads = async (chat: number): Promise<number> =>
  (await fixture.env.sql(`select 1 as one from agents.threads where thread_key = $1`, [keyOf(chat)])).length;
const failureOf = async (promise: Promise<unknown>): Promise<TurnFailure> => {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(TurnFailure);
  return error as TurnFailure;
};

describe('chat runtime for every channel (rules/agents#messaging-webhook; D32, D33)', () => {
  it('records a message and its reply, both rendered, in a thread of the Telegram chat, as for the web', async () => {
    fixture.llm.answerWith(() => '**Welcome**');
    const turn = await ask('*Hello*', { chat: 900, sender: 'telegram:user:7' });
    expect(turn).toMatchObject({
      turn: 1,
      humanHtml: '<i>Hello</i>',
      agentBody: '**Welcome**',
      agentHtml: '<b>Welcome</b>',
      repeated: false,
    });
    const web = await fixture.say('*Hello*');
    const shape = `select m.turn, m.note_type, m.body, m.html, m.turn_key from agents.messages m join agents.threads t on t.id = m.thread_id
      where t.thread_key = $1 order by m.id`;
    expect(await fixture.env.sql(shape, [keyOf(900)])).toEqual(await fixture.env.sql(shape, [web.thread_key]));
    expect(remembered).toContain(turn.threadId);
    const { threads } = await fixture.call(agents.rpcs.getRecord, { slug: 'guide', thread_key: keyOf(900) });
    expect(threads).toMatchObject([
      { thread_key: keyOf(900), messages: [{ note_type: 'chat_visitor' }, { note_type: 'chat_agent' }] },
    ]);
  });

  it('shares a model’s detected thinking behaviour across replicas and restarts, but not with other models (D84)', async () => {
    const { logger } = fixture.env;
    const settings = { baseUrl: 'https://llm.example.org/v1', model: 'one-thinking' };
    const habitOf = (more: Partial<typeof settings> = {}) =>
      createStoredHabit({ db, logger }, { ...settings, ...more });
    const [one, other] = [habitOf(), habitOf()];
    for (let answers = 1; answers < plainRepliesRequired; answers++)
      await (answers % 2 === 0 ? one : other).record(false);
    expect(await one.isPlain()).toBe(false);
    await Promise.all([one.record(false), other.record(false)]);
    const known = [
      one,
      other,
      habitOf(),
      habitOf({ model: 'two-thinking' }),
      habitOf({ baseUrl: 'https://other.example.org/v1' }),
    ];
    expect(await Promise.all(known.map((habit) => habit.isPlain()))).toEqual([true, true, true, false, false]);
    await one.record(true);
    await other.record(false);
    expect(await Promise.all([one, other].map((habit) => habit.isPlain()))).toEqual([false, false]);
  });

  it('streams text of a model without a reasoning field until a reply contains thoughts without an opening marker (C1, D84)', async () => {
    const { logger } = fixture.env;
    const habit = createStoredHabit({ db, logger }, { baseUrl: 'https://llm.example.org/v1', model: 'plain' });
    const results = [await habit.isPlain()];
    for (const isUnopened of [false, true, false, false, false]) {
      await habit.record(isUnopened);
      results.push(await habit.isPlain());
    }
    expect(results).toEqual([true, true, false, false, false, true]);
  });

  it('creates one thread for concurrent first messages and replies to them in order', async () => {
    let running = 0;
    let maxConcurrent = 0;
    fixture.llm.answerWith(async (messages) => {
      maxConcurrent = Math.max(maxConcurrent, ++running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running--;
      return `re: ${messages.at(-1)?.content}`;
    });
    await Promise.all(['a', 'b', 'c', 'd'].map((body) => ask(body, { chat: 901 })));
    expect(await countThreads(901)).toBe(1);
    expect(maxConcurrent).toBe(1);
    const bodies = await bodiesOf(901);
    expect(bodies.filter((_body, index) => index % 2 === 0).toSorted()).toEqual(['a', 'b', 'c', 'd']);
    for (let index = 0; index < bodies.length; index += 2) expect(bodies[index + 1]).toBe(`re: ${bodies[index]}`);
  });

  describe('chat runtime with an idempotency key', () => {
    it('returns the recorded turn for a repeated key without calling the model or writing rows', async () => {
      const first = await ask('Hello', { chat: 902, idempotencyKey: 'telegram:1' });
      const requestsBefore = fixture.llm.requests.length;
      const again = await ask('Hello', {
        chat: 902,
        idempotencyKey: 'telegram:1',
        inTransaction: () => Promise.reject(new Error('called')),
      });
      expect(again).toEqual({ ...first, repeated: true });
      expect(fixture.llm.requests).toHaveLength(requestsBefore);
      expect(await bodiesOf(902)).toHaveLength(2);
    });

    it('runs one turn for concurrent requests with the same key', async () => {
      const turns = await Promise.all(
        Array.from({ length: 5 }, () => ask('Hello', { chat: 903, idempotencyKey: 'telegram:2' })),
      );
      expect(turns.filter(({ repeated }) => !repeated)).toHaveLength(1);
      expect(new Set(turns.map(({ agentBody }) => agentBody)).size).toBe(1);
      expect(await bodiesOf(903)).toHaveLength(2);
    });

    it('records one turn although the chat migrated to a supergroup between two deliveries', async () => {
      let waiting = 0;
      fixture.llm.answerWith(async () => {
        waiting++;
        await waitFor(() => waiting === 2);
        return 'ok';
      });
      const turns = await Promise.all([904, 905].map((chat) => ask('Hello', { chat, idempotencyKey: 'telegram:3' })));
      expect(turns.filter(({ repeated }) => repeated)).toHaveLength(1);
      expect([...(await bodiesOf(904)), ...(await bodiesOf(905))]).toEqual(['Hello', 'ok']);
    });

    it('runs a separate turn when another agent uses the same key', async () => {
      await fixture.apply([{ slug: 'second', name: 'Second' }]);
      const second = (await findAgent(db, 'second')) as Agent;
      await ask('Hello', { chat: 906, idempotencyKey: 'telegram:4' });
      const turn = await ask('Hello', {
        agent: second,
        thread: { key: 'telegram:chat:906:agent:x', channel: 'telegram' },
        idempotencyKey: 'telegram:4',
      });
      expect(turn.repeated).toBe(false);
    });
  });

  describe('chat runtime: additional rows of the caller', () => {
    it('commits the caller’s rows in the transaction of the turn', async () => {
      await ask('Hello', {
        inTransaction: async (tx, { turn, agentBody }) => void (await tx.query(addRow, [turn, agentBody])),
      });
      await expect(fixture.env.sql(`select turn from public.caller_rows`)).resolves.toEqual([{ turn: 1 }]);
    });

    it('rolls back the turn and its thread when the caller’s rows fail', async () => {
      const failing = ask('Undone', {
        chat: 907,
        inTransaction: async (tx) => {
          await tx.query(addRow, [99, 'undone']);
          throw new Error('the caller changed its mind');
        },
      });
      await expect(failing).rejects.toThrow('changed its mind');
      expect(await countThreads(907)).toBe(0);
      await expect(fixture.env.sql(`select 1 as one from public.caller_rows where turn = 99`)).resolves.toEqual([]);
    });
  });

  describe('chat runtime: a failed turn', () => {
    it('reports a model failure with the time of the next retry', async () => {
      const limited = { kind: 'status', status: 429, retryAfter: 1 } as const;
      fixture.llm.fail(limited, { ...limited, retryAfter: 9 });
      expect(await failureOf(ask('Lost', { chat: 908 }))).toMatchObject({
        kind: 'no_answer',
        cause: { kind: 'status' },
        retryAfter: 9,
      });
      expect(await countThreads(908)).toBe(0);
    });

    it('reports a turn that ends at the caller’s deadline or abort signal', async () => {
      fixture.llm.fail({ kind: 'silent' });
      expect(await failureOf(ask('Lost', { signal: AbortSignal.timeout(50) }))).toMatchObject({ kind: 'out_of_time' });
      expect(await failureOf(ask('Late', { chat: 909, deadlineMs: Date.now() }))).toMatchObject({
        kind: 'out_of_time',
      });
      expect(await countThreads(909)).toBe(0);
    });

    it('reports a turn that lost its lease, e.g. after the process was suspended', async () => {
      fixture.llm.answerWith(async () => {
        await fixture.env.sql(`update agents.turn_tickets set lease_until = clock_timestamp() - interval '1 second'`);
        return 'too late';
      });
      expect(await failureOf(ask('Lost', { chat: 910 }))).toMatchObject({ kind: 'lost' });
      expect(await bodiesOf(910)).toEqual([]);
    });

    it('releases a turn as soon as the lost database connection is restored, before its lease expires', async () => {
      const { logger, settings } = fixture.env;
      const proxy = await startTcpProxy(settings['DATABASE_URL'] ?? '');
      const far = await createDatabase({
        url: proxy.url,
        schema: 'agents',
        poolSize: 2,
        logger,
        applicationName: 'test far',
      });
      const [thread] = await fixture.env.sql<{ id: number }>(
        `insert into agents.threads (agent_id, channel, thread_key) values ($1, 'telegram', 'lost-database') returning id`,
        [agent.id],
      );
      const threadId = thread?.id ?? 0;
      const leaseMs = 60_000;
      const lost = createTurnQueue({ db: far, logger, leaseMs }).run(
        threadId,
        new AbortController().signal,
        async () => {
          proxy.cut();
          await far.ping();
        },
      );
      await expect(lost).rejects.toMatchObject({ code: 'unavailable' });
      proxy.restore();
      const signal = AbortSignal.timeout(leaseMs / 2);
      expect(await createTurnQueue({ db, logger, leaseMs }).run(threadId, signal, async () => 'its turn')).toBe(
        'its turn',
      );
      await far.close();
      await proxy.stop();
    });

    it('polls less often for tickets further back in the turn queue', async () => {
      const { threadId } = await ask('Hello');
      const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
      let polls = 0;
      const counting: Database = Object.create(db, {
        query: {
          value: (...call: Parameters<Database['query']>) => {
            if (call[0].name.includes('tickets.renew')) polls++;
            return db.query(...call);
          },
        },
      });
      const signal = new AbortController().signal;
      const queue = createTurnQueue({ db: counting, logger: fixture.env.logger });
      const holding = queue.run(threadId, signal, () => isOver);
      await waitFor(() => polls >= 1);
      const waiting = Array.from({ length: 20 }, () => queue.run(threadId, signal, async () => 'its turn'));
      await waitFor(() => polls >= 21);
      const before = polls;
      const next = Promise.withResolvers<void>();
      setTimeout(next.resolve, 1_500);
      await next.promise;
      // twenty turns every 150 ms would be 200
      expect(polls - before).toBeLessThan(100);
      end();
      await holding;
      expect(await Promise.all(waiting)).toEqual(waiting.map(() => 'its turn'));
    });

    it('does not delete a thread while another ticket waits for its turn', async () => {
      fixture.llm.fail({ kind: 'truncated' });
      const results = await Promise.allSettled([ask('one', { chat: 911 }), ask('two', { chat: 911 })]);
      expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      expect(await bodiesOf(911)).toHaveLength(2);
    });
  });
});

describe('replies of the model (rules/providers#language-models)', () => {
  it('assembles a reply that the server streamed without a request to stream', async () => {
    fixture.llm.answerWith(() => 'One two three');
    fixture.llm.fail({ kind: 'stream', pauseMs: 5 });
    expect((await ask('Hello')).agentBody).toBe('One two three');
  });

  const useless = [
    ['a refusal', { kind: 'refusal' }, 'refused'],
    ['a filtered answer', { kind: 'finish', reason: 'content_filter' }, 'filtered'],
    ['a cut-off answer', { kind: 'truncated' }, 'truncated'],
    ['a stream that ends with length', { kind: 'stream', ending: 'length' }, 'truncated'],
    ['a stream that breaks off', { kind: 'stream', ending: 'cut_off' }, 'truncated'],
    ['a stream with an error in it', { kind: 'stream', ending: 'error' }, 'empty'],
    ['a stream with nonsense in it', { kind: 'stream', ending: 'garbage' }, 'empty'],
  ] as const;
  it.each(useless)('rejects model replies that are %s', async (_what, fault, kind) => {
    fixture.llm.answerWith(() => 'some words');
    fixture.llm.fail(fault);
    expect(await failureOf(ask('Lost', { chat: 920 }))).toMatchObject({ kind: 'no_answer', cause: { kind } });
    expect(await bodiesOf(920)).toEqual([]);
  });
});

describe('usage of the model (rules/operations#metrics; agents usage)', () => {
  it('counts model calls, tokens and time per agent and day, including failed calls', async () => {
    await fixture.apply([{ slug: 'counted', name: 'Counted' }]);
    const counted = (await findAgent(db, 'counted')) as Agent;
    await ask('Hello', { agent: counted });
    fixture.llm.fail({ kind: 'no_usage' });
    await ask('Hello', { agent: counted });
    fixture.llm.fail({ kind: 'truncated' });
    await failureOf(ask('Hello', { agent: counted }));
    fixture.llm.fail({ kind: 'status', status: 400 });
    await failureOf(ask('Hello', { agent: counted }));
    const { items } = await fixture.bus.call(
      agents.rpcs.listUsage,
      { slug: 'counted' },
      contextFor(agents.rpcs.listUsage),
    );
    expect(items).toEqual([
      {
        slug: 'counted',
        day: new Date().toISOString().slice(0, 10),
        purpose: 'chat',
        calls: 4,
        failed_calls: 2,
        calls_without_usage: 2,
        prompt_tokens: 40,
        completion_tokens: 20,
        duration_ms: expect.any(Number),
      },
    ]);
    const later = { slug: 'counted', since: '2999-01-01' };
    await expect(fixture.bus.call(agents.rpcs.listUsage, later, contextFor(agents.rpcs.listUsage))).resolves.toEqual({
      items: [],
    });
  });
});
