import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { findHtmlProblem } from '#libs/product/testing';
import { createMessagingHtml, toVisibleText } from './messaging-html.ts';

const { render } = createMessagingHtml();

describe('messaging-safe HTML (rules/agents#visitor-chat; rules/providers#telegram-html)', () => {
  const cases: [string, string, string][] = [
    [
      'emphasis',
      '**bold** and *italic*, ~~gone~~ `x<y`',
      '<b>bold</b> and <i>italic</i>, <s>gone</s> <code>x&lt;y</code>',
    ],
    ['nested emphasis', '**a *b* c**', '<b>a <i>b</i> c</b>'],
    ['code inside bold, which takes no other mark', '**a `b` c**', '<b>a </b><code>b</code><b> c</b>'],
    ['links', '[site](https://example.org/?a=1&b=2)', '<a href="https://example.org/?a=1&amp;b=2">site</a>'],
    ['code as a link’s text', '[`x`](https://example.org)', '<a href="https://example.org">x</a>'],
    ['links without text', '[](https://example.org/)', '<a href="https://example.org/">https://example.org/</a>'],
    ['relative links as their text', '[here](/docs)', 'here'],
    ['images as links', '![a map](https://example.org/m.png)', '<a href="https://example.org/m.png">a map</a>'],
    [
      'HTML as text',
      '<script>alert(1)</script> <b>x</b>',
      '&lt;script&gt;alert(1)&lt;/script&gt; &lt;b&gt;x&lt;/b&gt;',
    ],
    ['headings', '# Title\n\ntext', '<b>Title</b>\n\ntext'],
    ['paragraphs and line breaks', 'a\nb  \nc\n\nd', 'a\nb\nc\n\nd'],
    ['lists', 'x\n\n- a\n- b\n  1. c\n  2. d', 'x\n\n• a\n• b\n  1. c\n  2. d'],
    ['a list that starts elsewhere', '7. a\n8. b', '7. a\n8. b'],
    ['quotes', '> a\n> b\n\nc', '<blockquote>a\nb</blockquote>\n\nc'],
    ['quotes in quotes, which do not nest', '> a\n>\n> > b', '<blockquote>a\n\nb</blockquote>'],
    ['code blocks', '```js\nif (a < b) {}\n```', '<pre><code class="language-js">if (a &lt; b) {}</code></pre>'],
    ['what stands beside the language of a code block', '```js title\nx\n```', '<pre>js title\nx</pre>'],
    ['a code block of nothing but its first line', '```漢', '<pre>漢</pre>'],
    ['indented code', '    a\n    b', '<pre>a\nb</pre>'],
    ['tables', '| a | b |\n|---|---|\n| 1 | *2* |', '<pre>a | b\n1 | 2</pre>'],
    ['rules', 'a\n\n---\n\nb', 'a\n\n———\n\nb'],
    [
      'reference definitions as text',
      '[x]: https://example.org',
      '[x]: <a href="https://example.org">https://example.org</a>',
    ],
    ['a lone quote mark', '>', '&gt;'],
    ['entities', 'a &amp; b &copy;', 'a &amp; b ©'],
  ];
  for (const [what, markdown, html] of cases) {
    it(`renders ${what}`, () => {
      expect(render(markdown)).toBe(html);
    });
  }

  const link = (url: string): string => `<a href="${url.replaceAll('&', '&amp;')}">${url.replaceAll('&', '&amp;')}</a>`;
  it.each([
    ['https://example.org/a_b_c', link('https://example.org/a_b_c')],
    ['https://example.org/*a*/~~b~~/__c__/d', link('https://example.org/*a*/~~b~~/__c__/d')],
    ['https://example.org/`a`/b', '<a href="https://example.org/%60a%60/b">https://example.org/`a`/b</a>'],
    ['See HTTP://example.org/?a=1&b_c=2_3#x_y!', `See ${link('HTTP://example.org/?a=1&b_c=2_3#x_y')}!`],
    ['mailto:ada_lovelace_1@example.org?subject=a_b_c.', `${link('mailto:ada_lovelace_1@example.org?subject=a_b_c')}.`],
    ['**https://example.org/a_b**', `<a href="https://example.org/a_b"><b>https://example.org/a_b</b></a>`],
    [
      '_see https://example.org/a_b_',
      '<i>see </i><a href="https://example.org/a_b"><i>https://example.org/a_b</i></a>',
    ],
    ['~~https://example.org/~a~~', '<a href="https://example.org/~a"><s>https://example.org/~a</s></a>'],
    ['(https://example.org/a_(b_c))', `(${link('https://example.org/a_(b_c)')})`],
    [
      '"https://example.org/a_b", https://example.org/c_d; e',
      `"${link('https://example.org/a_b')}", ${link('https://example.org/c_d')}; e`,
    ],
    ['[https://example.org/a_b]', `[${link('https://example.org/a_b')}]`],
    ['http://[::1]:80/a_b_', `${link('http://[::1]:80/a_b')}_`],
    ['（https://example.org/a_b）。', `（${link('https://example.org/a_b')}）。`],
    ['https://example.org/ä_ö_ü', '<a href="https://example.org/%C3%A4_%C3%B6_%C3%BC">https://example.org/ä_ö_ü</a>'],
    ['https://example.org/a\\_b\\_c?d&amp;e', link('https://example.org/a_b_c?d&e')],
    ['- https://example.org/a_b_c', `• ${link('https://example.org/a_b_c')}`],
    [
      '[https://example.org/a_b_c](https://example.com/d_e_f)',
      '<a href="https://example.com/d_e_f">https://example.org/a_b_c</a>',
    ],
    ['`https://example.org/a_b_c`', '<code>https://example.org/a_b_c</code>'],
    [
      'xhttps://example.org/_a_ https:// http:/x mailto:nobody ftp://example.org',
      'xhttps://example.org/<i>a</i> https:// http:/x mailto:nobody ftp://example.org',
    ],
    ['<https://example.org/a_b_c>', link('https://example.org/a_b_c')],
    [
      'https://example.org/a_b\nhttps://example.org/c_d',
      `${link('https://example.org/a_b')}\n${link('https://example.org/c_d')}`,
    ],
  ])('links a bare address and displays it unchanged: %s (D88)', (markdown, html) => {
    expect(render(markdown)).toBe(html);
  });

  it('finds addresses in a text in linear time', () => {
    for (const text of [
      'http://',
      'http://a',
      'https://a.b/(',
      'mailto:',
      'mailto:a@b',
      '[http://a',
      'http://a]',
      'http://a._',
      'http:',
      'http://a**',
      'http://[',
      'http://:',
      'http://a%',
    ]) {
      const before = process.cpuUsage();
      render(text.repeat(100_000 / text.length));
      expect([text, process.cpuUsage(before).user < 3_000_000]).toEqual([text, true]);
    }
  });

  it('does not link URLs with dangerous schemes', () => {
    for (const target of [
      'javascript:alert(1)',
      'JaVaScRiPt:alert(1)',
      'data:text/html,x',
      'vbscript:x',
      'file:///etc',
      ' javascript:x',
      'java\tscript:x',
    ]) {
      for (const markdown of [`[x](${target})`, `[x](<${target}>)`, `![x](${target})`, `<${target}>`]) {
        const html = render(markdown);
        expect(html).not.toMatch(/<a /);
        expect(toVisibleText(html)).toContain(markdown.startsWith('<') ? target.trim() : 'x');
      }
    }
  });

  it('returns the text of Markdown that is nested too deeply', () => {
    const html = render(`${'>'.repeat(500)} deep`);
    expect(toVisibleText(html)).toContain('deep');
    expectWellFormed(html);
  });

  const pieces = [
    '*',
    '_',
    '[',
    '`',
    '>',
    '- ',
    '![',
    '](',
    '~~',
    '<',
    '&',
    '**a*',
    '|-',
    '[a](b',
    '\\',
    '&#',
    '<b>',
    '> - ',
    '😀',
  ];
  it.each(pieces)('renders many repetitions of %j as well-formed HTML', (piece) => {
    expectWellFormed(render(piece.repeat(Math.floor(16_384 / piece.length))));
  });

  const longText = 16_384;
  const bombs: [string, string][] = [
    ['tables whose rows leave most cells out', `${'|a'.repeat(200)}\n${'|-'.repeat(200)}\n${'a\n'.repeat(320)}\n`],
    ['the same in a quote', `> ${'|a'.repeat(200)}\n> ${'|-'.repeat(200)}\n${'> a\n'.repeat(320)}\n`],
    ['lists of lists of lists', `${'- '.repeat(19)}a\n`],
    ['numbers that grow', '1. 999999999. a\n'],
    ['code blocks of nothing', '```a\n```\n'],
    ['quotes that end at once', '> a\n\nb\n\n'],
    ['characters that are written as entities', '&'],
  ];
  it.each(bombs)('limits the size of the HTML relative to the source: %s', (_what, piece) => {
    const source = piece.repeat(Math.ceil(longText / piece.length));
    const html = render(source);
    expect(html.length).toBeLessThanOrEqual(8 * (source.length + 100));
    expectWellFormed(html);
  });

  it('renders a table whose rows have most of their cells, and otherwise displays its source', () => {
    const table = (row: string): string => `|a|b|c|d|\n|-|-|-|-|\n${`${row}\n`.repeat(30)}`;
    expect(render(table('|1|2|3|'))).toMatch(/^<pre>a \| b \| c \| d\n1 \| 2 \| 3 \| \n/);
    expect(render(table('1'))).toMatch(/^\|a\|b\|c\|d\|\n/);
  });

  const word = fc.stringMatching(/^[a-z0-9äöü]{1,8}$/);
  const markup = fc.constantFrom(
    '*',
    '**',
    '_',
    '~~',
    '`',
    '```',
    '\n',
    '\n\n',
    '> ',
    '- ',
    '1. ',
    '# ',
    '[',
    '](',
    ')',
    '![',
    '<',
    '>',
    '&',
    '"',
    '    ',
    '|',
    '---',
    '\\',
    'https://e.org',
    'javascript:',
    '&lt;',
    '&#60;',
    '</b>',
    '<b>',
    '\t',
    '  \n',
    '😀',
    '\u202e',
    '\u0007',
  );
  const markdown = fc.array(fc.oneof(word, markup), { maxLength: 60 }).map((parts) => parts.join(''));

  it('renders any input as well-formed HTML with allowed tags only', () => {
    const input = fc.oneof(markdown, fc.string({ unit: 'binary', maxLength: 200 }));
    const check = (): void =>
      fc.assert(
        fc.property(input, (text) => expectWellFormed(render(text))),
        { numRuns: 500 },
      );
    expect(check).not.toThrow();
  });

  it('links any input only to http, https, mailto and tg URLs', () => {
    const scheme = fc.constantFrom(
      'javascript:',
      'JAVASCRIPT:',
      'java\tscript:',
      'data:text/html,',
      'vbscript:',
      'file:///',
      'https://',
      'mailto:',
      '//',
      '',
    );
    const noise = fc.constantFrom(
      '',
      ' ',
      '\t',
      '\u0000',
      '\u00a0',
      '\u200b',
      '&#106;',
      '&colon;',
      '%6A',
      '\\',
      '"',
      "'",
      '<',
      '>',
      '\n',
    );
    const target = fc
      .tuple(noise, scheme, noise, fc.string({ unit: 'binary', maxLength: 12 }))
      .map((parts) => parts.join(''));
    const shape = fc.constantFrom<(text: string, target: string) => string>(
      (text, target) => `[${text}](${target})`,
      (text, target) => `[${text}](<${target}>)`,
      (text, target) => `![${text}](${target} "${text}")`,
      (_text, target) => `<${target}>`,
      (text, target) => `[${text}][1]\n\n[1]: ${target}`,
      (text, target) => `<a href="${target}">${text}</a>`,
      (text, target) => `[![${text}](${target})](${target})`,
    );
    const property = fc.property(shape, word, target, (write, text, address) => {
      const html = render(`before ${write(text, address)} after`);
      expectWellFormed(html);
      expect(html).not.toMatch(/<[^>]*(?:javascript|vbscript|data|file):/i);
    });
    fc.assert(property, { numRuns: 1_000 });
  });

  it('preserves every visible character in order, for any markup', () => {
    const letters = fc.stringMatching(/^[a-zäöüж漢]{1,8}$/);
    const mark = fc.constantFrom(
      '*',
      '**',
      '_',
      '~~',
      '`',
      '```',
      '\n',
      '\n\n',
      '> ',
      '- ',
      '1. ',
      '# ',
      '    ',
      '| ',
      '---',
      '\t',
      '  \n',
      ' ',
      '[',
      ')',
      '!',
      '~~~',
      '\n|-|-|\n',
    );
    const property = fc.property(fc.array(fc.oneof(letters, mark), { maxLength: 60 }), (parts) => {
      const text = parts.join('');
      const lettersOf = (value: string): string => value.replaceAll(/[^\p{L}]/gu, '');
      // The class of a code block contains its language.
      const visible = toVisibleText(render(text).replaceAll(/<code class="language-([^"]*)">/g, '$1'));
      if (lettersOf(visible) !== lettersOf(text))
        throw new Error(`${JSON.stringify(text)} is shown as ${JSON.stringify(visible)}`);
    });
    expect(() => fc.assert(property, { numRuns: 1_000 })).not.toThrow();
  });

  it('replaces unpaired surrogates in HTML', () => {
    for (const text of ['a\ud83d b', '*\ude00*', '```\ud83d\n\ude00\n```', '[\ud83d](https://example.org/\ud83d)']) {
      expect(render(text).isWellFormed()).toBe(true);
    }
  });

  it('preserves every word of text with emphasis, lists, quotes and headings', () => {
    const letters = fc.stringMatching(/^[a-zäöü]{1,8}$/);
    const decorated = fc
      .tuple(letters, fc.constantFrom('', '*', '**', '~~', '`'))
      .map(([text, mark]) => `${mark}${text}${mark}`);
    const line = fc
      .tuple(fc.constantFrom('', '- ', '> ', '# ', '1. ', '  - '), fc.array(decorated, { minLength: 1, maxLength: 6 }))
      .map(([start, words]) => start + words.join(' '));
    const property = fc.property(fc.array(line, { minLength: 1, maxLength: 8 }), (lines) => {
      const visible = toVisibleText(render(lines.join('\n')));
      const words = lines.flatMap((text) => text.match(/[a-zäöü]+/g) ?? []);
      let position = 0;
      for (const item of words) {
        const found = visible.indexOf(item, position);
        expect(found).toBeGreaterThanOrEqual(0);
        position = found + item.length;
      }
    });
    fc.assert(property, { numRuns: 1_000 });
  });
});

function expectWellFormed(html: string): void {
  expect(findHtmlProblem(html)).toBeUndefined();
}
