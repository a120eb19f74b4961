/** Rate limits and token budgets of the chat (D71). */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { createMetrics } from '#libs/infrastructure/telemetry';
import { waitFor } from '#libs/product/testing';
import { BudgetExceeded, createTokenBudget } from '../../../services/agents/language-model/index.ts';
import { estimateMessage, estimateTokens } from '../../../services/agents/model-text.ts';
import { failureOf, type AgentFixture, startAgentFixture } from './fixture.ts';

describe('agents.chat.send under the limit of an address (D71)', () => {
  let fixture: AgentFixture;
  beforeAll(async () => {
    const limits = { RATE_LIMIT_CHAT_PER_MINUTE: '3', RATE_LIMIT_CHAT_ADDRESS_PER_MINUTE: '4' };
    fixture = await startAgentFixture(import.meta.url, limits);
    await fixture.replica(limits);
    await fixture.apply([
      { slug: 'guide', name: 'Guide' },
      { slug: 'other', name: 'Other' },
    ]);
  });
  afterAll(() => fixture.stop());

  it('limits messages per address across visitors, agents and replicas', async () => {
    const ip = '2001:db8:1:2::/64';
    const { visitor_id } = await fixture.say('1', { ip });
    await fixture.say('2', { ip, slug: 'other' });
    await fixture.say('3', { ip, visitor_id });
    await fixture.say('4', { ip, slug: 'other' });
    const requestsBefore = fixture.llm.requests.length;
    for (const slug of ['guide', 'other']) {
      const error = await failureOf(fixture.say('5', { ip, slug }));
      expect(error.toBody()).toMatchObject({ code: 'rate_limited', details: { retry_after: expect.any(Number) } });
      expect(error.details['retry_after']).toBeGreaterThan(0);
      expect(error.details['retry_after']).toBeLessThanOrEqual(60);
    }
    expect(fixture.llm.requests).toHaveLength(requestsBefore);
    await expect(fixture.say('from elsewhere', { ip: '2001:db8:1:3::/64', visitor_id })).resolves.toMatchObject({
      visitor_id,
    });
  });

  it('counts concurrent messages exactly', async () => {
    const ip = '203.0.113.7';
    const slugs = ['guide', 'other', 'guide', 'other', 'guide', 'other'];
    const results = await Promise.allSettled(slugs.map((slug) => fixture.say('at once', { ip, slug })));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
  });

  it('does not count messages rejected by the visitor’s limit', async () => {
    const ip = '203.0.113.8';
    for (const body of ['1', '2', '3']) await fixture.say(body, { ip });
    for (const body of ['4', '5']) expect((await failureOf(fixture.say(body, { ip }))).code).toBe('rate_limited');
    await expect(fixture.say('another agent', { ip, slug: 'other' })).resolves.toBeDefined();
    expect((await failureOf(fixture.say('another agent', { ip, slug: 'other' }))).code).toBe('rate_limited');
  });
});

