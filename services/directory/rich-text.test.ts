import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { richTextTags, sanitizeRichText } from './rich-text.ts';

describe('rich text (D46b)', () => {
  it.each([
    ['<p>Hello <strong>you</strong></p>', '<p>Hello <strong>you</strong></p>'],
    ['<h1>Big</h1><h2 class="x" id="y">Small</h2>', 'Big<h2>Small</h2>'],
    ['<p onclick="steal()">a</p>', '<p>a</p>'],
    ['a<script>steal()</script>b<style>p{}</style>c', 'abc'],
    ['<div><span>kept</span> <textarea>too</textarea> <option>also</option></div>', 'kept too also'],
    ['<a href="https://example.org/x">l</a>', '<a href="https://example.org/x" rel="noopener noreferrer nofollow">l</a>'],
    ['<a href="mailto:a@b.org" target="_blank" rel="opener">l</a>', '<a href="mailto:a@b.org" rel="noopener noreferrer nofollow">l</a>'],
    ['<a href="javascript:steal()">l</a>', '<a>l</a>'],
    ['<a href=" java\nscript:steal()">l</a>', '<a>l</a>'],
    ['<a href="data:text/html,x">l</a><a href="/relative">r</a><a href="//host/x">p</a>', '<a>l</a><a>r</a><a>p</a>'],
    ['<img src=x onerror=steal()>after', 'after'],
    ['<svg><script>steal()</script><text>t</text></svg>', 't'],
    ['1 < 2 & 3 > 2', '1 &lt; 2 &amp; 3 &gt; 2'],
    ['<textarea><img src=x onerror=steal()></textarea>', '&lt;img src=x onerror=steal()&gt;'],
    ['<br><hr><pre><code>x</code></pre>', '<br /><hr /><pre><code>x</code></pre>'],
    ['  plain  ', 'plain'],
  ])('%j becomes %j', (given, wanted) => {
    expect(sanitizeRichText(given)).toBe(wanted);
  });

  // Closed, half open and foreign pieces of markup, in any order: what browsers and parsers read differently.
  const pieces =
    '<p>|</p>|<a href="|">|<script>|</script>|<style>|</style>|<svg>|<math>|<textarea>|</textarea/>|<xmp>|<iframe>|<noscript>|<!--|-->|<![CDATA[|]]>' +
    '|javascript:alert(1)| onerror=x|<img src=x|&lt;|&#106;|<b|/>|<|>|"|\'|&|<li>|<template>|<option>|<plaintext>|\t';
  const piece = fc.oneof(fc.constantFrom(...pieces.split('|')), fc.string({ maxLength: 6 }));
  const markup = fc.array(piece, { maxLength: 25 }).map((pieces) => pieces.join(''));

  it('says the same when it is applied again', () => {
    fc.assert(
      fc.property(markup, (html) => {
        const once = sanitizeRichText(html);
        expect(sanitizeRichText(once)).toBe(once);
      }),
      { numRuns: 1_500 },
    );
  });

  it('lets no element, attribute or address through that is not on the list', () => {
    const element = /<\/?([a-zA-Z][^\s/>]*)([^>]*)>/g;
    fc.assert(
      fc.property(markup, (html) => {
        for (const [, name, attributes = ''] of sanitizeRichText(html).matchAll(element)) {
          expect(richTextTags).toContain(name);
          expect(attributes.trim()).toMatch(/^(\/|(href="(https?:|mailto:)[^"<>]*" rel="noopener noreferrer nofollow")?)$/i);
        }
      }),
      { numRuns: 1_500 },
    );
  });

  it('keeps every character of plain text', () => {
    const unescape = (html: string): string =>
      html.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
    const plain = fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[<&\r]/g, ''));
    fc.assert(fc.property(plain, (text) => expect(unescape(sanitizeRichText(text))).toBe(text.trim())));
  });

  it('writes plain text as it would beside an element', () => {
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
