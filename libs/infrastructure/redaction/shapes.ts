/**
 * Redacts secrets that are recognised by their shape anywhere in a text. No match attempt starts inside text that
 * another attempt has read, so that each expression reads a long text only once.
 */
import { dialled, secretPaths, tokens } from './tokens.ts';

export const redacted = '[redacted]';

const privateKeyBegin = /-----BEGIN [0-9A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const privateKeyEnd = /-----END [0-9A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const userInfo = /(:(?:\\?\/){2})[^\s/?#"'<>]{1,500}@/g;
const scheme = /\b(Bearer|Basic|Token|Digest|Negotiate|Api-?Key)([ \t]{1,8}|%20)([0-9A-Za-z._~+/=:-]{6,})/gi;

/** Redacts secrets recognised by their shape. */
export function redactShapes(text: string): string {
  let retained = replaceSpans(text, privateKeyBegin, ({ index }, from) => ({
    from: index,
    to: findPrivateKeyEnd(text, from),
  }));
  retained = retained.replace(tokens, redacted).replace(userInfo, `$1${redacted}@`).replace(dialled, `$1${redacted}`);
  for (const path of secretPaths) retained = retained.replace(path, `$1${redacted}`);
  retained = redactParameters(retained);
  return retained.replace(scheme, (whole, name: string, space: string, credential: string) =>
    isCredential(name.toLowerCase(), credential) ? `${name}${space}${redacted}` : whole,
  );
}

/**
 * Authentication scheme before parameters. A server challenge such as `Bearer realm="x"` contains no secret, and
 * unquoted parameters may be prose.
 */
const schemeOfParameters =
  /\b(?:(?:Digest|OAuth|Hawk|AWS4-HMAC-SHA256)[ \t]{1,8}(?=[\w-]{1,60}[ \t]{0,4}=[ \t]{0,4}(?:\\{0,16}"|[^\s,"'=]{1,500},))|(?:Signature|HMAC(?:-SHA256)?|MAC|Bearer|Token|GNAP|DPoP)[ \t]{1,8}(?!realm|error|scope|charset)(?=[\w-]{1,60}[ \t]{0,4}=[ \t]{0,4}\\{0,16}"))/gi;
const parameter =
  /[\w-]{1,60}[ \t]{0,4}=[ \t]{0,4}(?:\\{0,16}"[^"\r\n]{0,4096}(?:"|$)|[^\s,"'\\]{0,4096})(?:[ \t]{0,8},[ \t\r\n]{0,8}(?=[\w-]{1,60}[ \t]{0,4}=))?/y;

/** Redacts all parameters of a scheme, such as `Digest username="u", response="x"`. */
function redactParameters(text: string): string {
  return replaceSpans(text, schemeOfParameters, (_match, from) => {
    let to = from;
    for (;;) {
      parameter.lastIndex = to;
      const found = parameter.exec(text);
      if (found === null || found[0] === '') return { from, to };
      to = parameter.lastIndex;
    }
  });
}

function findPrivateKeyEnd(text: string, from: number): number {
  privateKeyEnd.lastIndex = from;
  return privateKeyEnd.test(text) ? privateKeyEnd.lastIndex : text.length;
}

/**
 * Returns false for prose (`Basic training`, `token exchange`), challenges (`Bearer realm="x"`) and settings (`Token
 * limit=5`).
 */
function isCredential(name: string, text: string): boolean {
  if (/^(?:realm|error|scope|charset)=|^[A-Za-z_]{1,20}=[0-9]{1,5}$/.test(text)) return false;
  if (name === 'basic')
    return Buffer.from(text.slice(0, 1_000), 'base64').includes(':') || (text.length >= 16 && /[0-9]/.test(text));
  return isRandom(text) || (name === 'bearer' && text.length >= 16);
}

/**
 * Returns whether a text looks generated: it contains digits, symbols or a capital after a small letter, or it is long.
 */
export function isRandom(text: string): boolean {
  return /[0-9_=~+/]|[a-z][A-Z]/.test(text) || text.length >= 24;
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Replaces the span that `find` returns for each match, and continues after the span. `from` is the position after the
 * match.
 */
export function replaceSpans(
  text: string,
  pattern: RegExp,
  find: (match: RegExpExecArray, from: number) => Span | undefined,
): string {
  let retained = '';
  let taken = 0;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const span = find(match, pattern.lastIndex);
    if (span === undefined || span.to <= span.from) continue;
    retained += text.slice(taken, span.from) + redacted;
    taken = span.to;
    pattern.lastIndex = span.to;
  }
  return taken === 0 ? text : retained + text.slice(taken);
}
