/** A server behind LLM_BASE_URL that means ill, or was taken over: what it answers is bounded while it is read. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createModel, initialPlainReplies, type TextListener, ModelFailure, plainRepliesRequired } from '#libs/openai';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** What a server that answers like this is understood to say. */
async function answerWith(respond: RequestListener, { timeoutMs = 120_000, listener }: Options = {}): Promise<string> {
  const server = createServer(respond);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const model = createModel({ baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: 'k', model: 'm', timeoutMs });
  return (await model.answer([{ role: 'user', content: 'Hi' }], AbortSignal.timeout(120_000), listener)).text;
}

interface Options {
  readonly timeoutMs?: number;
  /** Has the answer asked for as events. */
  readonly listener?: TextListener;
}

/** The failure of a call of a server that answers like this. */
async function failureWith(respond: RequestListener, options?: Options): Promise<ModelFailure> {
  try {
    await answerWith(respond, options);
  } catch (error) {
    if (error instanceof ModelFailure) return error;
    throw error;
  }
  throw new Error('it was an answer');
}

const json = { 'content-type': 'application/json' };

describe('a model server that means ill (rules/providers#language-models)', () => {
  it('and packs far too much into little is unreadable, without being unpacked to its end', async () => {
    const bomb = gzipSync(Buffer.alloc(256 * 1024 * 1024), { level: 9 });
    const before = process.memoryUsage().rss;
    const failure = await failureWith((_request, response) => response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(bomb));
    expect(failure.kind).toBe('unreadable');
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
  });

  it('and never ends its answer is unreadable', async () => {
    const failure = await failureWith((_request, response) => {
      response.writeHead(200, json);
      const more = (): void => void (!response.destroyed && response.write('x'.repeat(65_536), () => setImmediate(more)));
      more();
    });
    expect(failure.kind).toBe('unreadable');
  });

  it('and hardly ever sends a byte is not waited for longer than two attempts', async () => {
    let attempts = 0;
    const failure = await failureWith(
      (_request, response) => {
        attempts++;
        response.writeHead(200, json);
        const timer = setInterval(() => response.write(' '), 20);
        response.once('close', () => clearInterval(timer));
      },
      { timeoutMs: 1_500 }, // in which a request arrives on a busy machine, too
    );
    expect(attempts).toBe(2);
    // The name of what ends a fetch is lost where jest's realm meets that of Node, so that it looks like a lost connection here.
    expect(['timeout', 'connection']).toContain(failure.kind);
  });

  it('and sends the caller elsewhere is not followed', async () => {
    let visits = 0;
    const failure = await failureWith((request, response) => {
      if (request.url?.startsWith('/inside') === true) visits++;
      response.writeHead(307, { location: '/inside' }).end();
    });
    expect([failure.kind, visits]).toEqual(['connection', 0]);
  });
});

const events = { 'content-type': 'text/event-stream' };
const whole = (content: unknown, finish: string): string =>
  JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: finish }] });
