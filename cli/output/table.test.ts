import { describe, expect, it } from '@jest/globals';
import { describeTime, moment, toned } from './cell.ts';
import type { Screen } from './screen.ts';
import { fields, table, type View } from './table.ts';

const now = Date.parse('2030-01-01T12:00:00Z');
const pipe: Screen = {
  columns: Infinity,
  isTerminal: false,
  hasShortTimes: false,
  now: () => now,
  paint: (_, text) => text,
};
const terminal = (columns: number): Screen => ({
  columns,
  isTerminal: true,
  hasShortTimes: true,
  now: () => now,
  paint: (style, text) => `<${String(style)}>${text}</>`,
});

const show = (view: View, screen: Screen): readonly string[] => (typeof view === 'string' ? [view] : view(screen));
const plain = (view: View, columns: number): readonly string[] =>
  show(view, { ...terminal(columns), paint: (_, text) => text });

interface Row {
  id: number;
  name: string;
  at: string | null;
  error: string | null;
}

const rows: Row[] = [
  { id: 7, name: 'a', at: '2030-01-01T11:57:00Z', error: null },
  { id: 1234, name: '漢字', at: null, error: 'The store was away and nobody knew when it would be back' },
];
const view = table(
  rows,
  {
    ID: ({ id }: Row) => id,
    NAME: ({ name }: Row) => toned(name, 'good'),
    CREATED: ({ at }: Row) => moment(at),
    ERROR: ({ error }: Row) => error,
  },
  'No rows.',
);

describe('table', () => {
  it('aligns table columns, right-aligns numbers, and prints absolute times for programs', () => {
    expect(show(view, pipe)).toEqual([
      '  ID  NAME  CREATED               ERROR',
      '   7  a     2030-01-01T11:57:00Z  –',
      '1234  漢字  –                     The store was away and nobody knew when it would be back',
    ]);
  });

  it('prints relative times in colour when the output is a terminal', () => {
    expect(show(view, terminal(120))).toEqual([
      '<bold>  ID</>  <bold>NAME</>  <bold>CREATED</>    <bold>ERROR</>'.replace('<bold>  ID</>', '  <bold>ID</>'),
      '   7  <green>a</>     3 min ago  <dim>–</>',
      '1234  <green>漢字</>  <dim>–</>          The store was away and nobody knew when it would be back',
    ]);
  });

  it('wraps a long text in the last column between words', () => {
    expect(plain(view, 50)).toEqual([
      '  ID  NAME  CREATED    ERROR',
      '   7  a     3 min ago  –',
      '1234  漢字  –          The store was away and',
      '                       nobody knew when it would',
      '                       be back',
    ]);
  });

  it('prints values that do not fit into the table in full below their row', () => {
    expect(plain(view, 40)).toEqual([
      '  ID  NAME  CREATED',
      '   7  a     3 min ago',
      '1234  漢字  –',
      '  error The store was away and nobody',
      '  knew when it would be back',
    ]);
    const path = table(
      [{ path: 'a/path/that/is/not/broken', id: 1 }],
      { ID: ({ id }) => id, PATH: ({ path: text }) => text },
      '',
    );
    expect(plain(path, 28)).toEqual(['ID', ' 1', '  path', '  a/path/that/is/not/broken']);
    expect(plain(view, 8)).toEqual(expect.arrayContaining(['  ID', '   7', '  name a']));
  });

  it('omits empty columns on a terminal, and prints them for programs', () => {
    const columns = { ID: ({ id }: { id: number }) => id, RUNS: () => moment(null), ERROR: () => '' };
    const bare = table([{ id: 1 }], columns, '');
    expect(plain(bare, 80)).toEqual(['ID', ' 1']);
    expect(show(bare, pipe)).toEqual(['ID  RUNS  ERROR', ' 1  –     –']);
  });

  it('prints a message for a table without rows', () => {
    expect(show(table([], { ID: () => 1 }, 'No rows.'), pipe)).toEqual(['No rows.']);
  });

  it('prints each row on one line and escapes terminal control characters', () => {
    const wild = table([{ text: ' a\n\tb\u001b[2Jc\r' }], { TEXT: ({ text }) => text }, '');
    expect(show(wild, pipe)).toEqual(['TEXT', 'a b\\u001b[2Jc\\u000d']);
  });
});

describe('fields', () => {
  it('prints each field that has a value on a separate line, and wraps values between words', () => {
    const one = fields({ id: 7, 'request id': null, finished: moment(null), error: 'one two three four five' });
    expect(plain(one, 22)).toEqual(['id:     7', 'error:  one two three', '        four five']);
    expect(show(fields({ 'x\u001b[2J': 'from a stranger' }), pipe)).toEqual(['x\\u001b[2J:  from a stranger']);
  });
});

describe('describeTime', () => {
  const noon = new Date(2030, 4, 20, 12).getTime();
  it.each([
    [new Date(2030, 4, 20, 12), 'now'],
    [new Date(2030, 4, 20, 11, 59, 1), '59 s ago'],
    [new Date(2030, 4, 20, 11, 57), '3 min ago'],
    [new Date(2030, 4, 20, 12, 59), 'in 59 min'],
    [new Date(2030, 4, 20, 9, 5), '09:05'],
    [new Date(2030, 4, 21, 0, 5), '21 May 00:05'],
    [new Date(2030, 0, 1, 0, 0), '1 Jan 00:00'],
    [new Date(2029, 11, 31, 23, 59), '31 Dec 2029'],
    [new Date(NaN), '–'],
  ])('describes %s as %s', (time, text) => expect(describeTime(time.getTime(), noon)).toBe(text));
});
