import { describe, expect, it } from '@jest/globals';
import { Cursors } from './cursor.ts';

const cursors = new Cursors('000102030405060708090a0b0c0d0e0f');

describe('a cursor (V3, V4)', () => {
  it.each([0, 1, 2, 4_294_967_296, Number.MAX_SAFE_INTEGER])('brings position %d back', (position) => {
    expect(cursors.read(cursors.write(position))).toBe(position);
    expect(cursors.read(cursors.writeNow(position))).toBe(position);
  });

  it('of an event is always the same, and that of now never', () => {
    expect(cursors.write(7)).toBe(cursors.write(7));
    expect(cursors.writeNow(7)).not.toBe(cursors.writeNow(7));
  });

  it('of now knows its hour, that of an event does not', () => {
    const givenMs = Date.parse('2030-01-01T10:59:00Z');
    const text = cursors.writeNow(7, givenMs);
    expect([0, 1, 13, 254].map((hours) => cursors.hoursOld(text, givenMs + hours * 3_600_000))).toEqual([0, 1, 13, 254]);
    for (let hours = 0; hours < 600; hours++) expect(cursors.hoursOld(cursors.writeNow(7, hours * 3_600_000), hours * 3_600_000)).toBe(0);
    expect(cursors.hoursOld(cursors.write(7))).toBeUndefined();
  });

  it('tells nothing about how far two events are apart', () => {
    const texts = Array.from({ length: 100 }, (_, position) => cursors.write(position));
    expect(new Set(texts.map((text) => text.slice(0, 6))).size).toBe(100);
  });

  it('that nobody gave is none, and neither is one of another installation', () => {
    const other = new Cursors('ff0102030405060708090a0b0c0d0e0f');
    const given = cursors.write(7);
    const changed = Array.from({ length: 21 }, (_, at) => given.slice(0, at) + (given[at] === 'A' ? 'B' : 'A') + given.slice(at + 1));
    for (const text of ['', 'latest', '7', `${given}=`, `${given}A`, given.slice(1), '!'.repeat(22), other.write(7), ...changed])
      expect(cursors.read(text)).toBeUndefined();
  });
});