const event = (content: unknown, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_893_456_000, model: 'some-model', choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`;

describe('a server that is no OpenAI (rules/providers#language-models)', () => {
  it.each(['stop', 'eos', 'eos_token', 'end_turn', 'stop_sequence', 'STOP'])(
    'and ends its answers with %s gives answers',
    async (finish) => {
      await expect(answerWith((_request, response) => response.writeHead(200, json).end(whole('Hi', finish)))).resolves.toBe('Hi');
      const heard = (): void => undefined;
      const streamed = answerWith((_request, response) => response.writeHead(200, events).end(event('Hi') + event('', finish)), {
        listener: heard,
      });
      await expect(streamed).resolves.toBe('Hi');
    },
  );

  it.each(['error', 'max_tokens', 'abort', 'tool_calls'])('and ends them with %s gives none', async (finish) => {
    expect((await failureWith((_request, response) => response.writeHead(200, json).end(whole('Hi', finish)))).kind).toBe('empty');
  });

  it.each([
    ' <think>\nThe notes say: they were here in May.\n</think>\n\n',
    'The notes say: they were here in May.\n</think>\n\n',
    '[THINK]They were here in May.[/THINK]',
    '<|channel|>analysis<|message|>They were here in May.<|end|><|start|>assistant<|channel|>final<|message|>',
    'analysisThey were here in May.assistantfinal',
  ])('and leaves in the answer what the model thinks is heard without it: %j', async (thoughts) => {
    const answer = 'Hi, see <b>.';
    await expect(answerWith((_request, response) => response.writeHead(200, json).end(whole(thoughts + answer, 'stop')))).resolves.toBe(
      answer,
    );
    const heard: string[] = [];
    const pieces = (thoughts + answer)
      .split('')
      .map((letter) => event(letter))
      .join('');
    const streamed = answerWith((_request, response) => response.writeHead(200, events).end(pieces + event('', 'stop')), {
      listener: (words) => heard.push(words),
    });
    await expect(streamed).resolves.toBe(answer);
    expect(heard.map((words) => words.trim()).filter((words) => !answer.startsWith(words))).toEqual([]);
    expect(heard.at(-1)?.trim()).toBe(answer);
  });

  it('and makes parts of its answers is heard without those that are no text', async () => {
    const thoughts = { type: 'thinking', thinking: [{ type: 'text', text: 'The notes say: they were here in May.' }] };
    const parts = [
      thoughts,
      { type: 'text', text: 'Hi, ' },
      { type: 'reference', reference_ids: [1] },
      { type: 'text', text: 'Ann' },
      null,
    ];
    await expect(answerWith((_request, response) => response.writeHead(200, json).end(whole(parts, 'stop')))).resolves.toBe('Hi, Ann');
    const heard: string[] = [];
    const pieces = event([thoughts]) + event([{ type: 'text', text: 'Hi, ' }]) + event('Ann', 'stop');
    const streamed = answerWith((_request, response) => response.writeHead(200, events).end(pieces), {
      listener: (words) => heard.push(words),
    });
    await expect(streamed).resolves.toBe('Hi, Ann');
    expect(heard.at(-1)).toBe('Hi, Ann');
    expect((await failureWith((_request, response) => response.writeHead(200, json).end(whole([thoughts], 'stop')))).kind).toBe('empty');
  });

  it('and writes numbers that are none, or no reason to end, gives answers', async () => {
    const answer = whole('Hi', '').replace('"finish_reason"', '"logprobs":{"content":[{"logprob":-Infinity,"n":NaN}]},"finish_reason"');
    await expect(answerWith((_request, response) => response.writeHead(200, json).end(answer))).resolves.toBe('Hi');
    const nothing = whole('NaN', '').replace('"NaN"', 'NaN');
    expect((await failureWith((_request, response) => response.writeHead(200, json).end(nothing))).kind).toBe('empty');
  });

  it.each(['text/plain; charset=utf-8', 'application/octet-stream', undefined])('and sends events as %s is heard', async (type) => {
    const heard: string[] = [];
    const streamed = answerWith(
      (_request, response) =>
        response.writeHead(200, type === undefined ? {} : { 'content-type': type }).end(event('Hi') + event('', 'stop')),
      { listener: (words) => heard.push(words) },
    );
    await expect(streamed).resolves.toBe('Hi');
    expect(heard.at(-1)).toBe('Hi');
  });

  it('and sends a whole answer as an event stream gives an answer', async () => {
    const listener = (): void => undefined;
    await expect(answerWith((_request, response) => response.writeHead(200, events).end(whole('Hi', 'stop')), { listener })).resolves.toBe(
      'Hi',
    );
  });

  it('and answers JSON with thoughts in its strings gives JSON without them', async () => {
    const answer = '{"answer":"<think>secret</think>hi"}';
    await expect(answerWith((_request, response) => response.writeHead(200, json).end(whole(answer, 'stop')))).resolves.toBe(
      '{"answer":"hi"}',
    );
  });

  it.each([429, 503])('and refuses with status %d until a date names the time to wait', async (status) => {
    const failAt = (ms: number): Promise<ModelFailure> =>
      failureWith((_request, response) =>
        response.writeHead(status, { 'retry-after': new Date(Date.now() + ms).toUTCString(), 'retry-after-ms': '1' }).end(),
      );
    const { retryAfter = 0 } = await failAt(600_000);
    expect(retryAfter).toBeGreaterThan(60);
    expect(retryAfter).toBeLessThanOrEqual(600);
    expect((await failAt(-600_000)).retryAfter).toBeUndefined();
    expect((await failAt(100_000_000)).retryAfter).toBe(3_600);
  });

  it('asks and tells the habit of the model: plain answers, unopened thoughts, and nothing of others', async () => {
    let content = 'Hi there';
    const server = createServer((_request, response) => {
      response.writeHead(200, events).end(
        content
          .split(/(?<= )/)
          .map((word) => event(word))
          .join('') + event('', 'stop'),
      );
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const asked: boolean[] = [];
    const learnt: boolean[] = [];
    let plain = 0;
    const habit = {
      isPlain: async () => (asked.push(plain >= plainRepliesRequired), plain >= plainRepliesRequired),
      record: async (isUnopened: boolean) => void (learnt.push(isUnopened), (plain = isUnopened ? 0 : plain + 1)),
    };
    const model = createModel({ baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: 'k', model: 'm', timeoutMs: 120_000, habit });
    const others = ['{"a":"Hi"}', '<think>I greet.</think> Hi'];
    for (content of [...Array.from({ length: plainRepliesRequired }, () => '\n Hi '), ...others, 'I greet.</think> Hi', 'Hi'])
      await model.answer([{ role: 'user', content: 'Hi' }], AbortSignal.timeout(120_000), () => undefined);
    const plainOnes = Array.from({ length: plainRepliesRequired }, () => false);
    expect(asked).toEqual([...plainOnes, true, true, true, false]);
    expect(learnt).toEqual([...plainOnes, true, false]);
  });

  it.each([
    ['gpt-5-mini', true],
    ['llama-3.3-70b-instruct', true],
    ['claude-sonnet-4', true],
    ['mistral-small', true],
    ['rethink-robotics', true],
    ['deepseek-r1:14b', false],
    ['Qwen/Qwen3-30B-A3B-Thinking-2507', false],
    ['qwen3:8b', false],
    ['QwQ-32B', false],
    ['gpt-oss-120b', false],
    ['magistral-medium', false],
    ['deepseek-reasoner', false],
  ])('is streamed from its first answer unless its name says that it thinks: %s', (name, isPlain) => {
    expect(initialPlainReplies(name) >= plainRepliesRequired).toBe(isPlain);
  });

  it('and leaves the line open behind its answer is not waited for', async () => {
    const heard = (): void => undefined;
    const streamed = answerWith((_request, response) => response.writeHead(200, events).write(`${event('Hi')}data: [DONE]\n\n`), {
      listener: heard,
    });
    await expect(streamed).resolves.toBe('Hi');
  });

  it.each(['<think>I wonder', '<think>done</think> ', 'done</think>', '\u200b', '\u2060\u00ad\ufe0f', '\u2800'])(
    'and answers nothing to see, as %j, is empty',
    async (content) => {
      expect((await failureWith((_request, response) => response.writeHead(200, json).end(whole(content, 'stop')))).kind).toBe('empty');
    },
  );

  it('and takes an event for each word may say as much as in one piece', async () => {
    const answer = 'one '.repeat(24_500).trim();
    const pieces = answer
      .split(/(?<= )/)
      .map((word) => event(word))
      .join('');
    expect(pieces.length).toBeGreaterThan(4 * 1024 * 1024);
    const streamed = answerWith((_request, response) => response.writeHead(200, events).end(pieces + event('', 'stop')));
    await expect(streamed).resolves.toBe(answer);
  });

  it('and never ends what it says in events is unreadable', async () => {
    const failure = await failureWith((_request, response) => {
      response.writeHead(200, events);
      const more = (): void => void (!response.destroyed && response.write(event('x'.repeat(65_536)), () => setImmediate(more)));
      more();
    });
    expect(failure.kind).toBe('unreadable');
  });
});
