import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JsonScanner } from './index.ts';

/** Returns the structural characters of a text with their positions and the depth after each. */
function scan(
  text: string,
  maxDepth: number,
  sizes: readonly number[] = [],
): [sign: string, at: number, depth: number][] {
  const bytes = Buffer.from(text);
  const scanner = new JsonScanner();
  const found: [string, number, number][] = [];
  let start = 0;
  for (const size of [...sizes, bytes.length]) {
    const chunk = bytes.subarray(start, start + size);
    for (let at = scanner.find(chunk, 0, maxDepth); at < chunk.length; at = scanner.find(chunk, at + 1, maxDepth)) {
      found.push([String.fromCharCode(chunk[at] ?? 0), start + at, scanner.depth]);
    }
    start += chunk.length;
  }
  return found;
}

describe('JsonScanner', () => {
  it('finds brackets and separators outside of strings, up to the requested depth', () => {
    const text = '[{"a,]":"\\"}"},[1]]';
    expect(
      scan(text, 9)
        .map(([sign]) => sign)
        .join(''),
    ).toBe('[{:},[]]');
    expect(scan(text, 1)).toEqual([
      ['[', 0, 1],
      ['{', 1, 2],
      ['}', 13, 1],
      [',', 14, 1],
      ['[', 15, 2],
      [']', 17, 1],
      [']', 18, 0],
    ]);
    expect(scan(text, 0)).toEqual([
      ['[', 0, 1],
      [']', 18, 0],
    ]);
  });

  it('returns the same result for any chunks of the input', () => {
    const text = fc.jsonValue().map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(
        text,
        fc.nat({ max: 4 }),
        fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 40 }),
        (json, maxDepth, sizes) => {
          expect(scan(json, maxDepth, sizes)).toEqual(scan(json, maxDepth));
        },
      ),
    );
  });
});
