import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readCaptions } from '#libs/product/testing';
import type { TranscriptRow, TranscriptWriter } from './row.ts';
import { createJsonWriter, createSrtWriter, createTextWriter, createVttWriter } from './segments.ts';

const names = new Map([
  [1, 'Ada'],
  [2, 'Bob & <i>Co</i> --> 00:00'],
  [-1, 'Gäste'],
]);
const options = {
  nameOf: (id: number): string => names.get(id) ?? `Unresolved speaker ${-id}`,
  filterPersonId: undefined,
};
const say = (startMs: number, endMs: number, personId: number, text: string): TranscriptRow => ({
  startUs: startMs * 1000,
  endUs: endMs * 1000,
  personId,
  text,
});
const write = (writer: TranscriptWriter, rows: readonly TranscriptRow[]): string =>
  writer.start() + writer.write(rows) + writer.finish();
const breaks = /[\n\r\v\f\u0085\u2028\u2029]+/g;
const oneLine = (text: string): string => text.replaceAll(breaks, ' ').trim();
const hostile = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc
    .array(
      fc.constantFrom(
        '-->',
        '--->',
        '\n',
        '\r\n',
        '\n\n',
        '\u2028',
        '<v Eve>',
        '<font color="red">',
        '{\\an8}',
        '</v>',
        '&',
        '&lt;',
        'NOTE',
        '00:00:00.000 --> 00:00:01.000',
        '1',
        'WEBVTT',
        ' ',
      ),
      { maxLength: 8 },
    )
    .map((parts) => `x${parts.join('')}`),
);
/** Rows in stored order. Texts are never blank (D25). */
const rows = fc
  .array(
    fc.record({
      startUs: fc.nat({ max: 300_000_000_000 }),
      lengthUs: fc.oneof(fc.constantFrom(0, 1, 999, 1_000), fc.nat({ max: 60_000_000 })),
      personId: fc.constantFrom(1, 2, -1, -7),
      text: hostile.filter((text) => oneLine(text) !== ''),
    }),
    { maxLength: 12 },
  )
  .map((given) =>
    given
      .toSorted((left, right) => left.startUs - right.startUs)
      .map(({ lengthUs, ...row }): TranscriptRow => ({ ...row, endUs: row.startUs + lengthUs })),
  );
const cueTimes = ({ startUs, endUs }: TranscriptRow): [number, number] => {
  const start = Math.floor(startUs / 1000);
  return [start, Math.max(start + 1, Math.floor(endUs / 1000))];
};

describe('transcript as WebVTT (T1, T5)', () => {
  it('renders a cue with a voice tag for each row', () => {
    expect(
      write(createVttWriter(options), [say(0, 2_400, 1, 'Welcome.'), say(3_661_001, 3_661_001, -7, 'a\n\nb --> <c>')]),
    ).toBe(
      'WEBVTT\n\n00:00:00.000 --> 00:00:02.400\n<v Ada>Welcome.\n\n01:01:01.001 --> 01:01:01.002\n<v Unresolved speaker 7>a b --&gt; &lt;c&gt;\n',
    );
    expect(write(createVttWriter(options), [])).toBe('WEBVTT\n');
  });

  it('renders any texts as WebVTT that a caption parser reads to the same rows, to the millisecond', async () => {
    await fc.assert(
      fc.asyncProperty(rows, async (given) => {
        const cues = await readCaptions(write(createVttWriter(options), given), 'vtt');
        expect(cues.map((cue) => [cue.startMs, cue.endMs])).toEqual(given.map(cueTimes));
        expect(cues.map(({ text }) => text.replaceAll(/\s+/g, ' ').trim())).toEqual(
          given.map(({ text }) => oneLine(text).replaceAll(/\s+/g, ' ').trim()),
        );
      }),
    );
  });

  it('preserves names in WebVTT', async () => {
    const cues = await readCaptions(write(createVttWriter(options), [say(0, 1, 1, 'x'), say(0, 1, -1, 'x')]), 'vtt');
    expect(cues.map(({ voice }) => voice)).toEqual(['Ada', 'Gäste']);
  });

  it('shifts every cue for a media file that starts earlier or later', () => {
    const given = [say(500, 1_500, 1, 'a'), say(2_000, 3_000, 1, 'b')];
    expect(write(createVttWriter(options, 60_250), given)).toContain('00:01:00.750 --> 00:01:01.750');
    expect(write(createVttWriter(options, -1_000), given)).toContain('00:00:00.000 --> 00:00:00.500');
  });
});

