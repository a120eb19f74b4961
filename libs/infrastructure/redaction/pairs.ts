/**
 * Redacts secrets in texts of unknown format, which it finds by preceding names: URL parameters, form fields, truncated
 * or embedded JSON, headers, and lines such as `Passcode: 123456`. The length of names is limited, and each search
 * continues after the value it found.
 */
import { redactLabels } from './labels.ts';
import { isSecretName, isSecretText } from './names.ts';
import { findClose, findQuote, quoteAt, readAt } from './reading.ts';
import { redacted, replaceSpans } from './shapes.ts';

export function redactPairs(text: string): string {
  return redactLabels(
    redactHeaderLines(redactUsers(redactAssignments(redactQuoted(redactElements(redactEntries(text)))))),
  );
}

/** Redacts a form body. A value ends at the next field and may contain spaces. */
export function redactForm(text: string): string {
  return text.replaceAll(/(?<![^&\n])([^=&\s]{1,200})=([^&\n]+)/g, (pair, name: string, value: string) =>
    isSecretText(decode(name), value.slice(0, 100).split(' ', 1)[0] ?? '') ? `${name}=${redacted}` : pair,
  );
}

const quotedName = /(\\{0,16}["'])([\w.$[\] -]{1,80})\1[ \t\r\n]{0,20}(?::|=>)[ \t\r\n]{0,20}/g;
const scalarAt = /[^\s,;&}\]"'\\]{1,4096}/y;

/** Redacts `"name": value` and `\"name\": value`, also when the value is truncated. */
function redactQuoted(text: string): string {
  return replaceSpans(text, quotedName, (match, from) => {
    const name = match[2] ?? '';
    if (!isSecretName(name)) return undefined;
    const quote = readAt(quoteAt, text, from);
    if (quote !== undefined)
      return spanOf(name, text, from + quote.length, findQuote(text, from + quote.length, quote));
    if (text[from] === '{' || text[from] === '[')
      return holdsText(name, text, from) ? { from, to: findClose(text, from) } : undefined;
    return spanOf(name, text, from, from + (readAt(scalarAt, text, from)?.length ?? 0));
  });
}

/**
 * Returns whether an object or list may contain secrets. With a plural name it must contain a string, since counts are
 * not secrets.
 */
function holdsText(name: string, text: string, from: number): boolean {
  if (!/s$/i.test(name)) return true;
  const start = text.slice(from, from + 500);
  return /[:[]\s{0,20}\\{0,16}["']/.test(start.slice(0, findClose(start, 0)));
}

const entries: readonly RegExp[] = [
  /(\\{0,16}["'])(?:name|key|label|header|field|question|title|type)\1\s{0,20}:\s{0,20}\1([\w -]{1,80})\1\s{0,20},\s{0,20}\1(?:values?|content|answer|text|response)\1\s{0,20}:\s{0,20}\1/g,
  // A pair in a list of pairs, or in parentheses.
  /(?<=[[,]\s{0,20}\[\s{0,20}|\(\s{0,20})(\\{0,16}["'])([\w -]{1,80})\1\s{0,20},\s{0,20}\1/g,
  // Attributes of an XML or HTML element.
  /\b(?:name|key|id)=(\\{0,16}["'])([\w.: -]{1,80})\1\s{1,20}(?:[\w-]{1,40}=\1[\w -]{0,80}\1\s{1,20}){0,4}value=\1/gi,
];

/** Redacts `"name": "Authorization", "value": "…"` and other quoted pairs. */
function redactEntries(text: string): string {
  return entries.reduce(
    (retained, entry) =>
      replaceSpans(retained, entry, ([, quote = '', name = ''], from) =>
        spanOf(name, retained, from, findQuote(retained, from, quote)),
      ),
    text,
  );
}

const element = /<([A-Za-z][\w.:-]{0,79})(?:\s[^<>]{0,400})?>\s{0,100}(?:<!\[CDATA\[)?/g;

/** Redacts `<password>value</password>`. */
function redactElements(text: string): string {
  return replaceSpans(text, element, ([, name = ''], from) => {
    const end = text.indexOf('<', from);
    return spanOf(name.slice(name.lastIndexOf(':') + 1), text, from, end < 0 ? text.length : end);
  });
}

const userOption =
  /(?<=^|[\s'"`])(?:-u|-U|--user|--proxy-user|--auth)(?:[ \t]{1,8}|=)["']?([^\s:"']{1,200}):(?=[^\s"'])/g;
const secretOfUser = /[^\s"']{1,4096}/y;

/** Redacts `curl -u user:password`, but not numeric ids such as `-u 1000:1000`. */
function redactUsers(text: string): string {
  return replaceSpans(text, userOption, ([, user], from) => {
    const secret = readAt(secretOfUser, text, from) ?? '';
    return secret === user || /^[0-9]{1,6}$/.test(secret) || secret.startsWith(redacted)
      ? undefined
      : { from, to: from + secret.length };
  });
}

const assignment = /(^|[?&;#,{([\s"'`|]|%3F|%26|%23)((?:[\w.[\]+-]|%(?!26|23|3[df])[0-9a-f]{2}){1,80})(=|%3D)/gi;
const addressEnd = /[\s&#"'<>]/g;
/** Ends a setting outside a URL. Its value may contain `;`, `,` and `&`, unless the next setting follows. */
const settingEnd = /[\s"'<>]|[;,&](?=[\w .-]{1,40}=)/g;
const encodedEnd = /%26|%23|%22|[\s&#"'<>]/gi;

/** Redacts `name=value` in URLs, in percent-encoded URLs, and in other text. */
function redactAssignments(text: string): string {
  return replaceSpans(text, assignment, (match, from) => {
    const [, before = '', encodedName = '', sign] = match;
    const name = decode(encodedName);
    const isParameter = /^(?:[?&#]|%)/.test(before);
    if (text[from] === '=' || text.startsWith(redacted, from) || !isSecretText(name, 'x', isParameter))
      return undefined;
    const quote = readAt(quoteAt, text, from);
    if (quote !== undefined)
      return spanOf(name, text, from + quote.length, findQuote(text, from + quote.length, quote));
    const end = sign !== '=' ? encodedEnd : isParameter ? addressEnd : settingEnd;
    end.lastIndex = from;
    let to = end.exec(text)?.index ?? text.length;
    if (!isParameter) while (to > from && ',;)]}'.includes(text[to - 1] ?? '')) to--;
    return spanOf(name, text, from, to, isParameter);
  });
}

const header = /(?<![\w-])((?:proxy-)?authorization|(?:set-)?cookie2?|x-[a-z0-9-]{1,60})[ \t]{0,8}:[ \t]{0,8}(["']?)/gi;
/** Finds the end of a header. Quoted parameter values are part of the header and are skipped. */
const headerEnd = /=\\{0,16}"[^"\r\n]{0,4096}"|[\r\n"'`]|\\[rn]/g;

/** Redacts headers. A header ends with its line, or with the quoted text that contains it. */
function redactHeaderLines(text: string): string {
  return replaceSpans(text, header, (match, from) => {
    if (!isSecretName(match[1] ?? '')) return undefined;
    headerEnd.lastIndex = from;
    let end = headerEnd.exec(text);
    while (end?.[0].startsWith('=') === true) end = headerEnd.exec(text);
    return { from, to: end?.index ?? text.length };
  });
}

function spanOf(
  name: string,
  text: string,
  from: number,
  to: number,
  isParameter = false,
): { from: number; to: number } | undefined {
  // The start of the value is enough to recognise a number or a flag.
  const start = text.slice(from, Math.min(to, from + 100));
  return !start.startsWith(redacted) && isSecretText(name, start, isParameter) ? { from, to } : undefined;
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
