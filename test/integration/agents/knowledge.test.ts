/** A visitor's statements reach other visitors only as far as AGENT_KNOWLEDGE allows (D70). */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newContext } from '#libs/infrastructure/nats';
import { type LlmMessage, superuser, waitFor } from '#libs/product/testing';
import { agents } from '#services/agents';
import { failureOf, type AgentFixture, startAgentFixture } from './fixture.ts';

const { approveSentences, forgetThreads, listSentences, rejectSentences } = agents.rpcs;
const operator = () => ({ ...newContext(), actor: superuser });
const settings = { MEMORY_DELAY_MS: '0', RATE_LIMIT_CHAT_PER_MINUTE: '0' };

let fixture: AgentFixture;
let slug = '';
let agentCount = 0;

/** Waits until all memory jobs are done. */
async function idle(): Promise<void> {
  const waiting = `select 1 as one from agents.jobs where state in ('queued', 'running') limit 1`;
  await waitFor(async () => (await fixture.env.sql(waiting)).length === 0, { what: 'the memory jobs' });
}

/** Sends a message and waits until it is stored in memory. The model returns all its sentences as knowledge. */
async function remember(...sentences: string[]): Promise<{ visitor_id: string; thread_key: string }> {
  fixture.llm.answerMemoryWith((messages) => {
    const data = JSON.parse(messages.at(-1)?.content ?? '{}') as { notes?: string[]; turns?: { visitor: string }[] };
    if (data.notes !== undefined) return JSON.stringify({ summary: data.notes.join(' ') });
    return JSON.stringify({
      summary: 's',
      facts: [],
      knowledge: (data.turns ?? []).flatMap(({ visitor }) =>
        visitor.split('\n').filter((line) => line.includes(' is ')),
      ),
    });
  });
  const reply = await fixture.say(sentences.join('\n'), { slug });
  await idle();
  return reply;
}

/** Returns the prompt that the model receives for the message of a new visitor. */
async function promptOfNewVisitor(): Promise<string> {
  await fixture.say('Hello', { slug });
  const { messages } = fixture.llm.requests.at(-1) as { messages: readonly LlmMessage[] };
  await idle();
  return messages[0]?.role === 'system' ? messages[0].content : '';
}
const list = async () => (await fixture.bus.call(listSentences, { slug, limit: 201 }, operator())).items;
const decide = (rpc: typeof approveSentences | typeof rejectSentences, ids: number[]) =>
  fixture.bus.call(rpc, { slug, ids }, operator());
const idOf = async (sentence: string): Promise<number> => (await list()).find(({ body }) => body === sentence)?.id ?? 0;

beforeEach(async () => {
  slug = `guide-${++agentCount}`;
  await fixture.apply([{ slug, name: 'Guide', prompt: 'You are the guide.' }]);
});
afterEach(() => fixture.llm.answerMemoryWith(undefined));