describe('daily token budget of an agent (D71)', () => {
  const dailyTokens = 3_000;
  /** The number of tokens that the scripted model reports per call. */
  const tokensOfCall = 30;
  const prompt = 'You are the guide.';
  let fixture: AgentFixture;
  let db: Database;
  let id = 0;
  beforeAll(async () => {
    const settings = { LLM_DAILY_TOKENS: String(dailyTokens), LLM_TIMEOUT_MS: '10000' };
    fixture = await startAgentFixture(import.meta.url, settings);
    await fixture.replica(settings);
    const { ids } = await fixture.apply([
      { slug: 'guide', name: 'Guide', prompt },
      { slug: 'other', name: 'Other' },
    ]);
    id = ids.agents['guide'] ?? 0;
    const { logger, settings: addresses } = fixture.env;
    db = await createDatabase({
      url: addresses['DATABASE_URL'] ?? '',
      schema: 'agents',
      poolSize: 2,
      logger,
      applicationName: 'test budget',
    });
    fixture.env.onStop(() => db.close());
  });
  afterAll(() => fixture.stop());
  beforeEach(() => fixture.env.sql(`delete from agents.token_budgets`));
  afterEach(() => {
    fixture.llm.answerWith(undefined);
    fixture.llm.clearFaults();
  });

  const use = (tokens: number, daysAgo = 0) =>
    fixture.env.sql(
      `insert into agents.token_budgets (agent_id, day, tokens) values ($1, (now() at time zone 'UTC')::date - $3::integer, $2)
       on conflict (agent_id) do update set day = excluded.day, tokens = excluded.tokens`,
      [id, tokens, daysAgo],
    );
  const readUsed = async (): Promise<number | undefined> =>
    (
      await fixture.env.sql<{ tokens: string }>(`select tokens::text from agents.token_budgets where agent_id = $1`, [
        id,
      ])
    ).map(({ tokens }) => Number(tokens))[0];

  it('accepts model calls until the daily token budget is used up, and again on the next day (UTC)', async () => {
    await use(dailyTokens - 1);
    await expect(fixture.say('The last one')).resolves.toBeDefined();
    await waitFor(async () => (await readUsed()) === dailyTokens - 1 + tokensOfCall);
    const requestsBefore = fixture.llm.requests.length;
    const error = await failureOf(fixture.say('One too many'));
    expect(error.toBody()).toEqual({
      code: 'unavailable',
      message: 'The agent has reached its limit for today. Nothing was recorded.',
      details: { retry_after: expect.any(Number) },
    });
    const secondsLeft = 86_400 - Math.floor((Date.now() % 86_400_000) / 1_000);
    expect(Math.abs(Number(error.details['retry_after']) - secondsLeft)).toBeLessThan(30);
    expect(fixture.llm.requests).toHaveLength(requestsBefore);
    expect(await fixture.recorded()).not.toContain('One too many');
    await expect(fixture.say('Another agent', { slug: 'other' })).resolves.toBeDefined();
  });

  it('resets the token budget on the next day', async () => {
    await use(dailyTokens * 5, 1);
    await fixture.say('Good morning');
    await waitFor(async () => (await readUsed()) === tokensOfCall);
  });

  it('reserves tokens before each model call, so that concurrent calls of all replicas remain within the budget', async () => {
    const pendingReply = Promise.withResolvers<string>();
    fixture.llm.answerWith(() => pendingReply.promise);
    const requestsBefore = fixture.llm.requests.length;
    const calls = Array.from({ length: 10 }, () => fixture.say('At once'));
    let refused = 0;
    for (const call of calls) call.catch(() => refused++);
    // Each call reserves a thousand tokens plus the size of its prompt. Three calls stay below the limit of 3000; the
    // fourth would exceed it.
    await waitFor(() => refused === 7);
    pendingReply.resolve('ok');
    expect((await Promise.allSettled(calls)).filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(fixture.llm.requests.length - requestsBefore).toBe(3);
    await waitFor(async () => (await readUsed()) === 3 * tokensOfCall);
  });

  it('estimates tokens that the model does not report, and releases the reservation if the model was not reached', async () => {
    fixture.llm.fail({ kind: 'no_usage' });
    fixture.llm.answerWith(() => 'An answer of some words.');
    await fixture.say('How much?');
    const estimate =
      estimateMessage(prompt) + estimateMessage('How much?') + estimateTokens('An answer of some words.');
    await waitFor(async () => (await readUsed()) === estimate);
    fixture.llm.fail({ kind: 'status', status: 500 }, { kind: 'status', status: 500 });
    await failureOf(fixture.say('How much?'));
    await waitFor(async () => (await readUsed()) === estimate);
    fixture.llm.fail({ kind: 'truncated' });
    await failureOf(fixture.say('How much?'));
    await waitFor(async () => (await readUsed()) === estimate + tokensOfCall);
  });

  it('counts the tokens of memory jobs, and delays these jobs to the next day when the budget is used up', async () => {
    await fixture.env.sql(
      `update agents.jobs set run_at = now() where type = 'agents.thread-memory' and state = 'queued'`,
    );
    const waiting = `select 1 as one from agents.jobs where type = 'agents.thread-memory' and state = 'running' or (state = 'queued' and run_at <= now())`;
    await waitFor(async () => (await fixture.env.sql(waiting)).length === 0);
    const requestsBefore = fixture.llm.memoryRequests.length;
    await use(dailyTokens - 1);
    const { thread_key } = await fixture.say('Remember me');
    await fixture.env.sql(
      `update agents.jobs set run_at = now() where type = 'agents.thread-memory' and state = 'queued'`,
    );
    const jobs = () =>
      fixture.env.sql<{ state: string; error: string | null; attempts: number; late: boolean }>(
        `select j.state, j.error, j.attempts, j.run_at >= date_trunc('day', now() at time zone 'UTC') at time zone 'UTC' + interval '1 day' as late
         from agents.jobs j join agents.threads t on j.payload->>'thread_id' = t.id::text where t.thread_key = $1`,
        [thread_key],
      );
    await waitFor(async () => (await jobs())[0]?.error !== null);
    expect(await jobs()).toEqual([
      { state: 'queued', error: 'The daily token budget of the agent is used up.', attempts: 0, late: true },
    ]);
    expect(fixture.llm.memoryRequests).toHaveLength(requestsBefore);
  });

  it('applies no budget when the setting is 0, and exposes metrics of token usage and rejections', async () => {
    await use(dailyTokens);
    const metrics = createMetrics('budget');
    const budget = createTokenBudget({ db, metrics, dailyTokens });
    await expect(budget.reserve(id, 1)).rejects.toThrow(BudgetExceeded);
    const { text } = await metrics.render();
    expect(text).toMatch(/^coherence_llm_budget_refused_total\{service="budget"\} 1$/m);
    expect(text).toMatch(/^coherence_llm_budget_used_ratio\{service="budget"\} 1$/m);
    const endless = createTokenBudget({ db, metrics: createMetrics('endless'), dailyTokens: 0 });
    await expect(endless.reserve(id, 1)).resolves.toBeDefined();
  });
});
