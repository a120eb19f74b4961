import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { findContactProblem, findLinkProblem, isWebAddress, richTextTags, sanitizeRichText } from './rules.ts';

const links = [
  'https://example.org',
  'http://user@example.org:8080/a?b=c#d',
  'HTTPS://EXAMPLE.ORG',
  'https://例え.jp/ü',
  'mailto:ada@example.org',
  'MailTo:ada@example.org?subject=x',
  'tel:+49-30-5550101',
];
/** Rejected links: schemes that browsers run or that lead to other programs, and ways to hide such schemes. */
const refused = [
  'javascript:alert(1)',
  ' JaVaScript:alert(1)',
  '\u0001javascript:alert(1)',
  'java\tscript:alert(1)',
  'java\nscript:alert(1)',
  'javascript\r\n:alert(1)',
  `j${'\n'.repeat(1_900)}avascript:alert(1)`,
  'java\u200bscript:alert(1)',
  '\ufeffjavascript:alert(1)',
  'java\u00adscript:alert(1)',
  '\u00a0javascript:alert(1)',
  'ｊａｖａｓｃｒｉｐｔ：alert(1)',
  'javascript :alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:msgbox(1)',
  'blob:https://example.org/1',
  'file:///etc/passwd',
  'ftp://example.org',
  'intent://x#Intent;end',
  'x-custom+1.0:anything',
  'http:',
  'http://',
  'https:///path',
  'https:example.org',
  'https://exa mple.org',
  'https://example.org:99999',
  'https://example.org/\u0007',
  'https://example.org/\n',
  '\u200bhttps://example.org',
  'mailto:',
  'tel: ',
];
const texts = [
  '',
  '@ada',
  '+49 30 5550101',
  'ada@example.org',
  'example.org/ada',
  '//example.org',
  '/path',
  'Main Street 1\n10115 Berlin\t(yard)',
  'half past 5',
  '12:30',
];

describe('findLinkProblem (D72)', () => {
  it.each(links)('accepts the link %j', (value) => expect(findLinkProblem(value)).toBeUndefined());
  it.each([...refused, ...texts])('rejects the link %j', (value) => expect(findLinkProblem(value)).toMatch(/^must /));
});

describe('findContactProblem (D72)', () => {
  it.each([...links, ...texts])('accepts the contact value %j', (value) =>
    expect(findContactProblem(value)).toBeUndefined(),
  );
  it.each([...refused, 'a\u0000b', 'a\u0085b', 'a\u001b[31m'])('rejects the contact value %j', (value) =>
    expect(findContactProblem(value)).toMatch(/^must /),
  );

  it('rejects links that a browser interprets with another scheme, for ignored characters at any position', () => {
    const noise = fc.constantFrom(
      '',
      ' ',
      '\t',
      '\n',
      '\r',
      '\u0000',
      '\u0001',
      '\u200b',
      '\u00a0',
      '\ufeff',
      '\u2028',
    );
    const scheme = fc.constantFrom('javascript', 'JAVASCRIPT', 'data', 'vbscript', 'file', 'unknown');
    const disguised = fc.tuple(scheme, fc.array(noise, { minLength: 14, maxLength: 14 })).map(
      ([word, gaps]) =>
        `${`${word}:`
          .split('')
          .map((letter, index) => (gaps[index] ?? '') + letter)
          .join('')}alert(1)`,
    );
    fc.assert(
      fc.property(
        disguised,
        (value) => findContactProblem(value) !== undefined && findLinkProblem(value) !== undefined,
      ),
    );
  });

  it('rejects every link that `URL` parses with another scheme', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.webUrl()), (value) => {
        const scheme = URL.canParse(value) ? new URL(value).protocol : undefined;
        const isAllowed = scheme === undefined || ['http:', 'https:', 'mailto:', 'tel:'].includes(scheme);
        return isAllowed || findContactProblem(value) !== undefined;
      }),
    );
  });
});

describe('isWebAddress', () => {
  it.each(['https://example.org', 'http://a'])('accepts the web address %j', (value) =>
    expect(isWebAddress(value)).toBe(true),
  );
  it.each(['mailto:a@b.c', '//example.org', 'https://', 'https://a\u0000', 'https://a/\u009f', ' https://a'])(
    'rejects the web address %j',
    (value) => expect(isWebAddress(value)).toBe(false),
  );
});

