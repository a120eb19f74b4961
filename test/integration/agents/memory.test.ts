/** Memory of threads and agents. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { contextFor, type LlmMessage, waitFor } from '#libs/product/testing';
import { agents } from '#services/agents';
import { type AgentFixture, startAgentFixture } from './fixture.ts';

const { getRecord, redriveJobs } = agents.rpcs;

interface MemoryJob {
  readonly state: string;
  readonly error: string | null;
  readonly result: string | null;
}

let fixture: AgentFixture;
beforeAll(async () => {
  fixture = await startAgentFixture(import.meta.url, {
    MEMORY_DELAY_MS: '0',
    RATE_LIMIT_CHAT_PER_MINUTE: '0',
    LLM_MEMORY_MODEL: 'scripted-memory',
    AGENT_KNOWLEDGE: 'automatic',
  });
});
afterAll(() => fixture.stop());
afterEach(async () => {
  fixture.llm.answerWith(undefined);
  fixture.llm.answerMemoryWith(undefined);
  await idle();
});

let agentCount = 0;
/** Creates an agent for one test and returns its slug. */
async function addAgent(prompt = 'You are the guide of the Tea House.'): Promise<string> {
  const slug = `guide-${++agentCount}`;
  await fixture.apply([{ slug, name: 'Guide', prompt }]);
  return slug;
}

/** Waits until all memory jobs are done or dead. */
async function idle(): Promise<void> {
  const waiting = `select 1 as one from agents.jobs where state in ('queued', 'running') and run_at < now() + interval '10 seconds' limit 1`;
  await waitFor(async () => (await fixture.env.sql(waiting)).length === 0, { what: 'the memory jobs' });
}

const record = (slug: string) => fixture.call(getRecord, { slug });
const jobsOf = (threadKey: string): Promise<MemoryJob[]> =>
  fixture.env.sql<MemoryJob>(
    `select j.state, j.error, j.result from agents.jobs j join agents.threads t on j.payload->>'thread_id' = t.id::text
     where j.type = 'agents.thread-memory' and t.thread_key = $1 order by j.id`,
    [threadKey],
  );
const dataOf = (
  messages: readonly LlmMessage[],
): { turns?: { visitor: string }[]; notes?: string[]; facts?: string[]; summary?: string } =>
  JSON.parse(messages.at(-1)?.content ?? '{}') as never;
/** Sends a message and waits until it is stored in memory. */
async function sayAndRemember(slug: string, body: string, visitor_id?: string) {
  const reply = await fixture.say(body, { slug, visitor_id: visitor_id ?? null });
  await idle();
  return reply;
}

