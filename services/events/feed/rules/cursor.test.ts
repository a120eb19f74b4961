import { describe, expect, it } from '@jest/globals';
import { Cursors } from './cursor.ts';

const cursors = new Cursors('000102030405060708090a0b0c0d0e0f');

describe('Cursors (V3, V4)', () => {
  it.each([0, 1, 2, 4_294_967_296, Number.MAX_SAFE_INTEGER])('decodes the cursor of position %d', (position) => {
    expect(cursors.read(cursors.write(position))).toBe(position);
    expect(cursors.read(cursors.writeCurrent(position))).toBe(position);
  });

  it('writes the same cursor for the same event, and a new cursor each time for the current end', () => {
    expect(cursors.write(7)).toBe(cursors.write(7));
    expect(cursors.writeCurrent(7)).not.toBe(cursors.writeCurrent(7));
  });

  it('returns the age of a cursor for the current end, and undefined for an event cursor', () => {
    const createdMs = Date.parse('2030-01-01T10:59:00Z');
    const text = cursors.writeCurrent(7, createdMs);
    expect([0, 1, 13, 254].map((hours) => cursors.ageInHours(text, createdMs + hours * 3_600_000))).toEqual([
      0, 1, 13, 254,
    ]);
    for (let hours = 0; hours < 600; hours++)
      expect(cursors.ageInHours(cursors.writeCurrent(7, hours * 3_600_000), hours * 3_600_000)).toBe(0);
    expect(cursors.ageInHours(cursors.write(7))).toBeUndefined();
  });

  it('does not reveal the distance between two events in their cursors', () => {
    const texts = Array.from({ length: 100 }, (_, position) => cursors.write(position));
    expect(new Set(texts.map((text) => text.slice(0, 6))).size).toBe(100);
  });

  it('rejects invalid cursors and cursors of another installation', () => {
    const other = new Cursors('ff0102030405060708090a0b0c0d0e0f');
    const cursor = cursors.write(7);
    const changed = Array.from(
      { length: 21 },
      (_, at) => cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1),
    );
    for (const text of [
      '',
      'latest',
      '7',
      `${cursor}=`,
      `${cursor}A`,
      cursor.slice(1),
      '!'.repeat(22),
      other.write(7),
      ...changed,
    ])
      expect(cursors.read(text)).toBeUndefined();
  });
});
