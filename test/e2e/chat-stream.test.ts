/** Streamed replies through the gateway (C1 to C4). */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { findHtmlProblem, type LlmFault, type LlmServer, startLlm, waitFor } from '#libs/product/testing';
import { startTestPlatform, type TestPlatform } from './test-platform.ts';

let llm: LlmServer;
let platform: TestPlatform;
beforeAll(async () => {
  llm = await startLlm();
  platform = await startTestPlatform(
    import.meta.url,
    {
      LLM_BASE_URL: llm.baseUrl,
      LLM_API_KEY: llm.apiKey,
      LLM_MODEL: 'scripted',
      LLM_MEMORY_MODEL: 'memory',
      LLM_TIMEOUT_MS: '5000',
      RATE_LIMIT_CHAT_PER_MINUTE: '0',
    },
    { services: ['api-gateway', 'directory', 'agents'] },
  );
  await platform.apply({ agents: [{ slug: 'guide', name: 'Guide', prompt: 'You are the guide.' }] });
});
afterEach(() => {
  llm.answerWith(undefined);
  llm.clearFaults();
});
afterAll(async () => {
  await platform.stop();
  await llm.stop();
});

interface Turn {
  readonly visitor_id: string;
  readonly agent_html: string;
}
type Seen =
  | { event: 'snapshot'; data: { agent_html: string } }
  | { event: 'done'; data: Turn }
  | { event: 'error'; data: { detail: string } };

const answer =
  'The **open circle** is for [everybody](https://example.org/).\n\n- it is *free*\n- it `begins` at five\n\nSee you there, and bring a friend.';
const words = answer.split(' ').length;

function send(json: unknown, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
  return fetch(`${platform.baseUrl}/api/chat/guide/message/`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream', ...headers },
    body: JSON.stringify(json),
    ...(signal === undefined ? {} : { signal }),
  });
}

async function readEvents(response: Response, onEvent?: (seen: Seen) => void): Promise<Seen[]> {
  const all: Seen[] = [];
  let rest = '';
  for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const events = (rest + text).split('\n\n');
    rest = events.pop() ?? '';
    for (const part of events.filter((event) => !event.startsWith(':'))) {
      const [, event = '', data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(part) ?? [];
      const seen = { event, data: JSON.parse(data) as unknown } as Seen;
      all.push(seen);
      onEvent?.(seen);
    }
  }
  expect(rest).toBe('');
  return all;
}
const isRecorded = async (body: string): Promise<boolean> =>
  (await platform.findInDatabase(body)).includes('agents.messages');
/** Returns the number of model tokens that the chat has used. */
async function readTokens(): Promise<number> {
  const rows = (await platform.ask('agents', 'usage')) as {
    purpose: string;
    prompt_tokens: number;
    completion_tokens: number;
  }[];
  return rows
    .filter(({ purpose }) => purpose === 'chat')
    .reduce((sum, used) => sum + used.prompt_tokens + used.completion_tokens, 0);
}