describe('thread memory (rules/agents#memory: each message is recorded on the thread and feeds agent memory)', () => {
  it('includes every recorded turn in the memory, lists the memory in the agent record, and uses it in the next turn', async () => {
    const slug = await addAgent();
    const { visitor_id, thread_key } = await sayAndRemember(slug, 'My name is Ada and I like oolong');
    const { threads } = await record(slug);
    expect(threads).toMatchObject([
      {
        thread_key,
        message_count: 2,
        memory: {
          summary: expect.stringContaining('oolong'),
          facts: ['My name is Ada and I like oolong'],
          up_to_turn: 1,
        },
      },
    ]);
    expect(fixture.llm.memoryRequests.at(-1)?.model).toBe('scripted-memory');
    await fixture.say('What do I like?', { slug, visitor_id });
    const [system] = fixture.llm.requests.at(-1)?.messages ?? [];
    expect(system?.content).toContain('"visitor_facts":["My name is Ada and I like oolong"]');
  });

  it('updates the memory from new turns and the previous memory', async () => {
    const slug = await addAgent();
    const { visitor_id } = await sayAndRemember(slug, 'My first message');
    await sayAndRemember(slug, 'My second message', visitor_id);
    const data = dataOf(fixture.llm.memoryRequests.at(-1)?.messages ?? []);
    expect(data.turns?.map(({ visitor }) => visitor)).toEqual(['My second message']);
    expect(data.facts).toEqual(['My first message']);
    expect((await record(slug)).threads[0]?.memory.facts).toEqual(['My first message', 'My second message']);
  });

  it('does not delay replies while the model of a memory job does not respond', async () => {
    const slug = await addAgent();
    fixture.llm.failMemory(...Array.from({ length: 20 }, () => ({ kind: 'silent' }) as const));
    const { visitor_id } = await fixture.say('1', { slug });
    await waitFor(() => fixture.llm.pending > 0);
    for (const body of ['2', '3', '4']) await fixture.say(body, { slug, visitor_id });
    expect((await record(slug)).threads[0]).toMatchObject({ message_count: 8, memory: { up_to_turn: 0 } });
    fixture.llm.clearFaults();
    const remembered = async (): Promise<boolean> => {
      await fixture.env.sql(`update agents.jobs set run_at = now() where state = 'queued'`);
      return (await record(slug)).threads[0]?.memory.up_to_turn === 4;
    };
    await waitFor(remembered, { intervalMs: 200 });
  });

  it('updates the memory in one job for all turns recorded before it runs', async () => {
    const calm = await startAgentFixture(import.meta.url, { MEMORY_DELAY_MS: '3600000' });
    await calm.apply([{ slug: 'guide', name: 'Guide' }]);
    const { visitor_id } = await calm.say('My first');
    for (const body of ['My second', 'My third']) await calm.say(body, { visitor_id });
    const jobs = `select state from agents.jobs where type = 'agents.thread-memory'`;
    await expect(calm.env.sql(jobs)).resolves.toEqual([{ state: 'queued' }]);
    await calm.env.sql(`update agents.jobs set run_at = now()`);
    await waitFor(async () => (await calm.env.sql<{ state: string }>(jobs))[0]?.state === 'succeeded');
    expect(calm.llm.memoryRequests.map(({ messages }) => dataOf(messages).turns?.length)).toEqual([3]);
    await calm.stop();
  });

  it('does not update the memory for a turn that was not recorded', async () => {
    const slug = await addAgent();
    const before = fixture.llm.memoryRequests.length;
    fixture.llm.fail({ kind: 'truncated' });
    await expect(fixture.say('My lost words', { slug })).rejects.toThrow('Nothing was recorded');
    await idle();
    expect(fixture.llm.memoryRequests).toHaveLength(before);
    await expect(
      fixture.env.sql(`select 1 from agents.threads t join agents.agents a on a.id = t.agent_id where a.slug = $1`, [
        slug,
      ]),
    ).resolves.toEqual([]);
  });

  it('builds the memory of a long thread in several jobs', async () => {
    const slug = await addAgent();
    const { visitor_id, thread_key } = await sayAndRemember(slug, 'My start');
    // Inserts turns as the chat runtime records them, to avoid 45 model calls.
    await fixture.env.sql(
      `insert into agents.messages (thread_id, turn, note_type, body, html, created_at)
       select t.id, n, kind, kind || n, '', now() from agents.threads t, generate_series(2, 46) n, unnest(array['chat_visitor', 'chat_agent']) kind
       where t.thread_key = $1 order by n, kind desc`,
      [thread_key],
    );
    await fixture.env.sql(`update agents.threads set turn_count = 46 where thread_key = $1`, [thread_key]);
    await sayAndRemember(slug, 'My end', visitor_id);
    expect((await record(slug)).threads[0]).toMatchObject({ memory: { up_to_turn: 47 } });
    const sizes = fixture.llm.memoryRequests.slice(-2).map(({ messages }) => dataOf(messages).turns?.length);
    expect(sizes).toEqual([40, 6]);
  });
});

