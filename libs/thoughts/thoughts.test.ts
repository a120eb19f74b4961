import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dropThoughts, ThoughtFilter } from './thoughts.ts';

describe('thoughts of a model (rules/providers#language-models)', () => {
  it.each([
    ['<think>a</think>b', 'b'],
    ['\n <think>\na\n</think>\n\nb <c>', 'b <c>'],
    ['<think>a</think>\n<think>b</think>c', 'c'],
    ['<think></think>b', 'b'],
    ['<think>a<think>b</think>c', 'c'],
  ])('at the beginning of an answer are left out: %j', (answer, words) => {
    expect(dropThoughts(answer)).toBe(words);
  });

  it.each(['<think>a', '<think>a</think', '<think>'])('without an end are no answer: %j', (answer) => {
    expect(dropThoughts(answer)).toBe('');
  });

  it.each(['a', '', '<', '<thin', '<thinking>a</thinking>', 'a <think>b</think>', 'a </think> b'])('are not seen in %j', (answer) => {
    expect(dropThoughts(answer)).toBe(answer);
  });

  it('are left out however the answer is cut', () => {
    const letters = fc.string({ unit: fc.constantFrom('<think>', '</think>', '<', 't', '>', ' ', 'a') });
    const property = fc.property(letters, fc.array(fc.nat(40)), (answer, places) => {
      const filter = new ThoughtFilter();
      const ends = [...places.toSorted((a, b) => a - b), answer.length];
      const words = ends.map((end, index) => filter.push(answer.slice(ends[index - 1] ?? 0, end)));
      expect(words.join('') + filter.finish()).toBe(dropThoughts(answer));
      expect(dropThoughts(dropThoughts(answer))).toBe(dropThoughts(answer));
    });
    fc.assert(property, { numRuns: 1_000 });
  });
});