describe('POST /api/chat/{agent_slug}/message/ with Accept: text/event-stream', () => {
  it('streams snapshots of a reply while the model generates it, then the complete turn (C1)', async () => {
    // Some words are sent only after an earlier word was received, so that each word is a separate snapshot on slow
    // machines.
    const seenBefore = new Map([
      ['you', 'See'],
      ['and', 'there,'],
      ['bring', 'and'],
      ['a', 'bring'],
    ]);
    let shown = '';
    let firstWordAt: number | undefined;
    llm.answerWith(() => answer, {
      pauseMs: 30,
      before: async (word) => {
        firstWordAt ??= performance.now();
        await waitFor(() => shown.includes(seenBefore.get(word) ?? ''), { intervalMs: 5 });
      },
    });
    const response = await send({ body: 'What is an open circle, as events?' });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(['cache-control', 'x-accel-buffering', 'vary'].map((name) => response.headers.get(name))).toEqual([
      'no-store',
      'no',
      'Origin, Accept',
    ]);
    let lastEventAt = Number.NaN;
    const events = await readEvents(response, ({ event, data }) => {
      lastEventAt = performance.now();
      if (event === 'snapshot') shown = data.agent_html;
    });
    const { data: turn } = events.at(-1) as Seen & { event: 'done' };
    const snapshots = events.slice(0, -1).map(({ event, data }) => (event === 'snapshot' ? data.agent_html : event));
    expect(snapshots.length).toBeGreaterThan(3);
    expect(snapshots.length).toBeLessThanOrEqual(Math.ceil((lastEventAt - (firstWordAt ?? Number.NaN)) / 75) + 1);
    for (const html of snapshots) expect(findHtmlProblem(html)).toBeUndefined();
    expect(snapshots.map((html) => html.length)).toEqual(
      snapshots.map((html) => html.length).toSorted((a, b) => a - b),
    );
    expect(turn.agent_html).toMatch(
      /^The <b>open circle<\/b> is for <a href="https:\/\/example.org\/">everybody<\/a>\.\n\n• it is <i>free<\/i>/,
    );
    expect(llm.requests.at(-1)?.stream).toBe(true);
  });

  it('streams the first word of a reply even when the model pauses after it (C1)', async () => {
    llm.answerWith(() => 'Welcome');
    llm.fail({ kind: 'stream', ending: 'stalled' });
    const leaving = new AbortController();
    const seen: Seen[] = [];
    await readEvents(await send({ body: 'Who is there?' }, {}, leaving.signal), (event) => {
      seen.push(event);
      leaving.abort();
    }).catch(() => undefined);
    expect(seen).toEqual([{ event: 'snapshot', data: { agent_html: 'Welcome' } }]);
  });

  it('starts the response while the model still generates the reply', async () => {
    const held = Promise.withResolvers<void>();
    llm.answerWith(() => answer, { pauseMs: 100 });
    const asked = performance.now();
    const events = await readEvents(await send({ body: 'Begin' }), () => held.resolve());
    await held.promise;
    expect(performance.now() - asked).toBeGreaterThan(100 * (words - 1));
    expect(events.filter(({ event }) => event === 'snapshot').length).toBeGreaterThan(words / 2);
  });

  it('records the same turn as a request without streaming, and continues the thread with either (C2)', async () => {
    llm.answerWith(() => answer);
    const before = await readTokens();
    const whole = await platform.call('POST', '/api/chat/guide/message/', { token: null, json: { body: 'Both ways' } });
    const { visitor_id, agent_html } = whole.json as Turn;
    const events = await readEvents(await send({ body: 'And again', visitor_id }));
    expect(events.at(-1)).toMatchObject({ event: 'done', data: { visitor_id, agent_html } });
    expect(llm.requests.at(-1)?.messages.map(({ content }) => content)).toEqual(
      expect.arrayContaining(['Both ways', answer]),
    );
    expect((await readTokens()) - before).toBe(60);
  });

  it('completes the turn after the client disconnects, and returns the turn to a retry with the same key (C2)', async () => {
    llm.answerWith(() => answer, { pauseMs: 40 });
    const key = { 'Idempotency-Key': 'a-name-of-who-leaves-early' };
    const asked = llm.requests.length;
    const leaving = new AbortController();
    await readEvents(await send({ body: 'I leave early' }, key, leaving.signal), () => leaving.abort()).catch(
      () => undefined,
    );
    expect(leaving.signal.aborted).toBe(true);
    await waitFor(() => isRecorded('I leave early'), { what: 'the turn of who left' });
    const events = await readEvents(await send({ body: 'I leave early' }, key));
    expect(events.map(({ event }) => event)).toEqual(['done']);
    expect(llm.requests.length - asked).toBe(1);
  });

  it('records two concurrent identical first messages once, and returns the same turn for both (C4)', async () => {
    llm.answerWith(() => answer, { pauseMs: 30 });
    const key = { 'Idempotency-Key': 'a-name-of-two-equal-first-messages' };
    const both = await Promise.all([1, 2].map(async () => readEvents(await send({ body: 'The first of two' }, key))));
    const [one, other] = both.map((events) => events.at(-1));
    expect(one).toMatchObject({ event: 'done', data: { agent_html: expect.stringContaining('open circle') } });
    expect(other).toEqual(one);
    for (const events of both) expect(events.slice(0, -1).filter(({ event }) => event !== 'snapshot')).toEqual([]);
    const recorded = await platform.sql(
      `select m.note_type from agents.messages v join agents.messages m on m.thread_id = v.thread_id where v.body = 'The first of two' order by m.id`,
    );
    expect(recorded).toEqual([{ note_type: 'chat_visitor' }, { note_type: 'chat_agent' }]);
  });

  it('returns 503 as JSON when the model fails before its first word, and records nothing (C4, D33a)', async () => {
    const twice = (fault: LlmFault): LlmFault[] => [fault, fault];
    const faults: LlmFault[][] = [
      twice({ kind: 'status', status: 500 }),
      twice({ kind: 'dropped' }),
      [{ kind: 'refusal' }],
      [{ kind: 'truncated' }],
    ];
    for (const given of faults) {
      llm.clearFaults();
      llm.fail(...given);
      const response = await send({ body: 'Unheard of' });
      expect([response.status, response.headers.get('content-type')]).toEqual([503, 'application/json']);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(Object.keys((await response.json()) as object)).toEqual(['detail']);
    }
    expect(await platform.findInDatabase('Unheard of')).toEqual([]);
  });

  it.each(['cut_off', 'dropped', 'error', 'garbage', 'length'] as const)(
    'ends the stream with an error, records nothing and does not retry when the model aborts during the reply: %s',
    async (ending) => {
      llm.answerWith(() => answer);
      llm.fail({ kind: 'stream', ending, pauseMs: 20 });
      const asked = llm.requests.length;
      const response = await send({ body: `Broken off by ${ending}` });
      expect(response.status).toBe(200);
      const events = await readEvents(response);
      expect(events[0]?.event).toBe('snapshot');
      expect(events.at(-1)).toEqual({
        event: 'error',
        data: { detail: 'The agent cannot reply now. Nothing was recorded.' },
      });
      expect(llm.requests.length - asked).toBe(1);
      expect(await platform.findInDatabase(`Broken off by ${ending}`)).toEqual([]);
    },
  );

  it('returns the same errors as a request without a stream', async () => {
    for (const [json, status] of [
      [{ body: ' ' }, 400],
      [{}, 422],
      [{ body: 'x'.repeat(16_385) }, 422],
    ] as const) {
      const response = await send(json);
      expect([response.status, response.headers.get('content-type')]).toEqual([status, 'application/json']);
    }
  });

  it('streams only when Accept contains text/event-stream with at least the preference of JSON (C4)', async () => {
    llm.answerWith(() => 'Yes');
    const isStream = async (accept: string): Promise<boolean> => {
      const response = await send({ body: 'Which?' }, { Accept: accept });
      await response.text();
      return response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    };
    for (const accept of [
      'text/event-stream',
      'text/event-stream, application/json',
      'text/event-stream;q=0.5, application/json;q=0.5, */*;q=0.1',
    ])
      expect([accept, await isStream(accept)]).toEqual([accept, true]);
    for (const accept of [
      '*/*',
      'text/*',
      'application/json',
      'text/event-stream;q=0.9, application/json',
      'text/event-stream;q=0',
      'text/event-stream;q=0.5, */*',
    ])
      expect([accept, await isStream(accept)]).toEqual([accept, false]);
  });

  it.each([
    ['a marker', '<think>They are new here.</think>'],
    [
      'a channel',
      '<|channel|>analysis<|message|>They are new here.<|end|><|start|>assistant<|channel|>final<|message|>',
    ],
    ['no marker', 'The visitor is new here. I greet them.\n</think>\n\n'],
    ['no marker again', 'New here, as it seems.</think>'],
    ['no marker and any words', 'Got it, somebody new here. Internal note: budget is 5. </think>'],
  ])('contains no thoughts in any event when a reply starts with %s (D84)', async (_what, thoughts) => {
    llm.answerWith(() => `${thoughts}Welcome to the **garden**, dear guest`, { pauseMs: 5 });
    const events = await readEvents(await send({ body: 'Who thinks?' }));
    expect(JSON.stringify(events)).not.toMatch(/new here|greet|final|think>/i);
    expect(events.at(-1)).toMatchObject({
      event: 'done',
      data: { agent_html: 'Welcome to the <b>garden</b>, dear guest' },
    });
    for (const { data } of events) expect('agent_html' in data && data.agent_html).toMatch(/^Welcome/);
  });

  // The client remembers that the server cannot stream, so from this test on it requests complete replies only.
  it('sends only the complete turn when the model server cannot stream', async () => {
    llm.answerWith(() => answer);
    llm.fail({ kind: 'no_streams' });
    expect((await readEvents(await send({ body: 'Whole please' }))).map(({ event }) => event)).toEqual(['done']);
    llm.fail({ kind: 'no_streams', status: 400 }, { kind: 'no_streams' });
    expect((await readEvents(await send({ body: 'Whole please' }))).map(({ event }) => event)).toEqual(['done']);
  });
});
