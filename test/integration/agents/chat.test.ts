import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { contextFor, type LlmFault, waitFor } from '#libs/product/testing';
import { agents } from '#services/agents';
import { newContext } from '#libs/infrastructure/nats';
import { failureOf, type AgentFixture, startAgentFixture } from './fixture.ts';

describe('agents.chat.send (rules/agents#visitor-chat; D33, D33a)', () => {
  let fixture: AgentFixture;

  beforeAll(async () => {
    fixture = await startAgentFixture(import.meta.url);
    await fixture.apply([
      { slug: 'guide', name: 'Guide', prompt: 'You are the guide.' },
      { slug: 'other', name: 'Other', prompt: null },
    ]);
  });
  afterAll(() => fixture.stop());
  beforeEach(() => fixture.llm.answerWith(undefined));

  /** Returns a thread as operators read it. */
  async function readOf(key: string) {
    const [row] = await fixture.env.sql<{ id: string }>('select id from agents.threads where thread_key = $1', [key]);
    const { messages } = await fixture.bus.call(
      agents.rpcs.readThread,
      { thread_id: Number(row?.id), limit: 50 },
      contextFor(agents.rpcs.readThread),
    );
    return { rows: messages };
  }

  describe('agents.chat.send: a turn', () => {
    it('renders and records both messages of a turn together', async () => {
      fixture.llm.answerWith(() => '**Welcome**, 1 < 2.\n\n- a\n- b');
      const reply = await fixture.say('*Hello* <b>you</b>');
      expect(reply).toMatchObject({
        human_html: '<i>Hello</i> &lt;b&gt;you&lt;/b&gt;',
        agent_html: '<b>Welcome</b>, 1 &lt; 2.\n\n• a\n• b',
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00$/),
      });
      const ids = await fixture.env.sql<{ id: number }>(`select id from agents.agents where slug = 'guide'`);
      expect(reply.thread_key).toBe(`web:visitor:${reply.visitor_id}:agent:${ids[0]?.id}`);
      expect((await fixture.recorded()).slice(-2)).toEqual(['*Hello* <b>you</b>', '**Welcome**, 1 < 2.\n\n- a\n- b']);
    });

    it('sends the prompt, earlier turns and the new message to the model', async () => {
      const first = await fixture.say('My name is Ada');
      const second = await fixture.say('What did I say before?', { visitor_id: first.visitor_id });
      expect(second.thread_key).toBe(first.thread_key);
      expect(second.agent_html).toContain('My name is Ada');
      expect(fixture.llm.requests.at(-1)).toMatchObject({
        model: 'scripted',
        messages: [
          { role: 'system', content: 'You are the guide.' },
          { role: 'user', content: 'My name is Ada' },
          { role: 'assistant', content: expect.any(String) },
          { role: 'user', content: 'What did I say before?' },
        ],
      });
    });

    it('records a turn without unstorable characters (D75)', async () => {
      fixture.llm.answerWith(() => 'Wel\0come \ud83d 😀\udc00');
      const { agent_html: html, visitor_id } = await fixture.say('Hello');
      expect(html).toBe('Welcome  😀');
      expect((await fixture.recorded()).at(-1)).toBe('Welcome  😀');
      await expect(fixture.say('Again', { visitor_id })).resolves.toMatchObject({ visitor_id });
    });

    it.each([
      ['<think>They are new here.</think>', '<reasoning effort="low">They are new here.</reasoning>'],
      ['They are new here.</think>\n\n', 'They are new here.[/THINK]'],
      [
        'analysisThey are new here.assistantfinal',
        '<|channel|>analysis<|message|>They are new here.<|end|><|start|>assistant<|channel|>final<|message|>',
      ],
    ])('records and continues a turn without thoughts: %j (D84)', async (first, second) => {
      fixture.llm.answerWith(() => `${first}Welcome`);
      const { agent_html: html, visitor_id } = await fixture.say('Hello');
      fixture.llm.answerWith(() => `${second}Welcome back`);
      const again = await fixture.say('Again', { visitor_id });
      expect([html, again.agent_html, ...(await fixture.recorded()).slice(-4)]).toEqual([
        'Welcome',
        'Welcome back',
        'Hello',
        'Welcome',
        'Again',
        'Welcome back',
      ]);
      expect(JSON.stringify(fixture.llm.requests.at(-1)?.messages)).not.toContain('new here');
    });

    it('removes thoughts from strings of JSON replies before it records and continues them (D84)', async () => {
      fixture.llm.answerWith(() => '{"answer":"<think>They are new here.</think>hi"}');
      const { agent_html: html, visitor_id } = await fixture.say('As JSON, please');
      expect([html, (await fixture.recorded()).at(-1)]).toEqual(['{"answer":"hi"}', '{"answer":"hi"}']);
      await fixture.say('Go on', { visitor_id });
      expect(fixture.llm.requests.at(-1)?.messages.map(({ content }) => content)).toContain('{"answer":"hi"}');
    });

    it('hides thoughts recorded by an earlier release (D84)', async () => {
      fixture.llm.answerWith(() => 'Welcome **back**');
      const name = 'name-of-a-turn-with-thoughts';
      const turn = await fixture.say('Recorded <think>before</think>', { name });
      const record = async () =>
        (await fixture.call(agents.rpcs.getRecord, { slug: 'guide', thread_key: turn.thread_key })).threads[0]
          ?.messages;
      const before = await record();
      await fixture.env.sql(
        `update agents.messages m set body = 'They are back.</think>' || m.body, html = 'They are back.&lt;/think&gt;' || m.html
         from agents.threads t where t.id = m.thread_id and t.thread_key = $1 and m.note_type = 'chat_agent'`,
        [turn.thread_key],
      );
      expect(await fixture.say('Recorded <think>before</think>', { name })).toEqual(turn);
      expect(await record()).toEqual(before);
      const { rows } = await readOf(turn.thread_key);
      expect(rows.map(({ body }) => body)).toEqual(['Recorded <think>before</think>', 'Welcome **back**']);
      const exported = await fixture.bus.call(
        agents.rpcs.exportPerson,
        { visitor_ids: [turn.visitor_id], telegram_user_ids: [], after: 0 },
        newContext(),
      );
      expect(JSON.stringify(exported)).not.toContain('They are back');
      await fixture.say('Go on', { visitor_id: turn.visitor_id });
      expect(
        fixture.llm.requests
          .at(-1)
          ?.messages.slice(1)
          .map(({ content }) => content),
      ).toEqual(['Recorded <think>before</think>', 'Welcome **back**', 'Go on']);
    });

    it('sends no system message for an agent without a prompt', async () => {
      await fixture.say('Hello', { slug: 'other' });
      expect(fixture.llm.requests.at(-1)?.messages.map((message) => message.role)).toEqual(['user']);
    });
  });

  describe('agents.chat.send: order of checks', () => {
    it('checks for 404 before 400, and returns 400 for a blank body', async () => {
      expect((await failureOf(fixture.say(' ', { slug: 'nobody' }))).toBody()).toEqual({
        code: 'not_found',
        message: 'Not Found',
      });
      expect((await failureOf(fixture.say('x', { slug: 'gui\0de' }))).code).toBe('not_found');
      for (const body of ['', ' ', '\n\t\u00a0', '\u200b\u3164\ufe0f'])
        expect((await failureOf(fixture.say(body))).code).toBe('bad_request');
    });
  });

  describe('agents.chat.send: visitor_id', () => {
    it('creates long unique visitor ids', async () => {
      const replies = await Promise.all([1, 2, 3].map(() => fixture.say('Hello')));
      expect(new Set(replies.map((reply) => reply.visitor_id)).size).toBe(3);
      for (const reply of replies) expect(reply.visitor_id).toMatch(/^[A-Za-z0-9_-]{32}$/);
    });

    it('starts a new thread for an unknown, malformed or foreign visitor id', async () => {
      const known = await fixture.say('Hello');
      const visitorIds = [
        'x',
        '',
        'A'.repeat(32),
        '../../etc',
        "' or 1=1 --",
        known.thread_key,
        `${known.visitor_id} `,
        '\0',
      ];
      for (const visitor_id of visitorIds)
        expect((await fixture.say('Hello', { visitor_id })).visitor_id).not.toBe(visitor_id);
      const foreign = await fixture.say('Hello', { visitor_id: known.visitor_id, slug: 'other' });
      expect(foreign.visitor_id).not.toBe(known.visitor_id);
      expect(fixture.llm.requests.at(-1)?.messages).toHaveLength(1);
    });
  });

  describe('messages with an Idempotency-Key (docs/adr/chat-turns.md; D33)', () => {
    const countTurns = async (body: string): Promise<number> =>
      (await fixture.recorded()).filter((item) => item === body).length;

    it('runs a message repeated with its key once: the first of a thread, a later one, and one in progress', async () => {
      const first = await fixture.say('Said first', { name: 'name-of-the-first' });
      const requestsBefore = fixture.llm.requests.length;
      expect(await fixture.say('Said first', { name: 'name-of-the-first' })).toEqual(first);
      const { visitor_id } = first;
      const second = await fixture.say('Said later', { visitor_id, name: 'name-of-the-second' });
      expect(await fixture.say('Said later', { visitor_id, name: 'name-of-the-second' })).toEqual(second);
      expect(fixture.llm.requests.length - requestsBefore).toBe(1);
      const pendingReply = Promise.withResolvers<string>();
      fixture.llm.answerWith(() => pendingReply.promise);
      const twins = [null, visitor_id].map((id) =>
        Promise.all([1, 2].map(() => fixture.say('Twins', { visitor_id: id, name: 'name-of-the-twins' }))),
      );
      await waitFor(() => fixture.llm.pending >= 2);
      pendingReply.resolve('one answer');
      for (const [one, other] of await Promise.all(twins)) expect(other).toEqual(one);
      expect([await countTurns('Said first'), await countTurns('Said later'), await countTurns('Twins')]).toEqual([
        1, 1, 2,
      ]);
    });

    it('runs a new turn for a key with another text, visitor or agent, and for messages without a key', async () => {
      const first = await fixture.say('Mine', { name: 'a-name-used-again' });
      const others = [
        await fixture.say('Mine too', { name: 'a-name-used-again' }),
        await fixture.say('Mine', { name: 'a-name-used-again', visitor_id: first.visitor_id }),
        await fixture.say('Mine', { name: 'a-name-used-again', slug: 'other' }),
        await fixture.say('Mine'),
        await fixture.say('Mine'),
      ];
      expect(new Set([first, ...others].map(({ created_at }) => created_at)).size).toBe(6);
      expect(await countTurns('Mine')).toBe(4);
    });

    it('calls the model again when the first attempt failed', async () => {
      fixture.llm.fail({ kind: 'truncated' });
      await failureOf(fixture.say('Unanswered', { name: 'name-of-the-unanswered' }));
      expect((await fixture.say('Unanswered', { name: 'name-of-the-unanswered' })).agent_html).not.toBe('');
      expect(await countTurns('Unanswered')).toBe(1);
    });
  });

  describe('agents.chat.send: provider failures', () => {
    const twice = (fault: LlmFault): LlmFault[] => [fault, fault];
    const faults: [string, LlmFault[]][] = [
      ['is silent', twice({ kind: 'silent' })],
      ['stalls in the middle of its body', twice({ kind: 'stalled' })],
      ['drops the connection', twice({ kind: 'dropped' })],
      ['answers 500', twice({ kind: 'status', status: 500 })],
      ['answers 401', [{ kind: 'status', status: 401 }]],
      ['answers 429', twice({ kind: 'status', status: 429 })],
      ['answers 200 with HTML', [{ kind: 'body', body: '<html>busy</html>' }]],
      ['answers an empty object', [{ kind: 'body', body: '{}' }]],
      ['answers null', [{ kind: 'body', body: 'null' }]],
      ['answers without choices', [{ kind: 'body', body: '{"choices":[]}' }]],
      ['answers nothing', [{ kind: 'body', body: '' }]],
      ['cuts the answer off (finish_reason length)', [{ kind: 'truncated' }]],
      ['filters the answer', [{ kind: 'finish', reason: 'content_filter' }]],
      ['calls a tool', [{ kind: 'finish', reason: 'tool_calls' }]],
      ['answers null content', [{ kind: 'content', content: null }]],
      ['answers blank content', [{ kind: 'content', content: ' \n ' }]],
      ['answers content that is no text', [{ kind: 'content', content: { text: 'x' } }]],
      ['answers nothing but what cannot be stored', [{ kind: 'content', content: '\0\ud83d' }]],
      ['answers far too much', twice({ kind: 'content', content: 'x'.repeat(5 * 1024 * 1024) })],
    ];
    for (const [what, script] of faults) {
      it(`returns 503 with Retry-After and records nothing when the provider ${what}`, async () => {
        const known = await fixture.say('Before');
        const before = await fixture.env.sql(`select count(*)::int as n from agents.threads`);
        const messages = await fixture.recorded();
        for (const visitor_id of [null, known.visitor_id]) {
          const requestsBefore = fixture.llm.requests.length;
          fixture.llm.fail(...script);
          const error = await failureOf(fixture.say('Lost', { visitor_id }));
          expect(error.toBody()).toMatchObject({ code: 'unavailable', details: { retry_after: expect.any(Number) } });
          expect(fixture.llm.requests.length - requestsBefore).toBe(script.length);
        }
        expect(await fixture.recorded()).toEqual(messages);
        expect(await fixture.env.sql(`select count(*)::int as n from agents.threads`)).toEqual(before);
        await expect(fixture.say('After', { visitor_id: known.visitor_id })).resolves.toMatchObject({
          visitor_id: known.visitor_id,
        });
      });
    }

    it('retries a failed model call once and records the turn once', async () => {
      fixture.llm.fail({ kind: 'status', status: 503 });
      const reply = await fixture.say('Only once, please');
      expect(reply.agent_html).not.toBe('');
      expect((await fixture.recorded()).filter((body) => body === 'Only once, please')).toHaveLength(1);
    });

    it('returns the provider’s Retry-After', async () => {
      fixture.llm.fail({ kind: 'status', status: 429, retryAfter: 1 }, { kind: 'status', status: 429, retryAfter: 17 });
      expect((await failureOf(fixture.say('Hello'))).details).toEqual({ retry_after: 17 });
    });

    it('stops waiting for a reply at the deadline and does not record a late reply', async () => {
      const late = Promise.withResolvers<string>();
      fixture.llm.answerWith(() => late.promise);
      const error = await failureOf(fixture.say('Too late', { deadlineMs: Date.now() + 1_000 }));
      expect(error.status).toBe(503);
      late.resolve('at last');
      fixture.llm.answerWith(undefined);
      await waitFor(async () => (await fixture.env.sql(`select from agents.turn_tickets`)).length === 0);
      expect(await fixture.recorded()).not.toContain('Too late');
    });
  });

  describe('agents.chat.send: turns of a thread', () => {
    it('runs the turns of a thread one at a time across replicas', async () => {
      await fixture.replica();
      const { visitor_id } = await fixture.say('First');
      let running = 0;
      let maxConcurrent = 0;
      fixture.llm.answerWith(async (messages) => {
        maxConcurrent = Math.max(maxConcurrent, ++running);
        await sleep(60);
        running--;
        return `re: ${messages.at(-1)?.content}`;
      });
      const bodies = Array.from({ length: 8 }, (_, n) => `parallel ${n}`);
      await Promise.all(bodies.map((body) => fixture.say(body, { visitor_id })));
      expect(maxConcurrent).toBe(1);
      const recorded = (await fixture.recorded()).slice(-16);
      for (let turn = 0; turn < 16; turn += 2) expect(recorded[turn + 1]).toBe(`re: ${recorded[turn]}`);
      expect(recorded.filter((_body, index) => index % 2 === 0).toSorted()).toEqual(bodies);
      const last = fixture.llm.requests.at(-1);
      expect(last?.messages).toHaveLength(1 + 2 * 8 + 1);
    });

    it('runs turns of different threads concurrently', async () => {
      const visitors = await Promise.all([1, 2, 3].map(() => fixture.say('Hello')));
      let running = 0;
      let maxConcurrent = 0;
      fixture.llm.answerWith(async () => {
        maxConcurrent = Math.max(maxConcurrent, ++running);
        await waitFor(() => maxConcurrent === 3);
        running--;
        return 'ok';
      });
      await Promise.all(visitors.map(({ visitor_id }) => fixture.say('Now', { visitor_id })));
      expect(maxConcurrent).toBe(3);
    });

    it('runs the next turn after a failed one', async () => {
      const { visitor_id } = await fixture.say('Hello');
      fixture.llm.fail({ kind: 'truncated' });
      const results = await Promise.allSettled([
        fixture.say('one', { visitor_id }),
        fixture.say('two', { visitor_id }),
      ]);
      expect(results.map((result) => result.status).toSorted()).toEqual(['fulfilled', 'rejected']);
      await expect(fixture.env.sql(`select count(*)::int as n from agents.turn_tickets`)).resolves.toEqual([{ n: 0 }]);
    });

    it('runs the next turn after a process crash without recording the late reply', async () => {
      const { visitor_id } = await fixture.say('Hello');
      const [thread] = await fixture.env.sql<{ id: number }>(`select id from agents.threads where visitor_id = $1`, [
        visitor_id,
      ]);
      await fixture.env.sql(`update agents.threads set last_ticket = last_ticket + 1 where id = $1`, [thread?.id]);
      const [dead] = await fixture.env.sql<{ until: string }>(
        `insert into agents.turn_tickets select id, last_ticket, clock_timestamp() + interval '1 second' from agents.threads where id = $1
         returning lease_until::text as until`,
        [thread?.id],
      );
      await fixture.say('After the dead one', { visitor_id });
      const over = await fixture.env.sql(`select clock_timestamp() >= $1::timestamptz as over`, [dead?.until]);
      expect(over).toEqual([{ over: true }]);
    });

    it('records nothing when a turn loses its lease before the reply', async () => {
      const { visitor_id } = await fixture.say('Hello');
      fixture.llm.answerWith(async () => {
        await fixture.env.sql(`update agents.turn_tickets set lease_until = clock_timestamp() - interval '1 second'`);
        return 'too late';
      });
      expect((await failureOf(fixture.say('Overtaken', { visitor_id }))).code).toBe('unavailable');
      expect(await fixture.recorded()).not.toContain('Overtaken');
    });
  });
});

