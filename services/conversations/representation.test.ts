import { describe, expect, it } from '@jest/globals';
import { idsFromSql, instantFromSql } from './sql-values.ts';
import { renderConfig } from './representation.ts';
import { conversationTitle } from './title.ts';

describe('instantFromSql (rules/http#datetimes-out)', () => {
  it.each([
    ['2030-01-01 10:00:00', '2030-01-01T10:00:00Z'],
    ['2030-01-01 10:00:00.5', '2030-01-01T10:00:00.500000Z'],
    ['0001-01-01 00:00:00.000001', '0001-01-01T00:00:00.000001Z'],
    ['9999-12-31 23:59:59.999999', '9999-12-31T23:59:59.999999Z'],
  ])('prints %s as %s', (sql, shown) => {
    expect(instantFromSql(sql)).toBe(shown);
  });
});

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

describe('idsFromSql', () => {
  it('reads an array of PostgreSQL in its order', () => {
    expect(idsFromSql('{}')).toEqual([]);
    expect(idsFromSql('{3,1,2}')).toEqual([3, 1, 2]);
  });
});

describe('conversationTitle (D18a, D18b)', () => {
  it.each([
    ['Plain', '2026-05-01T10:00:00Z', 'Plain'],
    [{ value: 'Enclosed', provenance: { by: 'x' } }, null, 'Enclosed'],
    [{ value: 'No envelope' }, null, 'Conversation 42'],
    ['  ', '2026-05-01T10:00:00Z', 'Conversation of 2026-05-01'],
    [undefined, null, 'Conversation 42'],
    [7, null, 'Conversation 42'],
  ])('of field %j and start %p is %s', (field, start, title) => {
    const json = field === undefined ? null : JSON.stringify(field);
    expect(conversationTitle({ id: 42, title: json, enveloped: null, start })).toBe(title);
  });
});
