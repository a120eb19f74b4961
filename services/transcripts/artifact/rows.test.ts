import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JsonRowSplitter } from './json-rows.ts';
import { readRows } from './rows.ts';
import { TruncatedArtifact, UnreadableArtifact } from './unreadable.ts';

/** Yields the bytes in chunks of the given sizes, then the remaining bytes. */
async function* inPieces(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const size of sizes) {
    yield bytes.subarray(at, at + size);
    at += size;
  }
  yield bytes.subarray(at);
}

async function read(artifact: string | Uint8Array, sizes: readonly number[] = []): Promise<unknown[]> {
  const rows: unknown[] = [];
  for await (const batch of readRows(inPieces(Buffer.from(artifact as string), sizes))) rows.push(...batch);
  return rows;
}

const csvRow = (startTime: unknown, sentence: unknown, peer: [string, string, string, string]): unknown => ({
  startTime,
  endTime: undefined,
  sentence,
  peerData: { id: peer[0], userId: peer[1], cpi: peer[2], displayName: peer[3] },
});

describe('readRows of JSON (rules/providers#realtimekit-artifact)', () => {
  it('returns the same rows as JSON.parse, for any chunks of the bytes', async () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.record({ sentence: fc.string({ unit: 'binary' }), startTime: fc.double({ noNaN: true }) }),
    );
    const space = fc.constantFrom('', ' ', '\n', '\r\n\t ');
    await fc.assert(
      fc.asyncProperty(
        fc.array(value, { maxLength: 8 }),
        space,
        fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 60 }),
        async (rows, gap, sizes) => {
          const text = `${gap}[${gap}${rows.map((row) => JSON.stringify(row)).join(`${gap},${gap}`)}${gap}]${gap}`;
          expect(await read(text, sizes)).toEqual(JSON.parse(text));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('reads chunks that split characters, escapes, and brackets in strings at any byte', async () => {
    const text = '\ufeff[{"sentence":"a\\"],[{\\\\","n":[1,{"x":[]}]},"é😀\\u005d",3]';
    const expected = JSON.parse(text.slice(1));
    for (let size = 1; size < 12; size++) expect(await read(text, Array(200).fill(size))).toEqual(expected);
  });

  it('returns no rows for an empty list', async () => {
    expect(await read('[]')).toEqual([]);
    expect(await read(' \n[ \n ] ')).toEqual([]);
  });

  it.each([
    ['', 'nothing'],
    [' \n ', 'blank'],
    ['\ufeff', 'only a byte order mark'],
    ['[1]]', 'a bracket too many'],
    ['[1] x', 'text after the list'],
    ['{"success":true,"data":[]}', 'an object'],
    ['<html>secretword</html>', 'HTML'],
    ['hello secretword', 'a sentence'],
    ['"a json string"', 'a string'],
    ['42', 'a number'],
    ['\u0000\u0001\u0002', 'control characters'],
  ])('rejects the artifact %j (%s) without quoting it', async (text) => {
    const error: unknown = await read(text).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnreadableArtifact);
    expect(`${(error as Error).message}${(error as Error).stack}`).not.toContain('secretword');
    expect((error as Error).cause).toBeUndefined();
  });

  it.each([
    ['[', 'an open list'],
    ['[{"a":1}', 'a list without its end'],
    ['[{"a":1},', 'a cut list'],
    ['[{"a":"x', 'a cut string'],
    ['[{"a":"é'.slice(0, -1), 'a cut character'],
    ['[{"a":NaN},{"a":1', 'a cut list behind a bad row'],
    ['"1","p","u","c","Ann","Hello"\n"2","p","u","c","Ann","Hel', 'a cut CSV'],
  ])('reports the artifact %j (%s) as truncated', async (text) => {
    await expect(read(text)).rejects.toBeInstanceOf(TruncatedArtifact);
  });

  it.each<[string, number]>([
    ['{"a":NaN}', 1],
    ['{"a":Infinity}', 1],
    ['{"a":-Infinity,"b":[NaN]}', 1],
    ['{"a":undefined}', 1],
    ['{"a":tru}', 1],
    ['{"a":01}', 1],
    ['{"a":1,}', 1],
    ["{'a':1}", 1],
    ['{a:1}', 1],
    ['{"a":"a line\nbreak"}', 1],
    ['{"a":"\\x41"}', 1],
    ['{"a":1 "b":2}', 1],
    ['{"a":1}}', 1],
    ['{"a":[1}', 1],
    ['{"a":[1]]}', 1],
    ['{"a":{"b":1}', 1],
    ['1 2', 1],
    ['', 1],
    ['{"a":"he said "hi" twice"}', 1],
    ['{"a":"a 5" disk"}', 1],
    ['{"a":"a 5" disk, [brackets] and {braces}"}', 1],
    ['{"a":"one quote"},{"a":"" and"},{"a":"another" one"}', 3],
  ])(
    'reports the row %s as malformed and reads all other rows, for any chunks of the bytes (D86)',
    async (bad, count) => {
      const good = (index: number): string =>
        JSON.stringify({ startTime: index, sentence: 'a, [b] "c"', peerData: { id: String(index) } });
      const text = `[${[good(1), good(2), bad, good(3), good(4)].join(' ,\n ')}]\n`;
      for (const sizes of [[], Array<number>(text.length).fill(1), Array<number>(text.length).fill(7)]) {
        const rows = await read(text, sizes);
        const isGood = (row: unknown): boolean => (row as { startTime?: number } | null)?.startTime !== undefined;
        expect(rows.filter(isGood)).toEqual([1, 2, 3, 4].map((index) => JSON.parse(good(index)) as unknown));
        expect(rows.length - 4).toBeGreaterThanOrEqual(1);
        expect(rows.length - 4).toBeLessThanOrEqual(count);
      }
    },
  );

  it('reads all other rows when the malformed row is first, last, or the only one', async () => {
    expect(await read('[{"a":NaN},{"a":1}]')).toEqual([null, { a: 1 }]);
    expect(await read('[{"a":1},{"a":"5" disk"}]')).toEqual([{ a: 1 }, null]);
    expect(await read('[{"a":"5" disk"}]')).toEqual([null]);
    expect(await read("[{'a':1}]")).toEqual([null]);
    expect(await read('[{]}]')).toEqual([null]);
  });

  it('ignores a comma after the last row, and reports a comma before the first row as a malformed row', async () => {
    expect(await read('[{"a":1}, ]')).toEqual([{ a: 1 }]);
    expect(await read('[,{"a":1}]')).toEqual([null, { a: 1 }]);
  });

  it('reports a row over the size limit as malformed without buffering it', () => {
    const splitter = new JsonRowSplitter(1_000);
    const rows = splitter.push(Buffer.from('[{"a":1},{"a":"'));
    for (let index = 0; index < 200; index++) rows.push(...splitter.push(Buffer.alloc(100, 'x')));
    rows.push(...splitter.push(Buffer.from('"},{"a":2}]')), ...splitter.end());
    expect(rows).toEqual([{ a: 1 }, null, { a: 2 }]);
  });

  it('reads the rows after a malformed row that fills the buffer', () => {
    const splitter = new JsonRowSplitter(1_000);
    const rows = splitter.push(Buffer.from('[{"a":"a 5" disk"}'));
    for (let index = 0; index < 200; index++)
      rows.push(...splitter.push(Buffer.from(`,{"index":${index},"a":"text"}`)));
    rows.push(...splitter.push(Buffer.from(']')), ...splitter.end());
    expect(rows).toEqual([null, ...Array.from({ length: 200 }, (_, index) => ({ index, a: 'text' }))]);
  });

  it.each(['[{"a":"x" y"}', '[{"a":{', '[}', '[{},', '["}     '])('reads a list of many %j in linear time', (text) => {
    const part = Buffer.from(text.slice(1).repeat(Math.ceil(65_536 / text.length)));
    const costOf = (parts: number): number => {
      const splitter = new JsonRowSplitter(262_144);
      const before = process.cpuUsage();
      splitter.push(Buffer.from(text));
      for (let index = 0; index < parts; index++) splitter.push(part);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    costOf(8); // compiles it
    // Other work of the process only adds time, so the test uses the minimum of the measurements.
    const least = (parts: number): number => Math.min(...[1, 2].map(() => costOf(parts)));
    expect(least(32) / least(4)).toBeLessThan(32); // For 8 times the input, linear time is a ratio of 8 and quadratic time a ratio of 64.
  });

  it('rejects a list in which most rows are not JSON', async () => {
    await expect(read(`[${','.repeat(200_000)}]`)).rejects.toThrow('more than 100000 of its rows are not JSON');
  });

  it('throws the errors of the source', async () => {
    const broken = async function* (): AsyncGenerator<Uint8Array> {
      await Promise.resolve();
      yield Buffer.from('[1,');
      throw new Error('cut');
    };
    const reading = async (): Promise<void> => {
      for await (const rows of readRows(broken())) expect(rows).toEqual([1]);
    };
    await expect(reading()).rejects.toThrow('cut');
  });
});

describe('readRows of CSV (rules/providers#realtimekit-artifact; D26, D26a)', () => {
  it('reads quoted CSV with milliseconds and without a header', async () => {
    const text =
      '"1000","peer-1","user-1","person-42","Ann","Hello, everyone"\n"3500","peer-2","user-2","","Bob","He said ""hi""\nand left"\n';
    expect(await read(text)).toEqual([
      csvRow(1000, 'Hello, everyone', ['peer-1', 'user-1', 'person-42', 'Ann']),
      csvRow(3500, 'He said "hi"\nand left', ['peer-2', 'user-2', '', 'Bob']),
    ]);
  });

  it('reads unquoted CSV with ISO times, trims values and skips the header', async () => {
    const header = 'Timestamp, Participant ID, User ID, Custom Participant ID, Participant Name, Transcript\r\n';
    const line = '2030-01-15T10:00:01.000Z, peer-1 ,user-1,person-42,Ann , Hello "you" \r\n';
    const expected = [csvRow('2030-01-15T10:00:01.000Z', 'Hello "you"', ['peer-1', 'user-1', 'person-42', 'Ann'])];
    expect(await read(header + line)).toEqual(expected);
    expect(await read(`\ufeff${header}${line}`)).toEqual(expected);
    expect(await read(line)).toEqual(expected);
    expect(await read(header)).toEqual([]);
  });

  it('preserves spaces inside CSV quotes', async () => {
    expect(await read('"1", "p", "u", "c", " Ann ", "  "')).toEqual([csvRow(1, '  ', ['p', 'u', 'c', ' Ann '])]);
  });

  it('reads end times when the header contains such a column, in any order of columns', async () => {
    const text = 'Name,Start Time,End Time,CPI,Text\nAnn,1000,2000,c-1,Hi\n';
    expect(await read(text)).toEqual([
      {
        startTime: 1000,
        endTime: 2000,
        sentence: 'Hi',
        peerData: { id: undefined, userId: undefined, cpi: 'c-1', displayName: 'Ann' },
      },
    ]);
  });

  it('joins unquoted text at its commas, and reports a short line as a malformed row', async () => {
    expect(await read('1,p,u,c,Ann,well,yes\n2,p,u\n')).toEqual([csvRow(1, 'well,yes', ['p', 'u', 'c', 'Ann']), null]);
  });

  it.each(['x', '-5', '1.5', '2030-01-15T10:00:01', ''])('returns the time %j as text', async (time) => {
    expect(await read(`1,p,u,c,Ann,one\n${time},p,u,c,Ann,two`)).toMatchObject([{ startTime: 1 }, { startTime: time }]);
  });

  it('reports an unclosed quote as a truncated artifact, without quoting the text', async () => {
    const error: unknown = await read('1,p,u,c,Ann,one\n2,p,u,c,Ann,"secretword').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TruncatedArtifact);
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error as Error))).not.toContain('secretword');
  });

  it('reads any quoted CSV table, for any chunks of the bytes', async () => {
    const field = fc.string({ unit: fc.constantFrom('a', 'é', '"', ',', '\n', ' ', '😀') });
    const line = fc.tuple(fc.integer({ min: 0, max: 9_999_999 }), field, field, field, field, field);
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1, maxLength: 6 }),
        fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 30 }),
        async (lines, sizes) => {
          const text = lines
            .map((fields) => fields.map((item) => `"${String(item).replaceAll('"', '""')}"`).join(','))
            .join('\n');
          expect(await read(text, sizes)).toEqual(
            lines.map(([ms, id, user, cpi, name, sentence]) => csvRow(ms, sentence, [id, user, cpi, name])),
          );
        },
      ),
      { numRuns: 200 },
    );
  });
});