describe('transcript as SubRip (T1, T5)', () => {
  it('numbers the cues and starts each with the speaker name', () => {
    expect(write(createSrtWriter(options), [say(0, 2_400, 1, 'Welcome.'), say(2_500, 2_500, -1, 'x ---> y')])).toBe(
      '1\n00:00:00,000 --> 00:00:02,400\nAda: Welcome.\n\n2\n00:00:02,500 --> 00:00:02,501\nGäste: x -> y\n',
    );
  });

  it('renders a row with millions of dashes in linear time, for any text after them', () => {
    const dashes = '-'.repeat(4_000_000); // A scan that restarts at each dash would take an hour.
    expect(write(createSrtWriter(options), [say(0, 1, 1, `${dashes}x${dashes}>`)])).toMatch(
      /^1\n.*\nAda: -{4000000}x->\n$/,
    );
  });

  it.each([
    ['<i>said</i>', '<\u2060i>said<\u2060/i>'],
    ['<font color="red">red', '<\u2060font color="red">red'],
    ['< b >', '<\u2060 b >'],
    ['{\\an8}top {\\i1}', '｛\\an8｝top ｛\\i1｝'],
    ['{y:i}{b}', '｛y:i｝｛b｝'],
    ['5 > 3 & &lt;i&gt;', '5 > 3 & &lt;i&gt;'],
  ])('renders player markup in %j as plain text', (text, shown) => {
    expect(write(createSrtWriter(options), [say(0, 1, 1, text)])).toBe(
      `1\n00:00:00,000 --> 00:00:00,001\nAda: ${shown}\n`,
    );
  });

  it('renders any texts as SubRip that a caption parser reads to the same rows, to the millisecond', async () => {
    await fc.assert(
      fc.asyncProperty(rows, async (given) => {
        const cues = await readCaptions(write(createSrtWriter(options), given), 'srt');
        expect(cues.map((cue) => [cue.id, cue.startMs, cue.endMs])).toEqual(
          given.map((row, index) => [String(index + 1), ...cueTimes(row)]),
        );
        const shown = (text: string): string =>
          oneLine(text)
            .replaceAll(/-{2,}>/g, '->')
            .replaceAll('<', '<\u2060')
            .replaceAll('{', '｛')
            .replaceAll('}', '｝')
            .replaceAll(/\s+/g, ' ')
            .trim();
        expect(cues.map((cue) => cue.text.replaceAll(/\s+/g, ' ').trim())).toEqual(
          given.map(({ personId, text }) => shown(`${options.nameOf(personId)}: ${text}`)),
        );
      }),
    );
  });
});

describe('transcript as JSON and plain text (T1, T5)', () => {
  const head = {
    conversationId: 7,
    window: { start: '2030-01-15T10:01:00Z', end: '2030-01-15T10:05:00Z' },
    origin: 1_894_701_660_000_000n,
  };

  it('renders times, instants and speakers in JSON, and preserves line breaks', () => {
    const given = [
      say(0, 1_500, 1, 'One\ntwo "3"'),
      { ...say(2_000, 2_000, -1, 'x'), startUs: 2_000_999, endUs: 2_000_999 },
    ];
    expect(JSON.parse(write(createJsonWriter(head, options), given))).toEqual({
      conversation_id: 7,
      window: head.window,
      segments: [
        {
          index: 0,
          start_ms: 0,
          end_ms: 1_500,
          started_at: '2030-01-15T10:01:00Z',
          speaker: { key: '1', person_id: 1, name: 'Ada' },
          text: 'One\ntwo "3"',
        },
        {
          index: 1,
          start_ms: 2_000,
          end_ms: 2_000,
          started_at: '2030-01-15T10:01:02.000999Z',
          speaker: { key: '-1', person_id: null, name: 'Gäste' },
          text: 'x',
        },
      ],
    });
  });

  it('numbers the segments over all pages of the transcript, and omits instants without a reference time', () => {
    const writer = createJsonWriter(
      { conversationId: 7, window: null, origin: undefined },
      { ...options, filterPersonId: 2 },
    );
    const text = write(writer, [say(0, 1, 1, 'a'), say(1, 2, 2, 'b'), say(2, 3, 1, 'c'), say(3, 4, 2, 'd')]);
    const { window, segments } = JSON.parse(text) as { window: null; segments: { index: number; started_at: null }[] };
    expect([window, segments.map(({ index, started_at }) => [index, started_at])]).toEqual([
      null,
      [
        [1, null],
        [3, null],
      ],
    ]);
  });

  it('writes the same JSON and text for any page size', () => {
    fc.assert(
      fc.property(rows, fc.nat({ max: 12 }), (given, cut) => {
        for (const create of [
          createVttWriter,
          createSrtWriter,
          createTextWriter,
          (own: typeof options) => createJsonWriter(head, own),
        ]) {
          const writer = create(options);
          const paged =
            writer.start() + writer.write(given.slice(0, cut)) + writer.write(given.slice(cut)) + writer.finish();
          expect(paged).toBe(write(create(options), given));
        }
      }),
    );
  });

  it('writes one line of plain text for each row', () => {
    expect(write(createTextWriter(options), [say(0, 1, 1, 'One\r\ntwo'), say(1, 2, -7, 'x')])).toBe(
      'Ada: One two\nUnresolved speaker 7: x\n',
    );
  });
});
