import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { parseWorkspace } from '../workspace-file.ts';
import { splitFile } from './split-file.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'split-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function split(text: string) {
  const file = join(folder, 'file');
  writeFileSync(file, text);
  const items: { text: string; line: number }[] = [];
  let rest = '';
  let gapLines = 0;
  for await (const piece of splitFile(file)) {
    if (piece === undefined) return undefined;
    if (piece.kind === 'rest') rest += piece.text;
    else if (piece.kind === 'gap') gapLines += piece.lines;
    else items.push({ text: piece.text, line: piece.line });
  }
  return { items, rest, gapLines };
}

/** Excludes `<<`, which is a merge key in YAML. */
const value = fc.jsonValue({ maxDepth: 3 }).filter((item) => !JSON.stringify(item).includes('"<<"'));
const item = fc.record({
  key: fc.string(),
  infos: fc.dictionary(
    fc.string().filter((key) => key !== '<<'),
    value,
  ),
  note: fc.string({ unit: 'binary' }),
});
const before = fc.dictionary(fc.constantFrom('people', 'a"b', 'conversation', 'conversations '), value);

describe('splitFile (rules/workspace#bulk-import, conversations:)', () => {
  it('returns each conversation of a JSON document and the remaining document, with original line numbers', async () => {
    await fc.assert(
      fc.asyncProperty(
        before,
        fc.array(item, { minLength: 1, maxLength: 5 }),
        fc.constantFrom(0, 2),
        async (head, items, indent) => {
          const text = JSON.stringify(
            { ...head, conversations: items, after: { conversations: [1, 2] } },
            null,
            indent,
          );
          const found = await split(text);
          expect(found?.items.map((entry) => JSON.parse(entry.text))).toEqual(JSON.parse(JSON.stringify(items)));
          expect(JSON.parse(found?.rest ?? '')).toEqual(
            JSON.parse(JSON.stringify({ ...head, conversations: [], after: { conversations: [1, 2] } })),
          );
          expect((found?.rest.split('\n').length ?? 0) + (found?.gapLines ?? 0)).toBe(text.split('\n').length);
          const lines = text.split('\n');
          for (const { line, text: own } of found?.items ?? [])
            expect(lines[line - 1]).toContain(own.trimStart().split('\n')[0]);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('returns each conversation of a YAML block sequence and the remaining document, with original line numbers', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 5 }), fc.boolean(), async (items, indentSeq) => {
        const head = '# people: first\npeople:\n- {key: a}\n';
        const tail = '\n# the end\nholons:\n- slug: b\n';
        const list = stringify({ conversations: items }, { indentSeq, lineWidth: 20 });
        fc.pre(list.isWellFormed()); // the YAML writer can fold a line inside a surrogate pair, which cannot be stored in a file
        const text = `${head}${list}${tail}`;
        const found = await split(text);
        const parsed = found?.items.map((entry) => (parseWorkspace('f', entry.text).document as unknown[])[0]);
        // Parses the whole file for comparison: a blank line after the list belongs to a text at the end of the list
        // that retains its line breaks.
        const whole = parseWorkspace('f', text).document as { conversations: unknown[] };
        expect(parsed).toEqual(whole.conversations);
        expect(whole.conversations).toHaveLength(items.length);
        expect(parseWorkspace('f', found?.rest ?? '').document).toEqual({
          people: [{ key: 'a' }],
          conversations: null,
          holons: [{ slug: 'b' }],
        });
        expect((found?.rest.split('\n').length ?? 0) + (found?.gapLines ?? 0)).toBe(text.split('\n').length);
      }),
      { numRuns: 100 },
    );
  });

  it('does not split `conversations` written as a flow sequence or an alias', async () => {
    expect(await split('conversations: [{key: a},\n  {key: b}]\n')).toBeUndefined();
    expect(await split('conversations: *other\n')).toBeUndefined();
    expect(await split('people: []\nconversations: []\n')).toEqual({
      items: [],
      rest: 'people: []\nconversations: []\n',
      gapLines: 0,
    });
  });
});
