import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { findHtmlProblem } from '#libs/product/testing';
import { createMessagingHtml, toVisibleText } from './messaging-html.ts';

/** Number of generated answers. Each is tested in all prefixes; CHAT_ANSWERS=10000 for a longer run. */
const answers = Number(process.env['CHAT_ANSWERS'] ?? 100);
const { render, renderUnfinished } = createMessagingHtml();
const visible = (html: string): string => toVisibleText(html).replaceAll(/\s+/g, ' ').trim();

describe('rendering of unfinished Markdown (C1)', () => {
  const cases: [string, string, string][] = [
    ['open bold', 'so **very imp', 'so <b>very imp</b>'],
    ['half a sign that closes bold', 'so **very*', 'so <b>very</b>'],
    ['bold that has just begun', 'so **', 'so'],
    ['open emphasis of both kinds', '***both', '<b><i>both</i></b>'],
    ['open emphasis in open emphasis', '**a *b', '<b>a <i>b</i></b>'],
    ['text struck through', 'it is ~~gon', 'it is <s>gon</s>'],
    ['half a sign of text struck through', 'it is ~~gone~', 'it is <s>gone</s>'],
    ['a star that multiplies', '2*3 and 4 * 5', '2*3 and 4 * 5'],
    ['an underscore in a word', 'snake_ca', 'snake_ca'],
    ['open code', 'run `npm sta', 'run <code>npm sta</code>'],
    ['open code with a sign in it', 'run ``a ` b', 'run <code>a ` b</code>'],
    ['code that has just begun', 'run `', 'run'],
    ['the words of a link to come', 'see [the **gui', 'see the <b>gui</b>'],
    ['a link without its target', 'see [the guide](https://exam', 'see the guide'],
    ['a link that may have no target', 'see [the guide]', 'see the guide'],
    ['a link', 'see [the guide](https://example.org/)', 'see <a href="https://example.org/">the guide</a>'],
    ['brackets that are no link', 'see [1] there', 'see [1] there'],
    ['a picture without its address', '![a ma', 'a ma'],
    ['the sign of a picture to come', 'look !', 'look'],
    ['an open address', 'at <https://exam', 'at https://exam'],
    ['an address that may go on', 'at https://example.org/a_b_c', 'at https://example.org/a_b_c'],
    ['an address that may go on, in open bold', 'at **https://example.org/a_b_', 'at <b>https://example.org/a_b</b>'],
    [
      'an address',
      'at https://example.org/a_b_c now',
      'at <a href="https://example.org/a_b_c">https://example.org/a_b_c</a> now',
    ],
    ['half an entity', 'you &am', 'you'],
    ['half a character', 'well \ud83d', 'well'],
    ['half an escape', 'a \\', 'a'],
    ['a bullet that may be a rule', '- one\n-', '• one'],
    ['a number that may count', '1. one\n2', '1. one'],
    ['a heading that has just begun', 'text\n\n##', 'text'],
    ['a line below words that may make them a heading', 'words\n--', 'words'],
    ['an open code block', '```js\nlet a = 1;\nlet b', '<pre><code class="language-js">let a = 1;\nlet b</code></pre>'],
    ['a code block with half its language', 'so:\n\n```j', 'so:'],
    ['a code block with half of its end', '```js\nlet a;\n``', '<pre><code class="language-js">let a;</code></pre>'],
    ['the head of a table', '| a | **b', '<pre>a | b</pre>'],
    ['a table with half its second line', '| a | b |\n|--', '<pre>a | b</pre>'],
    ['a table with half a row', '| a | b |\n|---|---|\n| 1 ', '<pre>a | b\n1</pre>'],
    ['a quote', '> so it *is', '<blockquote>so it <i>is</i></blockquote>'],
    ['HTML', '<script>alert(1', '&lt;script&gt;alert(1'],
  ];
  it.each(cases)('renders unfinished markup: %s', (_what, markdown, html) => {
    expect(renderUnfinished(markdown)).toBe(html);
  });

  it('renders text before the unfinished end like complete Markdown', () => {
    for (const markdown of ['**open\n\nnext', '[open\n\nnext', '`open\n\nnext', '| a | b\n\nnext']) {
      expect(renderUnfinished(markdown)).toBe(render(markdown));
    }
  });

  const word = fc.stringMatching(/^[a-zäöü漢😀]{1,7}$/u);
  const words = fc.array(word, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(' '));
  const piece = fc.oneof(
    words,
    words.map((text) => `**${text}**`),
    words.map((text) => `*${text}*`),
    words.map((text) => `~~${text}~~`),
    words.map((text) => `\`${text}\``),
    fc.tuple(words, words).map(([text, inner]) => `**${text} *${inner}***`),
    fc.tuple(words, word).map(([text, path]) => `[${text}](https://example.org/${encodeURIComponent(path)})`),
    words.map((text) => `[**${text}**](https://example.org "${text}")`),
    words.map((text) => `![${text}](https://example.org/p.png)`),
    fc.constantFrom('<https://example.org/a>', 'AT&amp;T', 'a < b', '2 * 3', 'snake_case', '\\*', '[1] and', '42.'),
  );
  const line = fc.array(piece, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(' '));
  const lines = fc.array(line, { minLength: 1, maxLength: 3 });
  const block = fc.oneof(
    lines.map((rows) => rows.join('\n')),
    line.map((text) => `## ${text}`),
    lines.map((rows) => rows.map((text) => `- ${text}`).join('\n')),
    lines.map((rows) => rows.map((text, index) => `${index + 1}. ${text}`).join('\n')),
    fc.tuple(lines, line).map(([rows, inner]) => rows.map((text) => `- ${text}\n  - ${inner}`).join('\n')),
    lines.map((rows) => rows.map((text) => `> ${text}`).join('\n')),
    lines.map((rows) => `\`\`\`ts\n${rows.join('\n')}\n\`\`\``),
    fc
      .array(fc.tuple(words, words, words), { minLength: 2, maxLength: 4 })
      .map(([head = [], ...rows]) =>
        [head, ['---', ':-:', '--'], ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n'),
      ),
    fc.constant('---'),
  );
  const answer = fc.array(block, { minLength: 1, maxLength: 3 }).map((blocks) => blocks.join('\n\n'));

  function checkPrefixes(text: string, check: (html: string) => string | undefined): void {
    for (let length = 0; length <= text.length; length++) {
      const flaw = check(renderUnfinished(text.slice(0, length)));
      if (flaw !== undefined) throw new Error(`${JSON.stringify(text.slice(0, length))}: ${flaw}`);
    }
  }

  it('renders every prefix of a reply as well-formed HTML, only appends text, and ends with the complete reply', () => {
    const property = fc.property(answer, (text) => {
      let shown = '';
      checkPrefixes(text, (html) => {
        const before = shown;
        shown = visible(html);
        return findHtmlProblem(html) ?? (shown.startsWith(before) ? undefined : `shows ${shown} after ${before}`);
      });
      // Trailing markup lines and numbers are ambiguous until the end of the text, so only the `done` event contains
      // them.
      const whole = visible(render(text));
      const [lastLine = ''] = text
        .replace(/\n```$/, '')
        .split('\n')
        .slice(-1);
      if (/[^\s\d>.+*-]/.test(lastLine)) expect(renderUnfinished(text)).toBe(render(text));
      else
        expect([shown, whole.slice(shown.length)]).toEqual([
          whole.slice(0, shown.length),
          expect.stringMatching(/^[\s\d—•.]*$/),
        ]);
    });
    fc.assert(property, { numRuns: answers });
  });

  it('renders every prefix of any text as well-formed and safe HTML', () => {
    const signs = '* ** _ ~~ ` ``` [ ]( ) ![ < > & " | --- \\ https:// javascript: &lt; </b> <b> # - 1. :'.split(' ');
    const anything = fc.oneof(
      word,
      fc.constantFrom(...signs, '\n', '\n\n', ' ', '    ', '\t', '\u202e', '\0'),
      fc.string({ unit: 'binary' }),
    );
    const property = fc.property(fc.array(anything, { maxLength: 40 }), (parts) => {
      checkPrefixes(parts.join(''), findHtmlProblem);
    });
    fc.assert(property, { numRuns: answers });
  });

  it.each(['[', '![', '[a](', '`a', '``', '**a ', '*a _b ', '| a ', '<h', '~~a ', '&a'])(
    'renders many repetitions of %j in linear time',
    (sign) => {
      expect(findHtmlProblem(renderUnfinished(sign.repeat(Math.floor(20_000 / sign.length))))).toBeUndefined();
    },
  );

  it('renders unclosed code with many backticks in linear time', () => {
    const startedAt = performance.now();
    expect(renderUnfinished(`\`a ${'`'.repeat(100_000)} b`)).toMatch(/^<code>a `+ b<\/code>$/);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});
