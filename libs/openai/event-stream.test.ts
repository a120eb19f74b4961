import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EventStreamReader } from './event-stream.ts';
import { ThinkingHabit } from './thinking-habit.ts';

const chunk = (content: string | null, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: content === null ? {} : { content }, finish_reason: finish }] })}\n\n`;
const usage = 'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\n';

function assembleEventStream(...pieces: string[]): Record<string, unknown> {
  const reader = new EventStreamReader();
  for (const piece of pieces) reader.push(piece);
  return reader.finish();
}

describe('a completion that comes as events (rules/providers#language-models)', () => {
  it('is put together with its reason to end and its usage', () => {
    const text = `: comment\n\n${chunk('Hel')}${chunk('lo')}${chunk(null, 'stop')}${usage}data: [DONE]\n\n`;
    for (const lineEnd of ['\n', '\r\n', '\r']) {
      expect(assembleEventStream(text.replaceAll('\n', lineEnd))).toEqual({
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello', refusal: null }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 3, completion_tokens: 2 },
      });
    }
  });

  it('is cut off when it ends without a reason', () => {
    expect(assembleEventStream(chunk('Hel'))).toMatchObject({ choices: [{ finish_reason: 'length' }] });
    expect(assembleEventStream(chunk('Hel') + chunk('', ''))).toMatchObject({ choices: [{ finish_reason: 'length' }] });
  });

  const hello = { choices: [{ message: { content: 'Hello' }, finish_reason: 'stop' }] };
  const done = 'data: [DONE]\n\n';
  const raw = (choice: string, more = ''): string => `data: {"id":"1","choices":[${choice}]${more}}\n\n`;
  it.each([
    ['no reason is an empty text', chunk('Hel', '') + chunk('lo', '') + chunk(null, 'stop') + chunk(null, '') + done],
    ['no reason is given before its end', chunk('Hello') + done],
    ['something comes behind its end', chunk('Hello', 'stop') + done + chunk(' again') + 'data: {"error":{"message":"no"}}\n\n'],
    ['a number is none', raw('{"delta":{"content":"Hello"},"logprobs":{"content":[{"logprob":-Infinity,"p":NaN}]}}') + chunk(null, 'stop')],
    ['the usage is no number', raw('{"delta":{"content":"Hello"},"finish_reason":"stop"}', ',"usage":{"cost":NaN}') + done],
    ['a field that is read is no number', raw('{"delta":{"content":"Hello"},"finish_reason":NaN}') + done],
    ['its first sign says how bytes are ordered', `\ufeff${chunk('Hello', 'stop')}`],
    ['lines have no space', chunk('Hello', 'stop').replace('data: ', 'data:')],
    [
      'comments and pings come between',
      `: OPENROUTER PROCESSING\n\n${chunk('Hel')}:\n\nevent: ping\ndata: pong\n\ndata:\n\n${chunk('lo', 'stop')}${done}`,
    ],
    ['events have names and numbers', `event: message\nid: 1\nretry: 10\n${chunk('Hello', 'stop')}`],
    ['events take several lines', `data: {"choices":\ndata: [{"delta":{"content":"Hello"},\ndata: "finish_reason":"stop"}]}\n\n${done}`],
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
    ['each says that there is no error', raw('{"delta":{"content":"Hello"},"finish_reason":"stop","error":null}', ',"error":""') + done],
  ])('is whole where %s (D85)', (_what, text) => {
    for (const lineEnd of ['\n', '\r\n', '\r']) {
      const given = text.replaceAll('\n', lineEnd);
      expect(assembleEventStream(given)).toMatchObject(hello);
      expect(assembleEventStream(...given.split(''))).toMatchObject(hello);
    }
  });

  it('is nothing when an error or nonsense comes in the middle', () => {
    for (const part of [
      'data: {"error":{"message":"no"}}\n\n',
      'data: {"choices":[{"del\n\n',
      'data: null\n\n',
      'event: error\ndata: {"message":"no"}\n\n',
      'event: error\ndata: no\n\n',
      'data: {"object":"error","message":"no","code":400}\n\n',
      'data: {"type":"error","message":"no"}\n\n',
      'data: {"choices":[{"delta":{},"error":{"code":502}}]}\n\n',
    ]) {
      expect([part, assembleEventStream(chunk('Hel') + part + chunk(null, 'stop'))]).toEqual([part, {}]);
    }
  });

  it('goes on where a server says in each event that there is no error', () => {
    const event = (delta: object, finish: string | null): string =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }], error: null })}\n\n`;
    const completion = assembleEventStream(event({ content: 'Hello' }, null), event({}, 'stop'));
    expect(completion).toMatchObject({ choices: [{ message: { content: 'Hello' }, finish_reason: 'stop' }] });
  });

  it('is the same however its text is cut, and what has come of it only grows (C1)', () => {
    const text = `${chunk('Hel')}${chunk('lo, 😀 ')}${chunk('there')}${chunk(null, 'stop')}${usage}data: [DONE]\r\n\r\n`;
    const property = fc.property(fc.array(fc.nat(text.length)), (places) => {
      const reader = new EventStreamReader();
      let before = '';
      for (const [index, start] of [0, ...places.toSorted((a, b) => a - b)].entries()) {
        reader.push(text.slice(start, [0, ...places.toSorted((a, b) => a - b), text.length][index + 1]));
        expect(reader.words.startsWith(before)).toBe(true);
        before = reader.words;
      }
      expect(reader.finish()).toEqual(assembleEventStream(text));
    });
    fc.assert(property);
  });

  it('has no words when the model refuses', () => {
    const reader = new EventStreamReader();
    reader.push(`${chunk('Hel')}data: {"choices":[{"delta":{"refusal":"I cannot"}}]}\n\n`);
    expect(reader.words).toBe('');
  });

  it('has no words while they may still be thoughts, of a model that thinks so or is not known (D84)', () => {
    const habit = new ThinkingHabit();
    const hear = (...pieces: string[]): string[] => {
      const reader = new EventStreamReader(habit);
      return pieces.map((piece) => (reader.push(chunk(piece)), reader.words));
    };
    expect(hear('The', ' user greets me.', '</th', 'ink>Hello')).toEqual(['', '', '', 'Hello']);
    expect(hear('The', ' garden opens at five.')).toEqual(['', 'The garden opens at five.']);
    expect(hear('Wel', 'come', ' to you')).toEqual(['', 'Welcome', 'Welcome to you']);
    expect(hear('First', ' words', ' of it')).toEqual(['', 'First words', 'First words of it']);
    expect(hear('First', ', they', ' greet me')).toEqual(['', '', '']);
    expect(hear('First', ' I', ' greet them')).toEqual(['', '', '']);
    habit.learn(true);
    expect(hear('Welcome, they', ' say.</think>', 'Hello')).toEqual(['', '', 'Hello']);
    for (let answers = 0; answers < 3; answers++) habit.learn(false);
    expect(hear('Okay', ', here', ' it is.')).toEqual(['', 'Okay, here', 'Okay, here it is.']);
    expect(hear('Okay', ', the user', ' greets me.')).toEqual(['', '', '']);
  });

  it('bears any input', () => {
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
