/** A malicious or compromised server behind LLM_BASE_URL: its responses are limited while they are read. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  createModel,
  initialPlainReplies,
  type TextListener,
  ModelFailure,
  plainRepliesRequired,
} from '#libs/infrastructure/openai';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** Returns the reply text when the server responds with `respond`. */
async function answerWith(respond: RequestListener, { timeoutMs = 120_000, listener }: Options = {}): Promise<string> {
  const server = createServer(respond);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const model = createModel({ baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: 'k', model: 'm', timeoutMs });
  return (await model.complete([{ role: 'user', content: 'Hi' }], AbortSignal.timeout(120_000), listener)).text;
}

interface Options {
  readonly timeoutMs?: number;
  /** If set, requests a streamed reply. */
  readonly listener?: TextListener;
}

/** Returns the failure of the call when the server responds with `respond`. */
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

describe('a malicious model server (rules/providers#language-models)', () => {
  it('rejects a compression bomb without decompressing it', async () => {
    const bomb = gzipSync(Buffer.alloc(256 * 1024 * 1024), { level: 9 });
    const before = process.memoryUsage().rss;
    const failure = await failureWith((_request, response) =>
      response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(bomb),
    );
    expect(failure.kind).toBe('unreadable');
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
  });

  it('rejects a response that never ends', async () => {
    const failure = await failureWith((_request, response) => {
      response.writeHead(200, json);
      const more = (): void =>
        void (!response.destroyed && response.write('x'.repeat(65_536), () => setImmediate(more)));
      more();
    });
    expect(failure.kind).toBe('unreadable');
  });

  it('ends after at most two attempts when the server sends too slowly', async () => {
    let attempts = 0;
    const failure = await failureWith(
      (_request, response) => {
        attempts++;
        response.writeHead(200, json);
        const timer = setInterval(() => response.write(' '), 20);
        response.once('close', () => clearInterval(timer));
      },
      { timeoutMs: 1_500 }, // enough for a request on a busy machine
    );
    expect(attempts).toBe(2);
    // Jest's realm hides the name of the timeout error, so a timeout looks like a lost connection in this test.
    expect(['timeout', 'connection']).toContain(failure.kind);
  });

  it('does not follow a redirect of the model server', async () => {
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

describe('OpenAI-compatible servers (rules/providers#language-models)', () => {
  it.each(['stop', 'eos', 'eos_token', 'end_turn', 'stop_sequence', 'STOP'])(
    'accepts a reply with the finish reason %s',
    async (finish) => {
      await expect(
        answerWith((_request, response) => response.writeHead(200, json).end(whole('Hi', finish))),
      ).resolves.toBe('Hi');
      const received = (): void => undefined;
      const streamed = answerWith(
        (_request, response) => response.writeHead(200, events).end(event('Hi') + event('', finish)),
        {
          listener: received,
        },
      );
      await expect(streamed).resolves.toBe('Hi');
    },
  );

  it.each(['error', 'max_tokens', 'abort', 'tool_calls'])('fails with the finish reason %s', async (finish) => {
    expect(
      (await failureWith((_request, response) => response.writeHead(200, json).end(whole('Hi', finish)))).kind,
    ).toBe('empty');
  });

  it.each([
    ' <think>\nThe notes say: they were here in May.\n</think>\n\n',
    'The notes say: they were here in May.\n</think>\n\n',
    '[THINK]They were here in May.[/THINK]',
    '<|channel|>analysis<|message|>They were here in May.<|end|><|start|>assistant<|channel|>final<|message|>',
    'analysisThey were here in May.assistantfinal',
  ])('removes thoughts from streamed and unstreamed replies: %j', async (thoughts) => {
    const answer = 'Hi, see <b>.';
    await expect(
      answerWith((_request, response) => response.writeHead(200, json).end(whole(thoughts + answer, 'stop'))),
    ).resolves.toBe(answer);
    const received: string[] = [];
    const pieces = (thoughts + answer)
      .split('')
      .map((letter) => event(letter))
      .join('');
    const streamed = answerWith(
      (_request, response) => response.writeHead(200, events).end(pieces + event('', 'stop')),
      {
        listener: (text) => received.push(text),
      },
    );
    await expect(streamed).resolves.toBe(answer);
    expect(received.map((text) => text.trim()).filter((text) => !answer.startsWith(text))).toEqual([]);
    expect(received.at(-1)?.trim()).toBe(answer);
  });

  it('ignores parts of a streamed message that are not text', async () => {
    const thoughts = { type: 'thinking', thinking: [{ type: 'text', text: 'The notes say: they were here in May.' }] };
    const parts = [
      thoughts,
      { type: 'text', text: 'Hi, ' },
      { type: 'reference', reference_ids: [1] },
      { type: 'text', text: 'Ann' },
      null,
    ];
    await expect(
      answerWith((_request, response) => response.writeHead(200, json).end(whole(parts, 'stop'))),
    ).resolves.toBe('Hi, Ann');
    const received: string[] = [];
    const pieces = event([thoughts]) + event([{ type: 'text', text: 'Hi, ' }]) + event('Ann', 'stop');
    const streamed = answerWith((_request, response) => response.writeHead(200, events).end(pieces), {
      listener: (text) => received.push(text),
    });
    await expect(streamed).resolves.toBe('Hi, Ann');
    expect(received.at(-1)).toBe('Hi, Ann');
    expect(
      (await failureWith((_request, response) => response.writeHead(200, json).end(whole([thoughts], 'stop')))).kind,
    ).toBe('empty');
  });

  it('accepts NaN in a response, and a missing finish reason', async () => {
    const answer = whole('Hi', '').replace(
      '"finish_reason"',
      '"logprobs":{"content":[{"logprob":-Infinity,"n":NaN}]},"finish_reason"',
    );
    await expect(answerWith((_request, response) => response.writeHead(200, json).end(answer))).resolves.toBe('Hi');
    const nothing = whole('NaN', '').replace('"NaN"', 'NaN');
    expect((await failureWith((_request, response) => response.writeHead(200, json).end(nothing))).kind).toBe('empty');
  });

  it.each(['text/plain; charset=utf-8', 'application/octet-stream', undefined])(
    'reads a stream with the content type %s',
    async (type) => {
      const received: string[] = [];
      const streamed = answerWith(
        (_request, response) =>
          response
            .writeHead(200, type === undefined ? {} : { 'content-type': type })
            .end(event('Hi') + event('', 'stop')),
        { listener: (text) => received.push(text) },
      );
      await expect(streamed).resolves.toBe('Hi');
      expect(received.at(-1)).toBe('Hi');
    },
  );

  it('reads a complete response with the content type of a stream', async () => {
    const listener = (): void => undefined;
    await expect(
      answerWith((_request, response) => response.writeHead(200, events).end(whole('Hi', 'stop')), { listener }),
    ).resolves.toBe('Hi');
  });

  it('removes thoughts from the strings of a JSON reply', async () => {
    const answer = '{"answer":"<think>secret</think>hi"}';
    await expect(
      answerWith((_request, response) => response.writeHead(200, json).end(whole(answer, 'stop'))),
    ).resolves.toBe('{"answer":"hi"}');
  });

  it.each([429, 503])('reads Retry-After as a date with status %d', async (status) => {
    const failAt = (ms: number): Promise<ModelFailure> =>
      failureWith((_request, response) =>
        response
          .writeHead(status, { 'retry-after': new Date(Date.now() + ms).toUTCString(), 'retry-after-ms': '1' })
          .end(),
      );
    const { retryAfter = 0 } = await failAt(600_000);
    expect(retryAfter).toBeGreaterThan(60);
    expect(retryAfter).toBeLessThanOrEqual(600);
    expect((await failAt(-600_000)).retryAfter).toBeUndefined();
    expect((await failAt(100_000_000)).retryAfter).toBe(3_600);
  });

  it('learns whether a model thinks only from plain replies and from thoughts without an opening marker', async () => {
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
    const recorded: boolean[] = [];
    let plain = 0;
    const habit = {
      isPlain: async () => (asked.push(plain >= plainRepliesRequired), plain >= plainRepliesRequired),
      record: async (isUnopened: boolean) => void (recorded.push(isUnopened), (plain = isUnopened ? 0 : plain + 1)),
    };
    const model = createModel({
      baseUrl: `http://127.0.0.1:${port}/v1`,
      apiKey: 'k',
      model: 'm',
      timeoutMs: 120_000,
      habit,
    });
    const others = ['{"a":"Hi"}', '<think>I greet.</think> Hi'];
    for (content of [
      ...Array.from({ length: plainRepliesRequired }, () => '\n Hi '),
      ...others,
      'I greet.</think> Hi',
      'Hi',
    ])
      await model.complete([{ role: 'user', content: 'Hi' }], AbortSignal.timeout(120_000), () => undefined);
    const plainOnes = Array.from({ length: plainRepliesRequired }, () => false);
    expect(asked).toEqual([...plainOnes, true, true, true, false]);
    expect(recorded).toEqual([...plainOnes, true, false]);
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
  ])('streams text from the first reply of a model unless its name indicates reasoning: %s', (name, isPlain) => {
    expect(initialPlainReplies(name) >= plainRepliesRequired).toBe(isPlain);
  });

  it('completes a reply at the end marker even if the server does not close the connection', async () => {
    const received = (): void => undefined;
    const streamed = answerWith(
      (_request, response) => response.writeHead(200, events).write(`${event('Hi')}data: [DONE]\n\n`),
      {
        listener: received,
      },
    );
    await expect(streamed).resolves.toBe('Hi');
  });

  it.each(['<think>I wonder', '<think>done</think> ', 'done</think>', '\u200b', '\u2060\u00ad\ufe0f', '\u2800'])(
    'fails when the reply has no visible text: %j',
    async (content) => {
      expect(
        (await failureWith((_request, response) => response.writeHead(200, json).end(whole(content, 'stop')))).kind,
      ).toBe('empty');
    },
  );

  it('reads a reply of the maximum length with one event per word', async () => {
    const answer = 'one '.repeat(24_500).trim();
    const pieces = answer
      .split(/(?<= )/)
      .map((word) => event(word))
      .join('');
    expect(pieces.length).toBeGreaterThan(4 * 1024 * 1024);
    const streamed = answerWith((_request, response) =>
      response.writeHead(200, events).end(pieces + event('', 'stop')),
    );
    await expect(streamed).resolves.toBe(answer);
  });

  it('fails when a stream exceeds the size limit', async () => {
    const failure = await failureWith((_request, response) => {
      response.writeHead(200, events);
      const more = (): void =>
        void (!response.destroyed && response.write(event('x'.repeat(65_536)), () => setImmediate(more)));
      more();
    });
    expect(failure.kind).toBe('unreadable');
  });
});
