import { describe, expect, it } from '@jest/globals';
import { idsFromSql, instantFromSql, renderConfig } from './representation.ts';

describe('instantFromSql (rules/http#datetimes-out)', () => {
  it.each([
    ['2030-01-01 10:00:00', '2030-01-01T10:00:00Z'],
    ['2030-01-01 10:00:00.5', '2030-01-01T10:00:00.500000Z'],
    ['0001-01-01 00:00:00.000001', '0001-01-01T00:00:00.000001Z'],
    ['9999-12-31 23:59:59.999999', '9999-12-31T23:59:59.999999Z'],
  ])('formats the database time %s as %s', (sql, shown) => {
    expect(instantFromSql(sql)).toBe(shown);
  });
});

describe('idsFromSql', () => {
  it('parses a PostgreSQL array of ids in order', () => {
    expect(idsFromSql('{}')).toEqual([]);
    expect(idsFromSql('{3,1,2}')).toEqual([3, 1, 2]);
  });
});

describe('renderConfig (rules/room#room-state)', () => {
  it.each([
    ['{}', null, {}],
    ['{"a": 1}', null, { a: 1 }],
    ['{}', '{"phase": "x"}', { 'enter-coherence': { phase: 'x' } }],
    ['{"a": 1}', '{}', { a: 1, 'enter-coherence': {} }],
  ])('merges the config %s with the room state %s', (config, room, shown) => {
    expect(JSON.parse(renderConfig(config, room))).toEqual(shown);
  });
});