describe('rich text (D46b)', () => {
  it.each([
    ['<p>Hello <strong>you</strong></p>', '<p>Hello <strong>you</strong></p>'],
    ['<h1>Big</h1><h2 class="x" id="y">Small</h2>', 'Big<h2>Small</h2>'],
    ['<p onclick="steal()">a</p>', '<p>a</p>'],
    ['a<script>steal()</script>b<style>p{}</style>c', 'abc'],
    ['<div><span>kept</span> <textarea>too</textarea> <option>also</option></div>', 'kept too also'],
    [
      '<a href="https://example.org/x">l</a>',
      '<a href="https://example.org/x" rel="noopener noreferrer nofollow">l</a>',
    ],
    [
      '<a href="mailto:a@b.org" target="_blank" rel="opener">l</a>',
      '<a href="mailto:a@b.org" rel="noopener noreferrer nofollow">l</a>',
    ],
    ['<a href="javascript:steal()">l</a>', '<a>l</a>'],
    ['<a href=" java\nscript:steal()">l</a>', '<a>l</a>'],
    ['<a href="data:text/html,x">l</a><a href="/relative">r</a><a href="//host/x">p</a>', '<a>l</a><a>r</a><a>p</a>'],
    ['<img src=x onerror=steal()>after', 'after'],
    ['<svg><script>steal()</script><text>t</text></svg>', 't'],
    ['1 < 2 & 3 > 2', '1 &lt; 2 &amp; 3 &gt; 2'],
    ['<textarea><img src=x onerror=steal()></textarea>', '&lt;img src=x onerror=steal()&gt;'],
    ['<br><hr><pre><code>x</code></pre>', '<br /><hr /><pre><code>x</code></pre>'],
    ['  plain  ', 'plain'],
  ])('sanitises %j to %j', (given, wanted) => {
    expect(sanitizeRichText(given)).toBe(wanted);
  });

  // Closed, half-open and foreign fragments of markup in any order, which browsers and parsers read differently.
  const pieces =
    '<p>|</p>|<a href="|">|<script>|</script>|<style>|</style>|<svg>|<math>|<textarea>|</textarea/>|<xmp>|<iframe>|<noscript>|<!--|-->|<![CDATA[|]]>' +
    '|javascript:alert(1)| onerror=x|<img src=x|&lt;|&#106;|<b|/>|<|>|"|\'|&|<li>|<template>|<option>|<plaintext>|\t';
  const piece = fc.oneof(fc.constantFrom(...pieces.split('|')), fc.string({ maxLength: 6 }));
  const markup = fc.array(piece, { maxLength: 25 }).map((pieces) => pieces.join(''));

  it('does not change rich text that is already sanitised', () => {
    fc.assert(
      fc.property(markup, (html) => {
        const once = sanitizeRichText(html);
        expect(sanitizeRichText(once)).toBe(once);
      }),
      { numRuns: 1_500 },
    );
  });

  it('removes elements, attributes and URLs that are not allowed in rich text', () => {
    const element = /<\/?([a-zA-Z][^\s/>]*)([^>]*)>/g;
    fc.assert(
      fc.property(markup, (html) => {
        for (const [, name, attributes = ''] of sanitizeRichText(html).matchAll(element)) {
          expect(richTextTags).toContain(name);
          expect(attributes.trim()).toMatch(
            /^(\/|(href="(https?:|mailto:)[^"<>]*" rel="noopener noreferrer nofollow")?)$/i,
          );
        }
      }),
      { numRuns: 1_500 },
    );
  });

  it('does not change plain text', () => {
    const unescape = (html: string): string =>
      html.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
    const plain = fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[<&\r]/g, ''));
    fc.assert(fc.property(plain, (text) => expect(unescape(sanitizeRichText(text))).toBe(text.trim())));
  });

  it('sanitises plain text the same way with and without an element after it', () => {
    const end = '<br />';
    fc.assert(
      fc.property(fc.oneof(markup, fc.string({ unit: 'binary' })), (html) => {
        const text = html.replaceAll(/[<>&]/g, '');
        const beside = sanitizeRichText(`${text}${end}`);
        expect(beside.endsWith(end)).toBe(true);
        expect(sanitizeRichText(text)).toBe(beside.slice(0, -end.length).trim());
      }),
      { numRuns: 1_500 },
    );
  });
});