describe('memory jobs (agents.thread-memory, agents.agent-memory)', () => {
  it('retries a memory job after an unusable reply without writing anything', async () => {
    const slug = await addAgent();
    fixture.llm.failMemory({ kind: 'content', content: 'Sure, here you are: SECRETWORD' });
    const { thread_key } = await fixture.say('My turn', { slug });
    await waitFor(async () => (await jobsOf(thread_key))[0]?.error);
    const [job] = await jobsOf(thread_key);
    expect(job?.error).toBe('The reply is not valid JSON.');
    expect((await record(slug)).threads[0]?.memory).toEqual({ summary: '', facts: [], notes: [], up_to_turn: 0 });
    await fixture.env.sql(`update agents.jobs set run_at = now() where state = 'queued'`);
    await waitFor(async () => (await record(slug)).threads[0]?.memory.up_to_turn === 1);
    await expect(fixture.env.sql(`select 1 from agents.jobs j where j::text like '%SECRETWORD%'`)).resolves.toEqual([]);
  });

  it('fails a memory job after repeated unusable replies, and processes its turns after a redrive or with the next turn', async () => {
    const slug = await addAgent();
    fixture.llm.failMemory(
      ...Array.from({ length: 5 }, () => ({ kind: 'content', content: '{"summary":5}' }) as const),
    );
    const { thread_key } = await fixture.say('My turn', { slug });
    await waitFor(async () => {
      await fixture.env.sql(`update agents.jobs set run_at = now() where state = 'queued'`);
      return (await jobsOf(thread_key))[0]?.state === 'dead';
    });
    expect((await jobsOf(thread_key))[0]?.error).toMatch(/^The reply does not match the schema: /);
    await expect(
      fixture.bus.call(redriveJobs, { type: 'agents.thread-memory' }, contextFor(redriveJobs)),
    ).resolves.toMatchObject({ changed: 1 });
    await waitFor(async () => (await record(slug)).threads[0]?.memory.up_to_turn === 1);
  });

  it.each([400, 413, 422])(
    'makes a memory job dead when the model server rejects it with %i, and starts a new job with the next turn',
    async (status) => {
      const slug = await addAgent();
      fixture.llm.failMemory(...Array.from({ length: 5 }, () => ({ kind: 'status', status }) as const));
      const { visitor_id, thread_key } = await fixture.say('My turn', { slug });
      await waitFor(async () => {
        await fixture.env.sql(`update agents.jobs set run_at = now() where state = 'queued'`);
        return (await jobsOf(thread_key))[0]?.state === 'dead';
      });
      expect((await jobsOf(thread_key))[0]?.error).toBe(`No usable reply of the language model: status ${status}`);
      await sayAndRemember(slug, 'My next turn', visitor_id);
      expect((await record(slug)).threads[0]?.memory.up_to_turn).toBe(2);
    },
  );

  it('postpones a memory job while the model is unavailable, without counting attempts', async () => {
    const slug = await addAgent();
    const away = { kind: 'status', status: 503 } as const;
    fixture.llm.failMemory(away, away);
    const { thread_key } = await fixture.say('My turn', { slug });
    const [job] = await waitFor(async () => {
      const jobs = await fixture.env.sql<{ attempts: number; error: string }>(
        `select j.attempts, j.error from agents.jobs j join agents.threads t on j.payload->>'thread_id' = t.id::text
         where t.thread_key = $1 and j.error is not null`,
        [thread_key],
      );
      return jobs.length > 0 && jobs;
    });
    expect(job).toEqual({ attempts: 0, error: 'No usable reply of the language model: status 503' });
    await fixture.env.sql(`update agents.jobs set run_at = now() where state = 'queued'`);
    await waitFor(async () => (await record(slug)).threads[0]?.memory.up_to_turn === 1);
  });

  it('does not change the memory when a memory job is repeated', async () => {
    const slug = await addAgent();
    const { thread_key } = await sayAndRemember(slug, 'When do the gates open?');
    const before = await record(slug);
    const requestsBefore = fixture.llm.memoryRequests.length;
    await fixture.env.sql(
      `update agents.jobs set state = 'queued', finished_at = null, sent_at = null, run_at = now(), generation = generation + 1
       where type = 'agents.thread-memory' and payload->>'thread_id' = (select id::text from agents.threads where thread_key = $1)`,
      [thread_key],
    );
    await idle();
    expect(fixture.llm.memoryRequests).toHaveLength(requestsBefore);
    expect(await record(slug)).toEqual(before);
    expect((await jobsOf(thread_key)).map(({ result }) => JSON.parse(result ?? '{}') as unknown)).toEqual([
      { outcome: 'nothing_new' },
    ]);
  });

  it('writes the memory once when two memory jobs run concurrently', async () => {
    const slug = await addAgent();
    const { thread_key } = await sayAndRemember(slug, 'When do the gates open?');
    let overtaken = false;
    fixture.llm.answerMemoryWith(async () => {
      // Simulates another job that writes the memory while this one runs.
      if (!overtaken)
        await fixture.env.sql(`update agents.thread_memories set version = version + 1, summary = 'by another'`);
      overtaken = true;
      return JSON.stringify({ summary: 'too late', facts: ['too late'], knowledge: ['too late'] });
    });
    const [thread] = (await record(slug)).threads;
    await sayAndRemember(slug, 'And when do they close?', thread?.thread_key.split(':')[2]);
    expect((await record(slug)).threads[0]?.memory).toMatchObject({ summary: 'by another', facts: [], up_to_turn: 1 });
    expect((await jobsOf(thread_key)).at(-1)?.result).toContain('overtaken');
  });
});

