import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EventStreamReader } from './event-stream.ts';

const chunk = (content: string | null, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: content === null ? {} : { content }, finish_reason: finish }] })}\n\n`;
const usage = 'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\n';

function assembleEventStream(...pieces: string[]): Record<string, unknown> {
  const reader = new EventStreamReader({ isPlain: true });
  for (const piece of pieces) reader.push(piece);
  return reader.finish();
}

describe('a streamed completion (rules/providers#language-models)', () => {
  it('combines the events to one completion with finish reason and usage', () => {
    const text = `: comment\n\n${chunk('Hel')}${chunk('lo')}${chunk(null, 'stop')}${usage}data: [DONE]\n\n`;
    for (const lineEnd of ['\n', '\r\n', '\r']) {
      expect(assembleEventStream(text.replaceAll('\n', lineEnd))).toEqual({
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello', refusal: null }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 3, completion_tokens: 2 },
      });
    }
  });

  it('reports a stream without a finish reason as truncated', () => {
    expect(assembleEventStream(chunk('Hel'))).toMatchObject({ choices: [{ finish_reason: 'length' }] });
    expect(assembleEventStream(chunk('Hel') + chunk('', ''))).toMatchObject({ choices: [{ finish_reason: 'length' }] });
  });

  const hello = { choices: [{ message: { content: 'Hello' }, finish_reason: 'stop' }] };
  const done = 'data: [DONE]\n\n';
  const raw = (choice: string, more = ''): string => `data: {"id":"1","choices":[${choice}]${more}}\n\n`;
  it.each([
    ['no reason is an empty text', chunk('Hel', '') + chunk('lo', '') + chunk(null, 'stop') + chunk(null, '') + done],
    ['no reason is given before its end', chunk('Hello') + done],
    [
      'something comes behind its end',
      chunk('Hello', 'stop') + done + chunk(' again') + 'data: {"error":{"message":"no"}}\n\n',
    ],
    [
      'a number is none',
      raw('{"delta":{"content":"Hello"},"logprobs":{"content":[{"logprob":-Infinity,"p":NaN}]}}') + chunk(null, 'stop'),
    ],
    [
      'the usage is no number',
      raw('{"delta":{"content":"Hello"},"finish_reason":"stop"}', ',"usage":{"cost":NaN}') + done,
    ],
    ['a field that is read is no number', raw('{"delta":{"content":"Hello"},"finish_reason":NaN}') + done],
    ['its first sign says how bytes are ordered', `\ufeff${chunk('Hello', 'stop')}`],
    ['lines have no space', chunk('Hello', 'stop').replace('data: ', 'data:')],
    [
      'comments and pings come between',
      `: OPENROUTER PROCESSING\n\n${chunk('Hel')}:\n\nevent: ping\ndata: pong\n\ndata:\n\n${chunk('lo', 'stop')}${done}`,
    ],
    [
      'data are pings',
      `${chunk('Hel')}data: ping\n\ndata: [PING]\n\ndata: {"type":"ping"}\n\ndata: heartbeat\n\ndata: : keep-alive\n\nping\n\n${chunk('lo', 'stop')}${done}`,
    ],
    [
      'events without choices say that all is well',
      `${chunk('Hel')}data: {"code":0,"message":"Success"}\n\ndata: {"status":"processing"}\n\n${chunk('lo', 'stop')}`,
    ],
    ['events have names and numbers', `event: message\nid: 1\nretry: 10\n${chunk('Hello', 'stop')}`],
    [
      'events take several lines',
      `data: {"choices":\ndata: [{"delta":{"content":"Hello"},\ndata: "finish_reason":"stop"}]}\n\n${done}`,
    ],
    ['no empty line stands between events', (chunk('Hel') + chunk('lo', 'stop') + done).replaceAll('\n\n', '\n')],
    [
      'other chunks come between',
      raw('{"delta":{"role":"assistant"}}') +
        raw('') +
        chunk('Hello') +
        raw('{"delta":{"content":null}}') +
        raw('{"delta":null}') +
        'data: {"choices":null}\n\n' +
        raw('{"delta":{"reasoning_content":"x","reasoning":"y"},"finish_reason":"stop"}'),
    ],
    [
      'each says that there is no error',
      raw('{"delta":{"content":"Hello"},"finish_reason":"stop","error":null}', ',"error":""') + done,
    ],
  ])('returns the complete reply when %s (D85)', (_what, text) => {
    for (const lineEnd of ['\n', '\r\n', '\r']) {
      const input = text.replaceAll('\n', lineEnd);
      expect(assembleEventStream(input)).toMatchObject(hello);
      expect(assembleEventStream(...input.split(''))).toMatchObject(hello);
    }
  });

  it('returns an empty completion after an error event or invalid data', () => {
    for (const part of [
      'data: {"error":{"message":"no"}}\n\n',
      'data: {"choices":[{"del\n\n',
      'data: null\n\n',
      'event: error\ndata: {"message":"no"}\n\n',
      'event: error\ndata: no\n\n',
      'data: {"object":"error","message":"no","code":400}\n\n',
      'data: {"type":"error","message":"no"}\n\n',
      'data: {"choices":[{"delta":{},"error":{"code":502}}]}\n\n',
      'error: {"code":500,"message":"boom"}\n\n',
      'data: {"detail":"Internal error"}\n\n',
      'data: {"detail":[{"msg":"no"}]}\n\n',
      'data: {"errors":[{"message":"no"}]}\n\n',
      'data: [{"error":{"code":503}}]\n\n',
      'data: {"code":500,"message":"Internal"}\n\n',
      'data: {"status":500,"title":"Internal"}\n\n',
      'data: {"status":"error","message":"out of memory"}\n\n',
      'data: {"message":"Too many requests"}\n\n',
      'data: {"type":"response.failed"}\n\n',
      'data: {"choices":[],"code":"internal_error"}\n\n',
      'data: Internal Server Error\n\n',
      'event: server_error\ndata: {}\n\n',
      'Internal Server Error\n\n',
      '{"error":{"message":"no"}}\n\n',
      '<html><body>502 Bad Gateway</body></html>\n',
      'upstream connect error or disconnect/reset before headers. reset reason: overflow\n',
    ]) {
      for (const end of [chunk(null, 'stop'), done])
        expect([part, assembleEventStream(chunk('Hel') + part + end)]).toEqual([part, {}]);
    }
  });

  it('reads a complete response instead of events', () => {
    const answer = '\n{"choices":[{"message":{"content":"Hello\\n\\ndata: x"},"finish_reason":"stop"}]}';
    expect(assembleEventStream(...answer.split(''))).toMatchObject({
      choices: [{ message: { content: 'Hello\n\ndata: x' } }],
    });
    expect(assembleEventStream('{"choices":[')).toEqual({});
  });

  it('ignores `error: null` in events', () => {
    const event = (delta: object, finish: string | null): string =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }], error: null })}\n\n`;
    const completion = assembleEventStream(event({ content: 'Hello' }, null), event({}, 'stop'));
    expect(completion).toMatchObject({ choices: [{ message: { content: 'Hello' }, finish_reason: 'stop' }] });
  });

  it('returns the same completion for any chunks, and only appends text (C1)', () => {
    const text = `${chunk('Hel')}${chunk('lo, 😀 ')}${chunk('there')}${chunk(null, 'stop')}${usage}data: [DONE]\r\n\r\n`;
    const property = fc.property(fc.array(fc.nat(text.length)), (places) => {
      const reader = new EventStreamReader({ isPlain: true });
      let before = '';
      for (const [index, start] of [0, ...places.toSorted((a, b) => a - b)].entries()) {
        reader.push(text.slice(start, [0, ...places.toSorted((a, b) => a - b), text.length][index + 1]));
        expect(reader.text.startsWith(before)).toBe(true);
        before = reader.text;
      }
      expect(reader.finish()).toEqual(assembleEventStream(text));
    });
    fc.assert(property);
  });

  it('returns no text when the model refuses to reply', () => {
    const reader = new EventStreamReader({ isPlain: true });
    reader.push(`${chunk('Hel')}data: {"choices":[{"delta":{"refusal":"I cannot"}}]}\n\n`);
    expect(reader.text).toBe('');
  });

  const readPieces = (isPlain: boolean, pieces: readonly string[]): string[] => {
    const reader = new EventStreamReader({ isPlain });
    return pieces.map((piece) => (reader.push(piece), reader.text));
  };

  it.each([
    'Got it, the visitor greets.',
    "Here's a thinking process:\n1. **Analyze**",
    'It seems the user greets.',
    'Greeting from user.',
    '好，用户',
    'Пользователь здоровается.',
    'I have to greet.',
    'Welcome, they say.',
  ])('withholds text until the closing marker while it is unknown whether the model thinks: %s (D84)', (thought) => {
    const pieces = [
      chunk(thought),
      chunk(' Internal note: budget is 5. '),
      chunk('</th'),
      chunk('ink>Hel'),
      chunk('lo'),
      chunk(null, 'stop'),
    ];
    expect(readPieces(false, pieces)).toEqual(['', '', '', 'Hel', 'Hello', 'Hello']);
  });

  it('releases text of a model with unknown thinking habit when the reply is complete, but not when it is truncated (D84)', () => {
    expect(readPieces(false, [chunk('Hel'), chunk('lo'), chunk(null, 'stop')])).toEqual(['', '', 'Hello']);
    expect(readPieces(false, [chunk('Hel'), chunk('lo'), done])).toEqual(['', '', 'Hello']);
    expect(readPieces(false, [chunk('Hel'), chunk('lo', 'length'), done])).toEqual(['', '', '']);
    expect(readPieces(true, [chunk('Hel'), chunk('lo')])).toEqual(['Hel', 'Hello']);
  });

  it.each([
    ['a field of their own', raw('{"delta":{"reasoning_content":"secret"}}')],
    ['another field', raw('{"delta":{"reasoning":"secret"}}')],
    [
      'a part of the message',
      raw('{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"secret"}]}]}}'),
    ],
    ['markers', chunk('<think>secret</think>')],
  ])('releases text immediately after thoughts in %s', (_where, thoughts) => {
    expect(readPieces(false, [thoughts, chunk('Hel'), chunk('lo')])).toEqual(['', 'Hel', 'Hello']);
  });

  it('withholds text that starts like a thought, also for a model without thoughts', () => {
    expect(readPieces(true, [chunk('The'), chunk(' visitor greets.'), chunk('</think>Hello')])).toEqual([
      '',
      '',
      'Hello',
    ]);
    expect(readPieces(true, [chunk('The'), chunk(' garden')])).toEqual(['', 'The garden']);
  });

  it('withholds text when the thoughts field of a chunk is empty', () => {
    expect(readPieces(false, [raw('{"delta":{"content":"Hel","reasoning_content":null,"reasoning":""}}')])).toEqual([
      '',
    ]);
  });

  it('never throws, for any stream content', () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.json().map((json) => `data: ${json}\n\n`),
      fc.constantFrom(chunk('x'), usage),
    );
    const property = fc.property(fc.array(part), (parts) => {
      expect(typeof assembleEventStream(parts.join(''))).toBe('object');
    });
    fc.assert(property, { numRuns: 500 });
  });
});
