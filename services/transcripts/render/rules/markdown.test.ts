import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MarkdownWriter, formatOffset, writeMarkdownHead } from './markdown.ts';
import type { TranscriptRow } from './row.ts';

const names = new Map([
  [1, 'Ada'],
  [2, 'Bob'],
  [-1, 'Guest'],
]);
const nameOf = (id: number): string => names.get(id) ?? `Unresolved speaker ${-id}`;
const second = 1_000_000;
const say = (seconds: number, personId: number, text: string): TranscriptRow => ({
  startUs: seconds * second,
  endUs: seconds * second,
  personId,
  text,
});

function write(rows: readonly TranscriptRow[], filterPersonId?: number): string {
  const writer = new MarkdownWriter('', { nameOf, filterPersonId });
  return writer.write(rows) + writer.finish();
}

describe('formatOffset (rules/transcripts#transcript-file; D24, D24a)', () => {
  it.each([
    [0, '00:00'],
    [999_999, '00:00'],
    [1_000_000, '00:01'],
    [59_999_999, '00:59'],
    [60_000_000, '01:00'],
    [3_599_999_999, '59:59'],
    [3_665_000_000, '61:05'],
    [600_000_000_000, '10000:00'],
    [-5, '00:00'],
  ])('formats %d microseconds as %s', (us, expected) => {
    expect(formatOffset(us)).toBe(expected);
  });

  it('rounds an offset down to its second', () => {
    fc.assert(
      fc.property(fc.nat({ max: 604_800_000 }), (ms) => {
        const [minutes, seconds] = formatOffset(ms * 1000)
          .split(':')
          .map(Number);
        expect(Number(minutes) * 60 + Number(seconds)).toBe(Math.floor(ms / 1000));
        expect(seconds).toBeLessThan(60);
      }),
    );
  });
});

describe('writeHead (D24a)', () => {
  it('writes the title, the available facts and the transcript heading', () => {
    const head = {
      id: 42,
      title: 'Spring',
      journey: 'Open circle',
      event: 'Spring 2026',
      start: '2026-05-01T10:00:00Z',
      finish: null,
      participants: ['Ada', 'Bob'],
    };
    expect(writeMarkdownHead(head)).toBe(
      '# Spring\n\n- Conversation: 42\n- Journey: Open circle\n- Event: Spring 2026\n- Start: 2026-05-01T10:00:00Z\n- Participants: Ada, Bob\n\n## Transcript\n',
    );
  });

  it('omits missing facts, and renders facts with markup on one line', () => {
    const head = {
      id: 1,
      title: 'A\n## Transcript',
      journey: null,
      event: null,
      start: null,
      finish: null,
      participants: ['Eve\n- Finish: never'],
    };
    expect(writeMarkdownHead(head)).toBe(
      '# A ## Transcript\n\n- Conversation: 1\n- Participants: Eve - Finish: never\n\n## Transcript\n',
    );
  });
});

