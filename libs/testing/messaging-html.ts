/** HTML as the chat promises it (rules/providers#telegram-html), read strictly: no parser of browsers mends anything here. */

const allowedTags = new Set(['a', 'b', 'i', 's', 'code', 'pre', 'blockquote']);
const allowedAttributes: Readonly<Record<string, RegExp>> = {
  a: /^ href="(https?:\/\/|mailto:|tg:\/\/)/i,
  code: /^( class="language-[\w+#.-]+")?$/,
};

/** A small strict reader: every tag known, attributes only where allowed, all tags nested and closed, no bare `<`, `>` or `&`. */
export function findMessagingFlaw(html: string): string | undefined {
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
