import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readTelegramHtml } from '#libs/product/testing';
import { createMessagingHtml, toVisibleText } from '../../messaging-html.ts';
import { splitHtml, splitReply } from './split-html.ts';

const { render } = createMessagingHtml();
const small = { visible: 20, bytes: 400 };

describe('splitHtml (D32, D33b: messages of at most 4096 UTF-16 units of visible text)', () => {
  it('returns one message for a text within the limit', () => {
    expect(splitHtml('<b>a</b> &lt; b')).toEqual(['<b>a</b> &lt; b']);
    expect(splitHtml('')).toEqual([]);
  });

  it('returns one message for 4096 units of text and two for 4097', () => {
    expect(splitHtml('x'.repeat(4_096))).toHaveLength(1);
    expect(splitHtml('x'.repeat(4_097)).map((part) => part.length)).toEqual([4_096, 1]);
    expect(splitHtml('&amp;'.repeat(4_096))).toHaveLength(1);
  });

  it('treats a long unclosed tag as text, in linear time', () => {
    const parts = splitHtml(`<${'a'.repeat(700_000)}`); // A pattern that backtracks character by character would take an hour for this text.
    expect(parts.join('').length).toBe(700_001);
  });

  it('counts a surrogate pair as two units, and never splits it', () => {
    const parts = splitHtml('😀'.repeat(15), small);
    expect(parts.map((part) => part.length)).toEqual([20, 10]);
    for (const part of parts) expect(part.isWellFormed()).toBe(true);
  });

  it.each(['👩‍👩‍👧‍👦', '🇩🇪', '👍🏽', 'e\u0301', 'ക്ഷ', '한', '1️⃣', 'e</b><i>\u0301</i><b>'])(
    'never splits the grapheme %s between two messages',
    (grapheme) => {
      for (let before = 1; before <= 20; before++) {
        const whole = `<b>${'x'.repeat(before)}${grapheme.repeat(9)}</b>`;
        const parts = splitHtml(whole, small).map(toVisibleText);
        const visible = toVisibleText(grapheme);
        expect(parts.join('')).toBe(toVisibleText(whole));
        expect(parts.map((part) => part.replaceAll(visible, '').replaceAll('x', ''))).toEqual(parts.map(() => ''));
      }
    },
  );

  it('splits a grapheme longer than a message, but only between characters', () => {
    const marks = `x${'\u0301'.repeat(50)}😀`;
    const parts = splitHtml(marks, small);
    expect(parts.join('')).toBe(marks);
    expect(parts.every((part) => part.length <= 20 && part.isWellFormed())).toBe(true);
  });

  it('never splits an entity, and closes and reopens tags between two messages', () => {
    expect(splitHtml('<b><i>aaaaaaaaaaaaaaaaaaa&amp;bb</i></b>', small)).toEqual([
      '<b><i>aaaaaaaaaaaaaaaaaaa&amp;</i></b>',
      '<b><i>bb</i></b>',
    ]);
    expect(splitHtml(`<pre><code class="language-js">${'x'.repeat(25)}</code></pre>`, small)).toEqual([
      `<pre><code class="language-js">${'x'.repeat(20)}</code></pre>`,
      `<pre><code class="language-js">xxxxx</code></pre>`,
    ]);
  });

  it('splits after a line or a word in the second half of a message', () => {
    expect(splitHtml('one two three\nfour five six', small)).toEqual(['one two three\n', 'four five six']);
    expect(splitHtml('one two three four five', small)).toEqual(['one two three four ', 'five']);
    expect(splitHtml('a\nbbbbbbbbbbbbbbbbbbbbbbbb', small)[0]).toHaveLength(20);
  });

  it('limits the bytes of a message, and unlinks a link text that is too long', () => {
    const many = '<a href="https://example.org/0123456789">x</a>'.repeat(18);
    const parts = splitHtml(many, small);
    expect(parts.every((part) => Buffer.byteLength(part) <= small.bytes)).toBe(true);
    expect(parts.map(toVisibleText).join('')).toBe('x'.repeat(18));
    expect(splitHtml(`<a href="https://example.org/${'y'.repeat(500)}">x</a>`, small)).toEqual(['x']);
  });

  it('returns well-formed messages within the limits that together contain the whole text, for any Markdown', () => {
    const piece = fc.constantFrom(
      '**',
      '*',
      '~~',
      '`',
      '```\n',
      '> ',
      '- ',
      '# ',
      '[a](https://e.org/?a=1&b=2)',
      '\n',
      '\n\n',
      ' ',
      '&',
      '<',
      '"',
      '😀',
      'ü',
      'word',
      'xxxxxxxxxxxxxxxxxxxxxxx',
    );
    const markdown = fc.array(piece, { maxLength: 80 }).map((pieces) => pieces.join(''));
    const check = (): void =>
      fc.assert(
        fc.property(
          fc.oneof(markdown, fc.string({ unit: 'binary', maxLength: 120 })),
          fc.integer({ min: 2, max: 60 }),
          (text, visible) => {
            const html = render(text);
            const parts = splitHtml(html, { visible, bytes: 2_000 });
            for (const part of parts) {
              expect(readTelegramHtml(part)).toBe(toVisibleText(part));
              expect(toVisibleText(part).length).toBeLessThanOrEqual(visible);
            }
            expect(parts.map(toVisibleText).join('')).toBe(toVisibleText(html));
          },
        ),
        { numRuns: 400 },
      );
    expect(check).not.toThrow();
  });
});

describe('splitReply (rules/providers#telegram-sending)', () => {
  it('drops messages without visible text, which Telegram rejects', () => {
    expect(splitReply(`${'a'.repeat(4_096)}${'\n'.repeat(4_100)}b`).map((part) => part.trim().length)).toEqual([
      4_096, 1,
    ]);
  });
});
