import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { assembleEventStream } from './event-stream.ts';

const chunk = (content: string | null, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: content === null ? {} : { content }, finish_reason: finish }] })}\n\n`;
const usage = 'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\n';

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
