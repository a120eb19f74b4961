/**
 * Redacts secrets after a label in words, in all supported languages and notations: `Passcode: 123456`, `**Passwort:**
 * x`, `PIN 1234`, `password => 'x'`. The length of the gap after a label (markup, a remark in parentheses, a separator)
 * is limited, so each label takes bounded time.
 */
import { label } from './names.ts';
import { findQuote, quoteAt, readAt } from './reading.ts';
import { isRandom, redacted, replaceSpans, type Span } from './shapes.ts';

const space = String.raw`[ \u00a0\u200b\u202f\u3000]|&nbsp;|&#160;|&#xa0;`;
const markup = String.raw`\\u003c/?[a-z][a-z0-9]{0,10}\\u003e|&lt;/?[a-z][a-z0-9]{0,10}&gt;|\t(?=[ \t]{0,4}[:=])|\*{1,3}|__|~~|\x60|</?[a-z][a-z0-9]{0,10}(?:\s[^<>]{0,200})?/?>|\](?=[ :：=])|\\?["'](?=\s{0,8}(?:=>|[:=]))`;
const filler = new RegExp(`(?:${space}|${markup}){1,12}`, 'iuy');
const remark = /\([^()\r\n]{1,60}\)|（[^（）\r\n]{1,60}）|\[[^[\]\r\n]{1,60}\](?=\s{0,4}[:：=])/y;
const purpose =
  /(?:for|of|to|für|zum|zur|des|der|von|pour|para|per|de|da|do|del|della|van|voor|dla|do|для)(?: [\p{L}\p{N}'’-]{1,30}){1,5}(?=[ \u00a0]{0,2}[:：=]|(?= (?:is|ist|lautet|est|es) ))|(?:конференции|встречи|собрания|конференції|зустрічі|spotkania|konferencji)(?=[ :：])/iuy;
/** Marker of a YAML block text, which starts on the next line. */
const blockSign = /[|>][-+0-9]{0,2}(?=[ \t]{0,8}\r?\n)/y;
/** Separators between a label and its value, strongest first. */
const strongSign = /(?:[-=]&gt;|&gt;(?=[^\s&])|=>|->|→|:=|[:：=＝]|&#58;|&colon;)/y;
const cell = /(?:\t|\\t|\||<\/(?:td|th|dt)>\s{0,20}<(?:td|dd)(?:\s[^<>]{0,200})?>){1,3}/iy;
const dash = /[-–—](?=[ \u00a0])/y;
const comma = /["']?,[ ]?(?=["']?[0-9]{4,12}["']?(?:[\s,]|$))/y;
const verb = /(?:is set to|is now|is|was|equals|ist|lautet|lautete|est|es|è|é|jest|это|to)(?=[ :\u00a0])/iuy;
const particle = /は|是|为|為/y;
const lineBreak = /[ \t]{0,20}(?:\r?\n|\\n|\\r\\n|<br ?\/?>)[ \t]{0,20}(?:(?:\r?\n|\\n)[ \t]{0,20})?/iy;

/**
 * How a label is joined to its value. `said`: by a verb. `weak`: by a dash or space, after which a sentence may
 * continue.
 */
type Joint = 'sign' | 'line' | 'cell' | 'said' | 'weak';

/** Matches the code in a message such as "123456 is your login code". */
const sentCode =
  /(?<![0-9A-Za-z])(?:G-)?[0-9]{3,4}[ -]?[0-9]{1,5}(?= (?:is|ist) (?:your|dein|ihr) (?:[\p{L}.-]{1,30} ){0,4}(?:[\p{L}-]{0,30}code|pin|password|otp|passwort)(?!\p{L}))/giu;

/** Redacts `Name: value` within prose. */
export function redactLabels(whole: string): string {
  const text = whole.replace(sentCode, redacted);
  return replaceSpans(text, label, (match, from) => {
    const isPassword = match[1] !== undefined;
    const isOption = /(?:^|[\s'"`])--?(?:[a-z0-9]{1,20}-){0,4}$/i.test(
      text.slice(Math.max(0, match.index - 60), match.index),
    );
    const gap = readGap(text, from, isOption);
    if (gap === undefined) return undefined;
    const span = readValue(text, gap.to, gap.joint);
    if (span === undefined) return undefined;
    return isLabelledSecret(text, span, {
      isPassword,
      isOption,
      joint: gap.joint,
      isCode: /cod|код|코드|コード/iu.test(match[0]),
    })
      ? span
      : undefined;
  });
}

/** Parses the text between a label and its value; undefined when no value follows. */
function readGap(
  text: string,
  from: number,
  isOption: boolean,
): { readonly to: number; readonly joint: Joint } | undefined {
  let at = from;
  const skip = (pattern: RegExp): boolean => {
    const found = readAt(pattern, text, at);
    at += found?.length ?? 0;
    return found !== undefined;
  };
  const isSpaced = skip(filler);
  if (skip(remark) || (isSpaced && skip(purpose))) skip(filler);
  let joint: Joint | undefined;
  if (skip(strongSign)) joint = 'sign';
  else if (skip(cell)) joint = 'cell';
  else if ((isSpaced && skip(dash)) || skip(comma) || skip(lineBreak)) joint = 'weak';
  else if ((isSpaced && skip(verb)) || skip(particle)) {
    skip(filler);
    joint = skip(strongSign) ? 'sign' : 'said';
  } else if (isSpaced) joint = isOption ? 'sign' : 'weak';
  if (joint === undefined) return undefined;
  skip(filler);
  if (joint === 'sign' && skip(/[\t]{1,8}/y)) skip(filler);
  if (joint === 'sign') skip(blockSign);
  if (joint === 'sign' && skip(lineBreak)) {
    joint = 'line';
    skip(filler);
  }
  return { to: at, joint };
}

const number =
  /[0-9A-Za-z]{4,64}(?=[\p{Script=Hiragana}\p{Script=Han}])|[0-9]{2,12}(?:[ \u00a0.-][0-9]{2,6}){1,5}(?![\p{L}\p{N}.:/-])#?/uy;
/**
 * Matches a value. A character that usually ends a value belongs to it when the value continues after the character.
 */
const word =
  /(?:[^\s,;"'<>)}\]，。；、）】」]|[,;)}\]](?![\s"'\\,;)}\]]|$|[\w .-]{1,40}[:=])|<(?![A-Za-z/!])|'(?=[\p{L}\p{N}])){1,512}/uy;

function readValue(text: string, from: number, joint: Joint): Span | undefined {
  const quote = readAt(quoteAt, text, from);
  if (quote !== undefined) return { from: from + quote.length, to: findQuote(text, from + quote.length, quote) };
  const length = readAt(number, text, from)?.length ?? readAt(word, text, from)?.length ?? 0;
  let to = from + length;
  // A nested YAML key or a list item is not a value.
  if (joint === 'line' && (text[to - 1] === ':' || text[from] === '-' || text[from] === '{')) return undefined;
  while (to > from && '.!?:'.includes(text[to - 1] ?? '')) to--;
  return to > from ? { from, to } : undefined;
}

interface Labelled {
  readonly isPassword: boolean;
  readonly isCode: boolean;
  readonly isOption: boolean;
  readonly joint: Joint;
}

/** Words that occur after a label but are not secrets. */
const plainValues: ReadonlySet<string> = new Set(
  (
    'true false null none undefined yes no must option flag argument with without from in on cannot can requires needs value file required missing invalid incorrect wrong expired changed unset empty optional needed reset unknown set not is was has the a an and or for of too n/a tbd ' +
    'string password text ja nein erforderlich optional keine keines oui non requis aucun sí si obligatorio ninguno richiesto nessuna sim não obrigatório vereist tak nie wymagane да нет обязательно 必须 必填 必須 なし 无 無'
  ).split(' '),
);
const unit =
  /^\s{0,2}(?:-|to |or )?\s{0,2}[0-9]{0,4}\s{0,2}(?:%|(?:characters?|chars?|digits?|letters?|symbols?|words?|bytes?|bits?|times?|attempts?|tries|minutes?|mins?|hours?|days?|weeks?|months?|years?|seconds?|people|users?|zeichen|stellen|ziffern|tagen?|caractères|chiffres)(?!\p{L}))/iu;
/** A date, an address, a setting, or the name of an algorithm. */
const namesKind =
  /^(?:[0-9]{4}-[0-9]{2}|(?:sha|md|base|oauth|utf|pbkdf|argon|aes|rsa|iso|ipv|http|v[0-9])[0-9_-]*|[^:]*:\/\/|[\w.-]{1,40}=)/i;

function isLabelledSecret(
  text: string,
  { from, to }: Span,
  { isPassword, isOption, isCode, joint }: Labelled,
): boolean {
  const value = text.slice(from, Math.min(to, from + 512));
  if (/^(?:\[|\/\/|&)/.test(value) || plainValues.has(value.toLowerCase())) return false;
  const isQuoted = /["']/.test(text[from - 1] ?? '') && joint !== 'weak';
  if (isOption) return !value.startsWith('-') && (isQuoted || isPassword || isRandom(value));
  const isNumber = /^[0-9][0-9 \u00a0.-]*#?$/.test(value);
  const isSigned = joint === 'sign' || joint === 'line' || joint === 'cell';
  if (isNumber && unit.test(text.slice(to, to + 30))) return false;
  if (isNumber && isSigned) return isPassword || isCode || value.length >= 6;
  if (isNumber) return isPassword ? /^[0-9]{4}|^[0-9]{2,3}[ \u00a0-]/.test(value) : /^[0-9]{6}/.test(value);
  if (isSigned && (isQuoted || isRandom(value) || hasSigns(value))) return true;
  if (isSigned) return joint !== 'cell' && isPassword && isLast(text, to);
  if (namesKind.test(value) || !/^[!-~]+$/.test(value)) return false;
  if (joint === 'said') return isQuoted || isRandom(value) || hasSigns(value);
  return /[0-9]/.test(value) && /[A-Za-z]/.test(value) && value.length >= (isPassword ? 6 : 8);
}

const hasSigns = (value: string): boolean => /[^\p{L}\p{M}'’-]/u.test(value);

/** Returns whether the value ends its line. A value of letters only may otherwise be a word of a sentence. */
const isLast = (text: string, to: number): boolean => /^[.!?]?(?:[\r\n]|\\[rn]|$)/.test(text.slice(to, to + 2));