describe('agent memory with AGENT_KNOWLEDGE=automatic', () => {
  it('summarises the notes of all threads as agent memory for new visitors', async () => {
    const slug = await addAgent();
    await sayAndRemember(slug, 'When do the gates open?');
    await sayAndRemember(slug, 'Is there parking?');
    const { agent } = await record(slug);
    expect(agent.memory).toEqual({
      summary: 'Is there parking? When do the gates open?',
      notes: ['Is there parking?', 'When do the gates open?'],
    });
    await fixture.say('Hello', { slug });
    const [system] = fixture.llm.requests.at(-1)?.messages ?? [];
    expect(system?.content).toContain('"about_the_subject":["Is there parking? When do the gates open?"]');
  });

  it('includes no visitor data in agent memory, even if the model returns it as knowledge', async () => {
    const slug = await addAgent();
    fixture.llm.answerMemoryWith((messages) => {
      const { turns, notes } = dataOf(messages);
      if (notes !== undefined) return JSON.stringify({ summary: notes.join(' ') });
      if (turns?.[0]?.visitor.includes('Ada') !== true)
        return JSON.stringify({ summary: 's', facts: [], knowledge: [] });
      return JSON.stringify({
        summary: 'Ada is ill',
        facts: ['Ada Lovelace is ill', 'Lives in Bremen'],
        knowledge: [
          'Ada is ill',
          'A visitor from bremen asked',
          'Write to ada@example.org',
          'Call 0421 123456',
          'Tea is served at five',
        ],
      });
    });
    await sayAndRemember(slug, 'I am Ada Lovelace from Bremen and I am ill');
    expect((await record(slug)).agent.memory).toEqual({
      summary: 'Tea is served at five',
      notes: ['Tea is served at five'],
    });
    const stranger = await sayAndRemember(slug, 'Who was here before?');
    await fixture.say('And what did they say?', { slug, visitor_id: stranger.visitor_id });
    for (const request of fixture.llm.requests.slice(-2)) {
      expect(JSON.stringify(request.messages)).not.toMatch(/Ada|Bremen|0421|is ill/i);
      expect(JSON.stringify(request.messages)).toContain('Tea is served at five');
    }
  });

  it('stores separate memory for each agent', async () => {
    const [one, other] = [await addAgent(), await addAgent()];
    await sayAndRemember(one, 'When do the gates open?');
    await fixture.say('Hello', { slug: other });
    expect(JSON.stringify(fixture.llm.requests.at(-1)?.messages)).not.toContain('gates');
    expect((await record(other)).agent.memory).toEqual({ summary: '', notes: [] });
  });

  it('limits the notes of each thread in the agent memory', async () => {
    const slug = await addAgent();
    let n = 0;
    fixture.llm.answerMemoryWith((messages) => {
      if (dataOf(messages).notes !== undefined) return JSON.stringify({ summary: 'x' });
      const knowledge = Array.from({ length: 10 }, () => `Subject number ${++n} is asked about`);
      return JSON.stringify({ summary: 's', facts: [], knowledge });
    });
    const { visitor_id } = await sayAndRemember(slug, '1');
    for (const body of ['2', '3']) await sayAndRemember(slug, body, visitor_id);
    const { notes } = (await record(slug)).agent.memory;
    expect(notes).toHaveLength(20);
    expect(notes[0]).toBe('Subject number 30 is asked about');
  });
});
