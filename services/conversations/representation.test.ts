import { describe, expect, it } from '@jest/globals';
import { renderConfig } from './representation.ts';

describe('renderConfig (rules/room#room-state)', () => {
  it.each([
    ['{}', null, {}],
    ['{"a": 1}', null, { a: 1 }],
    ['{}', '{"phase": "x"}', { 'enter-coherence': { phase: 'x' } }],
    ['{"a": 1}', '{}', { a: 1, 'enter-coherence': {} }],
  ])('joins %s and %s', (config, room, shown) => {
    expect(JSON.parse(renderConfig(config, room))).toEqual(shown);
  });
});
