import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EventStreamReader } from './event-stream.ts';

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
  });

  it('is nothing when an error or nonsense comes in the middle', () => {
    for (const part of ['data: {"error":{"message":"no"}}\n\n', 'data: {"choices":[{"del\n\n', 'data: null\n\n']) {
      expect(assembleEventStream(chunk('Hel') + part + chunk(null, 'stop'))).toEqual({});
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