describe('agent knowledge with AGENT_KNOWLEDGE=reviewed', () => {
  beforeAll(async () => {
    fixture = await startAgentFixture(import.meta.url, { ...settings, AGENT_KNOWLEDGE: 'reviewed' });
  });
  afterAll(() => fixture.stop());

  it('uses knowledge sentences only after an operator approved them, and returns their source', async () => {
    await remember('tea is served at five', 'somebody is ill with malaria');
    expect(await promptOfNewVisitor()).toBe('You are the guide.');
    const items = await list();
    const where = { thread_id: expect.any(Number), channel: 'web', up_to_turn: 1 };
    const origin = { ...where, created_at: expect.stringMatching(/^\d{4}-/), approved_at: null };
    expect(items).toEqual([
      { id: expect.any(Number), body: 'tea is served at five', ...origin },
      { id: expect.any(Number), body: 'somebody is ill with malaria', ...origin },
    ]);
    const entries = () => fixture.env.sql(`select id from agents.audit_log where action = 'agent.approve-knowledge'`);
    expect(await decide(approveSentences, [await idOf('tea is served at five')])).toEqual({ approved: 1 });
    expect(await entries()).toHaveLength(1);
    expect(await decide(approveSentences, [await idOf('tea is served at five')])).toEqual({ approved: 1 });
    expect(await entries()).toHaveLength(1);
    expect(await promptOfNewVisitor()).toContain('"about_the_subject":["tea is served at five"]');
    expect((await list()).map(({ approved_at: at }) => at !== null)).toEqual([true, false]);
    await expect(fixture.env.sql(`select 1 from agents.jobs where type = 'agents.agent-memory'`)).resolves.toEqual([]);
  });

  it('deletes rejected knowledge sentences, including previously approved ones', async () => {
    await remember('tea is served at five', 'cake is served at six');
    const ids = (await list()).map(({ id }) => id);
    await decide(approveSentences, ids);
    expect(await decide(rejectSentences, ids.slice(0, 1))).toEqual({ rejected: 1 });
    expect(await promptOfNewVisitor()).toContain('"about_the_subject":["cake is served at six"]');
    expect(await decide(rejectSentences, ids.slice(1))).toEqual({ rejected: 1 });
    expect([await list(), await promptOfNewVisitor()]).toEqual([[], 'You are the guide.']);
  });

  it('rejects approval and rejection of knowledge sentences of another agent without changes', async () => {
    await remember('tea is served at five');
    const own = await idOf('tea is served at five');
    const first = slug;
    slug = `guide-${++agentCount}`;
    await fixture.apply([{ slug, name: 'Other' }]);
    await remember('coffee is served at four');
    const foreign = await idOf('coffee is served at four');
    slug = first;
    for (const rpc of [approveSentences, rejectSentences]) {
      expect((await failureOf(decide(rpc, [own, foreign]))).reason).toBe('sentence_not_found');
    }
    expect((await list()).map(({ approved_at: at }) => at)).toEqual([null]);
    slug = 'nobody';
    for (const call of [list, () => decide(approveSentences, [own]), () => decide(rejectSentences, [own])]) {
      expect((await failureOf(call())).reason).toBe('agent_not_found');
    }
  });

  it('deletes approved knowledge sentences with the thread that they are from', async () => {
    const { visitor_id } = await remember('tea is served at five');
    await decide(approveSentences, [await idOf('tea is served at five')]);
    await remember('cake is served at six', 'soup is served at noon');
    await decide(approveSentences, [await idOf('cake is served at six')]);
    await expect(fixture.call(forgetThreads, { visitor_id })).resolves.toMatchObject({
      threads: 1,
      facts: 1,
    });
    expect((await list()).map(({ body }) => body)).toEqual(['cake is served at six', 'soup is served at noon']);
    expect(await promptOfNewVisitor()).not.toContain('tea');
    await fixture.call(forgetThreads, { slug, all: true });
    expect([await list(), await promptOfNewVisitor()]).toEqual([[], 'You are the guide.']);
  });

  it('retains approved knowledge sentences when new ones are added, up to 200', async () => {
    await remember('tea is served at five');
    await decide(approveSentences, [await idOf('tea is served at five')]);
    const [thread] = await fixture.env.sql<{ id: number; agent: number }>(
      `select t.id, t.agent_id as agent from agents.threads t join agents.agents a on a.id = t.agent_id where a.slug = $1 order by t.id limit 1`,
      [slug],
    );
    const add = (from: number, to: number) =>
      fixture.env.sql(
        `insert into agents.memory_facts (agent_id, thread_id, kind, body, up_to_turn)
         select $1, $2, 'knowledge', 'sentence ' || n, 1 from generate_series($3::int, $4::int) n`,
        [thread?.agent, thread?.id, from, to],
      );
    await add(1, 200);
    await remember('cake is served at six');
    const bodies = (await list()).map(({ body }) => body);
    expect(bodies).toHaveLength(201);
    expect([
      bodies.includes('tea is served at five'),
      bodies.includes('cake is served at six'),
      bodies.includes('sentence 1'),
    ]).toEqual([true, true, false]);
    const waiting = (await list()).filter(({ approved_at: at }) => at === null).map(({ id }) => id);
    expect((await failureOf(decide(approveSentences, waiting))).reason).toBe('too_much_knowledge');
    expect((await list()).filter(({ approved_at: at }) => at !== null)).toHaveLength(1);
    await expect(decide(approveSentences, waiting.slice(1))).resolves.toEqual({ approved: 199 });
  });
});

describe('agent knowledge with AGENT_KNOWLEDGE=off, the default', () => {
  beforeAll(async () => {
    fixture = await startAgentFixture(import.meta.url, settings);
  });
  afterAll(() => fixture.stop());

  it('neither requests nor stores knowledge, even if the model returns knowledge', async () => {
    await remember('somebody is ill with malaria');
    expect(fixture.llm.memoryRequests.at(-1)?.messages[0]?.content).not.toContain('knowledge');
    expect([await list(), await promptOfNewVisitor()]).toEqual([[], 'You are the guide.']);
    await expect(fixture.env.sql(`select 1 from agents.memory_facts where body like '%malaria%'`)).resolves.toEqual([]);
  });

  it('lists and deletes stored knowledge, but does not use it in prompts', async () => {
    const { visitor_id } = await fixture.say('Hello', { slug });
    await idle();
    await fixture.env.sql(
      `insert into agents.memory_facts (agent_id, thread_id, kind, body, up_to_turn, approved_at)
       select agent_id, id, 'knowledge', 'somebody is ill', 1, now() from agents.threads where visitor_id = $1`,
      [visitor_id],
    );
    await fixture.env.sql(
      `insert into agents.agent_memories (agent_id, summary) select agent_id, 'somebody is ill' from agents.threads where visitor_id = $1`,
      [visitor_id],
    );
    expect(await promptOfNewVisitor()).toBe('You are the guide.');
    const { mode, items } = await fixture.bus.call(listSentences, { slug, limit: 201 }, operator());
    expect([mode, items.map(({ body }) => body)]).toEqual(['off', ['somebody is ill']]);
    await decide(
      rejectSentences,
      items.map(({ id }) => id),
    );
    for (const table of ['memory_facts', 'agent_memories']) {
      await expect(fixture.env.sql(`select 1 from agents.${table} t where t::text like '%ill%'`)).resolves.toEqual([]);
    }
  });
});

describe('agent knowledge with AGENT_KNOWLEDGE=automatic', () => {
  beforeAll(async () => {
    fixture = await startAgentFixture(import.meta.url, { ...settings, AGENT_KNOWLEDGE: 'automatic' });
  });
  afterAll(() => fixture.stop());

  it('removes rejected sentences from the agent memory', async () => {
    await remember('tea is served at five', 'cake is served at six');
    expect(await promptOfNewVisitor()).toContain('tea is served at five');
    await decide(rejectSentences, [await idOf('tea is served at five')]);
    await idle();
    const prompt = await promptOfNewVisitor();
    expect(prompt).toContain('"about_the_subject":["cake is served at six"]');
  });
});
