/**
 * Parses HTML like the Bot API (rules/providers#telegram-html): an unknown tag, wrong nesting or a bare `<` rejects the
 * message.
 */

/** Reason for the rejection, in the Bot API's wording. */
export class HtmlRejectedError extends Error {}

const tags = new Set([
  'b',
  'strong',
  'i',
  'em',
  'u',
  'ins',
  's',
  'strike',
  'del',
  'code',
  'pre',
  'a',
  'blockquote',
  'tg-spoiler',
  'span',
]);
const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };

/** Returns the visible text. @throws HtmlRejectedError */
export function readTelegramHtml(html: string): string {
  const open: string[] = [];
  let visible = '';
  for (let at = 0; at < html.length;) {
    const character = html[at] as string;
    if (character === '&') {
      const [source, name, decimal, hex] = /^&(?:([a-z]+)|#([0-9]+)|#x([0-9a-f]+));/i.exec(html.slice(at, at + 12)) ?? [
        '&',
      ];
      const decoded = decimal === undefined ? (hex === undefined ? entities[name ?? ''] : hex) : decimal;
      if (decoded === undefined) visible += source;
      else
        visible +=
          decimal === undefined && hex === undefined
            ? decoded
            : String.fromCodePoint(Number.parseInt(decoded, hex === undefined ? 10 : 16));
      at += source.length;
      continue;
    }
    if (character !== '<') {
      visible += character;
      at++;
      continue;
    }
    const end = html.indexOf('>', at);
    if (end < 0) throw new HtmlRejectedError(`Can't find end of the tag starting at byte offset ${at}`);
    readTag(html.slice(at + 1, end), at, open);
    at = end + 1;
  }
  const unclosed = open.at(-1);
  if (unclosed !== undefined)
    throw new HtmlRejectedError(`Can't find end tag corresponding to start tag "${unclosed}"`);
  return visible;
}

function readTag(source: string, at: number, open: string[]): void {
  const [, slash, name = '', attributes = ''] =
    /^(\/?)([a-z][a-z0-9-]*)((?:\s+[a-z-]+(?:="[^"<>]*")?)*)\s*$/i.exec(source) ?? [];
  const tag = name.toLowerCase();
  if (!tags.has(tag)) throw new HtmlRejectedError(`Unsupported start tag "${tag}" at byte offset ${at}`);
  if (slash === '/') {
    const expected = open.pop();
    if (expected !== tag)
      throw new HtmlRejectedError(
        `Unmatched end tag at byte offset ${at}, expected "</${expected ?? ''}>", found "</${tag}>"`,
      );
    return;
  }
  if (tag === 'span' && !attributes.includes('tg-spoiler'))
    throw new HtmlRejectedError(`Tag "span" must have class "tg-spoiler"`);
  if (tag === 'blockquote' && open.includes('blockquote'))
    throw new HtmlRejectedError(`Nested blockquote at byte offset ${at}`);
  open.push(tag);
}

/** Tags of the HTML subset in chats (rules/providers#telegram-html). Unlike in browsers, errors are not repaired. */

const allowedTags = new Set(['a', 'b', 'i', 's', 'code', 'pre', 'blockquote']);
const allowedAttributes: Readonly<Record<string, RegExp>> = {
  a: /^ href="(https?:\/\/|mailto:|tg:\/\/)/i,
  code: /^( class="language-[\w+#.-]+")?$/,
};

/**
 * Returns the first problem of the HTML; undefined when it is valid. Every tag must be known, correctly nested and
 * closed, attributes must be allowed for the tag, and bare `<`, `>` or `&` are not allowed.
 */
export function findHtmlProblem(html: string): string | undefined {
  const open: string[] = [];
  const pattern = /<(\/?)([a-z]+)((?: [a-z]+="[^"<>]*")?)>|([^<>]+)/gy;
  let end = 0;
  for (const match of html.matchAll(pattern)) {
    end = match.index + match[0].length;
    const [, slash, tag = '', attribute = '', text] = match;
    if (text !== undefined) {
      if (text.replaceAll(/&(?:lt|gt|amp|quot);/g, '').includes('&')) return `bare & in ${text}`;
    } else if (slash === '/') {
      if (open.pop() !== tag) return `</${tag}> closes another tag`;
    } else {
      if (!allowedTags.has(tag) || open.includes(tag)) return `<${tag}> is not allowed here`;
      if (!(allowedAttributes[tag] ?? /^$/).test(attribute)) return `attribute ${attribute} of <${tag}>`;
      open.push(tag);
    }
  }
  if (end !== html.length) return `no tag and no text at ${end}`;
  return open.length === 0 ? undefined : `<${open.join('> <')}> stays open`;
}
