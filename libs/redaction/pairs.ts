/**
 * Secrets in texts of no known format, by the names before them: parameters of addresses, form fields, JSON that is cut or stands among other
 * words, headers, and lines such as `Passcode: 123456`. Names are bounded, and each search goes on behind the value that it has found.
 */
import { isSecretName, isSecretText } from './names.ts';
import { looksRandom, redacted, replaceSpans } from './shapes.ts';

export function redactPairs(text: string): string {
  return redactLabels(redactHeaderLines(redactAssignments(redactQuoted(redactEntries(text)))));
}

/** A form body: a value goes up to the next field, spaces included. */
export function redactForm(text: string): string {
  return text.replaceAll(/(?<![^&\n])([^=&\s]{1,200})=([^&\n]+)/g, (pair, name: string, value: string) =>
    isSecretText(decode(name), value.slice(0, 100).split(' ', 1)[0] ?? '') ? `${name}=${redacted}` : pair,
  );
}

const quoteAt = /\\{0,16}["']/y;
const quotedName = /(\\{0,16}["'])([\w.$[\] -]{1,80})\1[ \t\r\n]{0,20}:[ \t\r\n]{0,20}/g;
const scalarAt = /[^\s,;&}\]"'\\]{1,4096}/y;

/** `"name": value` and `\"name\": value`, the value being cut or not. */
function redactQuoted(text: string): string {
  return replaceSpans(text, quotedName, (match, from) => {
    const name = match[2] ?? '';
    if (!isSecretName(name)) return undefined;
    const quote = readAt(quoteAt, text, from);
    if (quote !== undefined) return spanOf(name, text, from + quote.length, findQuote(text, from + quote.length, quote));
    if (text[from] === '{' || text[from] === '[') return holdsText(name, text, from) ? { from, to: findClose(text, from) } : undefined;
    return spanOf(name, text, from, from + (readAt(scalarAt, text, from)?.length ?? 0));
  });
}

/** Counts of a plural are no secret; how they begin tells them. */
function holdsText(name: string, text: string, from: number): boolean {
  if (!/s$/i.test(name)) return true;
  const start = text.slice(from, from + 500);
  return /[:[]\s{0,20}\\{0,16}["']/.test(start.slice(0, findClose(start, 0)));
}

const entry =
  /(\\{0,16}["'])(?:name|key|label|header|field)\1\s{0,20}:\s{0,20}\1([\w -]{1,80})\1\s{0,20},\s{0,20}\1(?:values?|content|answer)\1\s{0,20}:\s{0,20}\1/g;

/** `"name": "Authorization", "value": "…"` */
function redactEntries(text: string): string {
  return replaceSpans(text, entry, ([, quote = '', name = ''], from) => spanOf(name, text, from, findQuote(text, from, quote)));
}

const assignment = /(^|[?&;#,{([\s"'`|]|%3F|%26|%23)((?:[\w.[\]+-]|%(?!26|23|3[df])[0-9a-f]{2}){1,80})(=|%3D)/gi;
const addressEnd = /[\s&#"'<>]/g;
const encodedEnd = /%26|%23|%22|[\s&#"'<>]/gi;

/** `name=value`, in addresses, percent-encoded addresses, and elsewhere. */
function redactAssignments(text: string): string {
  return replaceSpans(text, assignment, (match, from) => {
    const [, before = '', encodedName = '', sign] = match;
    const name = decode(encodedName);
    const isParameter = /^(?:[?&#]|%)/.test(before);
    if (text[from] === '=' || text.startsWith(redacted, from) || !isSecretText(name, 'x', isParameter)) return undefined;
    const quote = readAt(quoteAt, text, from);
    if (quote !== undefined) return spanOf(name, text, from + quote.length, findQuote(text, from + quote.length, quote));
    const end = sign === '=' ? addressEnd : encodedEnd;
    end.lastIndex = from;
    let to = end.exec(text)?.index ?? text.length;
    if (!isParameter) while (to > from && ',;)]}'.includes(text[to - 1] ?? '')) to--;
    return spanOf(name, text, from, to, isParameter);
  });
}

const header = /(?<![\w-])((?:proxy-)?authorization|(?:set-)?cookie2?|x-[a-z0-9-]{1,60})[ \t]{0,8}:[ \t]{0,8}["']?/gi;
const lineEnd = /[\r\n"'`]|\\[rn]/g;

/** A header goes to the end of its line. */
function redactHeaderLines(text: string): string {
  return replaceSpans(text, header, (match, from) => {
    if (!isSecretName(match[1] ?? '')) return undefined;
    lineEnd.lastIndex = from;
    return { from, to: lineEnd.exec(text)?.index ?? text.length };
  });
}

const label =
  /(password|passwd|passwort|passcode|passphrase|kennwort|kenncode|mot de passe|contrase\u00f1a|senha|secret|token|credential|(?:api|access|private|signing|client|secret|shared)[ _-]?key|(?<![A-Za-z0-9])(?:pin|pwd|otp)|[a-z](?=P)Pin|(?:access|security|verification|login|one-time|pin)[ _-]code)( is |[ \t]{0,4}[:=][ \t]{0,8})/gi;
const labelled = /[^\s,;"'<>)}\]]{1,512}/y;
const isPassword = /^(?:pass|kenn|mot|contra|senha|pwd|pin|otp)/i;
/** What is said of a secret in its place. */
const plainValues: ReadonlySet<string> = new Set(
  'true false null none undefined yes no must required missing invalid incorrect wrong expired changed unset empty optional needed reset unknown set not is was has the a an and or for of too'.split(
    ' ',
  ),
);

/** `Name: value` among words. */
function redactLabels(text: string): string {
  return replaceSpans(text, label, (match, from) => {
    const [, name = '', separator = ''] = match;
    const quote = readAt(quoteAt, text, from);
    if (quote !== undefined) return spanOf(name, text, from + quote.length, findQuote(text, from + quote.length, quote));
    let to = from + (readAt(labelled, text, from)?.length ?? 0);
    while (to > from && '.!?:'.includes(text[to - 1] ?? '')) to--;
    const value = text.slice(from, to);
    return isLabelledSecret(name, value, separator !== ' is ' && /^[.!?]?(?:[\r\n]|$)/.test(text.slice(to, to + 2)))
      ? { from, to }
      : undefined;
  });
}

/** A word of letters alone may be part of a sentence: it is a password when nothing follows it on its line. */
function isLabelledSecret(name: string, value: string, isLast: boolean): boolean {
  if (value === '' || value.startsWith('[') || value.startsWith('//') || plainValues.has(value.toLowerCase())) return false;
  if (/^[0-9]+$/.test(value)) return isPassword.test(name) || value.length >= 6 || /code$/i.test(name);
  return looksRandom(value) || /[^A-Za-z'-]/.test(value) || (isLast && isPassword.test(name));
}

function spanOf(name: string, text: string, from: number, to: number, isParameter = false): { from: number; to: number } | undefined {
  // No more of a value is looked at than tells a number or a flag.
  const start = text.slice(from, Math.min(to, from + 100));
  return !start.startsWith(redacted) && isSecretText(name, start, isParameter) ? { from, to } : undefined;
}

function readAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** Index of the closing quote, which has as many backslashes before it as the opening one; the text's end when it is cut. */
function findQuote(text: string, from: number, quote: string): number {
  const sign = quote.at(-1) ?? '';
  const wanted = quote.length - 1;
  for (let at = text.indexOf(sign, from); at >= 0; at = text.indexOf(sign, at + 1)) {
    let slashes = 0;
    while (at - slashes > from && text[at - slashes - 1] === '\\') slashes++;
    if (wanted === 0 ? slashes % 2 === 0 : slashes === wanted) return at - wanted;
  }
  return text.length;
}

/** Behind the bracket that closes the one at `from`; the text's end when it is cut. */
function findClose(text: string, from: number): number {
  const brackets = /[{}[\]]/g;
  brackets.lastIndex = from;
  let depth = 0;
  for (let match = brackets.exec(text); match !== null; match = brackets.exec(text)) {
    depth += match[0] === '{' || match[0] === '[' ? 1 : -1;
    if (depth === 0) return brackets.lastIndex;
  }
  return text.length;
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