describe('agents.chat.send without a runtime (rules/agents#visitor-chat)', () => {
  it('returns 404 and 400 before 503 without a configured model', async () => {
    const fixture = await startAgentFixture(import.meta.url, { LLM_BASE_URL: '' });
    await fixture.apply([{ slug: 'guide', name: 'Guide' }]);
    expect((await failureOf(fixture.say('', { slug: 'nobody' }))).code).toBe('not_found');
    expect((await failureOf(fixture.say(''))).code).toBe('bad_request');
    expect((await failureOf(fixture.say('Hello'))).toBody()).toEqual({
      code: 'unavailable',
      message: 'Agent runtime is not configured',
    });
    expect(await fixture.recorded()).toEqual([]);
    await fixture.stop();
  });
});

describe('agents.chat.send under its rate limit (rules/http#rate-limits)', () => {
  let fixture: AgentFixture;
  beforeAll(async () => {
    fixture = await startAgentFixture(import.meta.url, { RATE_LIMIT_CHAT_PER_MINUTE: '3' });
    await fixture.replica({ RATE_LIMIT_CHAT_PER_MINUTE: '3' });
    await fixture.apply([{ slug: 'guide', name: 'Guide' }]);
  });
  afterAll(() => fixture.stop());

  it('limits messages of one visitor at one address across replicas, including the first message', async () => {
    const { visitor_id } = await fixture.say('1');
    for (const body of ['2', '3']) await fixture.say(body, { visitor_id });
    const error = await failureOf(fixture.say('4', { visitor_id }));
    expect(error.toBody()).toMatchObject({ code: 'rate_limited', details: { retry_after: expect.any(Number) } });
    expect(error.details['retry_after']).toBeGreaterThan(50);
    expect(error.details['retry_after']).toBeLessThanOrEqual(60);
    await expect(fixture.say('from elsewhere', { visitor_id, ip: '10.0.0.2' })).resolves.toMatchObject({ visitor_id });
    expect(await fixture.recorded()).not.toContain('4');
  });

  it('counts messages without a known visitor per address', async () => {
    const ip = '10.0.0.9';
    const results = await Promise.allSettled(
      ['a', 'b', 'c', 'd', 'e'].map((body) => fixture.say(body, { ip, visitor_id: body.repeat(32) })),
    );
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(3);
  });

  it('accepts messages again one minute after the oldest counted message', async () => {
    const ip = '10.0.0.10';
    for (const body of ['a', 'b', 'c']) await fixture.say(body, { ip });
    expect((await failureOf(fixture.say('d', { ip }))).code).toBe('rate_limited');
    await fixture.env.sql(
      `update agents.chat_hits set hit_at = array(select at - interval '1 minute' from unnest(hit_at) at where at <> 'infinity') where key like '%:10.0.0.10'`,
    );
    await expect(fixture.say('e', { ip })).resolves.toBeDefined();
  });
});