describe('RunWriter (rules/transcripts#transcript-file; D24, D24a)', () => {
  it('merges consecutive utterances of a speaker into one run with the time of the first utterance', () => {
    expect(write([say(1, 1, 'One.'), say(4, 1, 'Two.'), say(7, 2, 'Three.'), say(3665, 1, 'Four.')])).toBe(
      '\n**Ada** (00:01)\nOne. Two.\n\n**Bob** (00:07)\nThree.\n\n**Ada** (61:05)\nFour.\n',
    );
  });

  it('filters speakers after merging, so that runs separated by another speaker remain separate', () => {
    const rows = [say(1, 1, 'a'), say(2, 1, 'b'), say(3, 2, 'c'), say(4, 1, 'd'), say(5, -1, 'e')];
    expect(write(rows, 1)).toBe('\n**Ada** (00:01)\na b\n\n**Ada** (00:04)\nd\n');
    expect(write(rows, -1)).toBe('\n**Guest** (00:05)\ne\n');
  });

  it('writes nothing for a transcript without rows', () => {
    expect(write([])).toBe('');
    expect(write([say(1, 1, 'a')], 2)).toBe('');
  });

  it('writes the same Markdown for any page size', () => {
    const row = fc.record({
      startUs: fc.nat({ max: 4_000_000_000 }),
      endUs: fc.constant(0),
      personId: fc.constantFrom(1, 2, -1, -7),
      text: fc.constantFrom('x', '', 'two words', 'a\nb'),
    });
    fc.assert(
      fc.property(
        fc.array(row, { maxLength: 20 }),
        fc.array(fc.nat({ max: 5 }), { maxLength: 20 }),
        fc.constantFrom(undefined, 1, -7),
        (rows, cuts, only) => {
          const writer = new MarkdownWriter('', { nameOf, filterPersonId: only });
          let rest: TranscriptRow[] = rows;
          let out = '';
          for (const cut of cuts) {
            out += writer.write(rest.slice(0, cut));
            rest = rest.slice(cut);
          }
          out += writer.write(rest) + writer.finish();
          expect(out).toBe(write(rows, only));
        },
      ),
    );
  });

  it('writes for a speaker exactly the runs of this speaker in the complete file', () => {
    const row = fc.record({
      startUs: fc.nat({ max: 4_000_000_000 }),
      endUs: fc.constant(0),
      personId: fc.constantFrom(1, 2),
      text: fc.constantFrom('x', 'y z'),
    });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 20 }), (rows) => {
        const runs = write(rows)
          .split('\n\n')
          .filter((run) => run.replace(/^\n/, '').startsWith('**Ada**'));
        const filtered = write(rows, 1)
          .split('\n\n')
          .filter((run) => run !== '');
        expect(filtered.map((run) => run.trim())).toEqual(runs.map((run) => run.trim()));
      }),
    );
  });
});

describe('markup in texts and names of the transcript file', () => {
  it.each([
    ['x\n\n**Ada** (00:01)\nforged', 'x **Ada** (00:01) forged'],
    ['x\r\ny\u2028z\u0085w\u000bv', 'x y z w v'],
    ['# heading', String.raw`\# heading`],
    ['###### six', String.raw`\###### six`],
    ['#hashtag', '#hashtag'],
    ['===', String.raw`\===`],
    ['---', String.raw`\---`],
    ['--- and more', '--- and more'],
    ['```', '\\```'],
    ['~~~ sh', String.raw`\~~~ sh`],
    ['<!-- hidden', String.raw`\<!-- hidden`],
    ['<script>', String.raw`\<script>`],
    ['so <b>bold</b> and <!-- hidden', String.raw`so \<b>bold\</b> and \<!-- hidden`],
    ['1 < 2 <= 3', '1 < 2 <= 3'],
    ['[Ada]: https://example.org', String.raw`\[Ada]: https://example.org`],
    ['***', String.raw`\***`],
    ['_ _ _', String.raw`\_ _ _`],
    ['*said*', '*said*'],
    ['[laughs] Yes', '[laughs] Yes'],
    ['<3 you', '<3 you'],
    ['- a list', '- a list'],
    ['5 * 4 _is_ `20`', '5 * 4 _is_ `20`'],
  ])('escapes %j as %j', (text, expected) => {
    expect(write([say(1, 1, text)])).toBe(`\n**Ada** (00:01)\n${expected}\n`);
  });

  it('renders a name inside its markup without ending the markup', () => {
    const writer = new MarkdownWriter('', { nameOf: () => 'Eve**\n\n**Ada<b>', filterPersonId: undefined });
    expect(writer.write([say(1, 5, 'x')])).toBe(String.raw`${'\n'}**Eve\*\* \*\*Ada\<b>** (00:01)${'\n'}x`);
  });

  it('writes one line per speaker and one per text, for any texts', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { maxLength: 6 }), (texts) => {
        const lines = write(texts.map((text, index) => say(index, index + 1, text))).split(
          /\r\n|[\n\r\u2028\u2029\u0085\v\f]/,
        );
        expect(lines).toHaveLength(texts.length * 3 + 1);
        for (let index = 0; index < texts.length; index++) {
          expect(lines[index * 3]).toBe('');
          expect(lines[index * 3 + 1]).toMatch(/^\*\*.*\*\* \(\d\d:\d\d\)$/);
        }
      }),
    );
  });

  it('renders millions of spaces and line breaks in linear time', () => {
    const text = `${' '.repeat(2_000_000)}x${'\n'.repeat(2_000_000)}`;
    expect(write([say(1, 1, text)])).toContain('x\n');
  });
});
