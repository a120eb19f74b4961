/**
 * Secrets that show by their form, wherever they stand in a text. No expression begins within what another try of it has read, so that a
 * long text is read once by each.
 */

export const redacted = '[redacted]';

/** Where a token may begin: not within a word, but behind an escape such as `%20` or `\n`. */
const edge = String.raw`(?:(?<![0-9A-Za-z_-])|(?<=%[0-9A-Fa-f]{2}|\\[bfnrt]|\\u[0-9A-Fa-f]{4}))`;

/** Tokens whose issuers mark them by their first letters. */
const marked = new RegExp(
  [
    String.raw`svc_(?:agentic|key)_[0-9A-Za-z]+_[0-9A-Za-z_-]+`,
    String.raw`whsec_[0-9A-Za-z+/=_-]{8,}`,
    String.raw`cal_(?:(?:live|test)_[0-9A-Za-z_-]{8,}|[0-9a-f]{24,})`,
    String.raw`gh[oprsu]_[0-9A-Za-z]{12,}`,
    String.raw`github_pat_[0-9A-Za-z_]{12,}`,
    String.raw`gl(?:pat|dt|ptt|rt|soat|cbt|ft|imt)-[0-9A-Za-z_.-]{8,}`,
    String.raw`[prs]k_(?:live|test)_[0-9A-Za-z_]{8,}`,
    String.raw`x(?:ox[a-z]|app)-[0-9A-Za-z-]{8,}`,
    String.raw`AGE-SECRET-KEY-1[0-9A-Z]{20,}`,
    String.raw`(?<![0-9])[0-9]{6,12}(?::|%3[Aa])[0-9A-Za-z_-]{30,}`,
    String.raw`(?=[AESadefhlnsy])${edge}(?:${[
      String.raw`sk-(?:proj|ant|or|svcacct|admin)-[0-9A-Za-z_-]{8,}`,
      String.raw`sk-(?=[0-9A-Za-z_-]{0,60}[0-9])[0-9A-Za-z_-]{12,}`,
      String.raw`(?:AKIA|ASIA)[0-9A-Z]{12,}`,
      String.raw`AIza[0-9A-Za-z_-]{30,}`,
      String.raw`ya29\.[0-9A-Za-z_-]{16,}`,
      String.raw`(?:hf|npm)_[0-9A-Za-z]{24,}`,
      String.raw`SG\.[0-9A-Za-z_-]{16,}\.[0-9A-Za-z_-]{16,}`,
      String.raw`(?:shp(?:at|ss|ca|pa)|dop_v1|lin_api|figd|ntn)_[0-9A-Za-z_-]{20,}`,
      String.raw`eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]+(?:\.[0-9A-Za-z_-]*)?`,
    ].join('|')})`,
  ].join('|'),
  'g',
);

const privateKeyBegin = /-----BEGIN [0-9A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const privateKeyEnd = /-----END [0-9A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const userInfo = /(:(?:\\?\/){2})[^\s/?#"'<>]{1,500}@/g;
/** Addresses that are secrets by their path. */
const secretPaths: readonly RegExp[] = [
  /(\/bot)[0-9]{1,20}(?::|%3[Aa])[^\s/?#"'<>\\]{1,500}/g,
  /(hooks\.slack\.com\/(?:services|workflows|triggers)\/)[\w/-]+/gi,
  /(discord(?:app)?\.com\/api\/webhooks\/[0-9]{1,20}\/)[\w-]+/gi,
  /(teams\.(?:live|microsoft)\.com\/meet\/[0-9]{1,20}\?p=)[\w-]+/gi,
];
const scheme = /\b(Bearer|Basic|Token|Digest|Negotiate|Api-?Key)([ \t]{1,8}|%20)([0-9A-Za-z._~+/=:-]{6,})/gi;

/** The text without secrets that show by their form. */
export function redactShapes(text: string): string {
  let kept = replaceSpans(text, privateKeyBegin, ({ index }, from) => ({ from: index, to: findPrivateKeyEnd(text, from) }));
  kept = kept.replace(marked, redacted).replace(userInfo, `$1${redacted}@`);
  for (const path of secretPaths) kept = kept.replace(path, `$1${redacted}`);
  return kept.replace(scheme, (whole, name: string, space: string, credential: string) =>
    isCredential(name.toLowerCase(), credential) ? `${name}${space}${redacted}` : whole,
  );
}

function findPrivateKeyEnd(text: string, from: number): number {
  privateKeyEnd.lastIndex = from;
  return privateKeyEnd.test(text) ? privateKeyEnd.lastIndex : text.length;
}

/** `Basic training` and `token exchange` are words. */
function isCredential(name: string, text: string): boolean {
  if (name === 'basic') return Buffer.from(text.slice(0, 1_000), 'base64').includes(':') || (text.length >= 16 && /[0-9]/.test(text));
  return looksRandom(text) || (name === 'bearer' && text.length >= 16);
}

/** Whether a text looks like made by a program: with digits or signs among its letters, or capitals within. */
export function looksRandom(text: string): boolean {
  return /[0-9_=~+/]|[a-z][A-Z]/.test(text) || text.length >= 24;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Replaces the span that `find` names for each match, `from` being the place behind the match, and goes on behind it. */
export function replaceSpans(text: string, pattern: RegExp, find: (match: RegExpExecArray, from: number) => Span | undefined): string {
  let kept = '';
  let taken = 0;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const span = find(match, pattern.lastIndex);
    if (span === undefined || span.to <= span.from) continue;
    kept += text.slice(taken, span.from) + redacted;
    taken = span.to;
    pattern.lastIndex = span.to;
  }
  return taken === 0 ? text : kept + text.slice(taken);
}
