/**
 * Text from outside in names, titles and slugs (D74): one line, without control characters (Cc: C0, delete, C1) and without invisible
 * formatting characters (Cf), such as bidirectional controls. Two of these belong to words of some languages and to emoji: the joiners U+200C
 * and U+200D stay inside a word. What a client sends with others is refused, what a webhook brings is kept without them.
 */
const anyControl = /\p{Cc}/u;
/** Text of several lines keeps what makes it so. */
const everyControlWithinLines = /[^\P{Cc}\t\n\r]/gu;
const everyLineBreak = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
const everyUnfit = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\u200c\u200d]]/gv;
const everyLooseJoiner = /(?<![\p{L}\p{M}\p{N}\p{S}])[\u200c\u200d]|[\u200c\u200d](?![\p{L}\p{M}\p{N}\p{S}])/gu;
const plain = /^[ -~]*$/;
const anyUnfit = new RegExp(everyUnfit.source, 'v');
const anyLooseJoiner = new RegExp(everyLooseJoiner.source, 'u');
/** Fillers and marks that draw nothing are ignorable too; the blank of Braille is a symbol. */
const anyVisible = /[^\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * JSON Schema pattern for documents: the most of `isSingleLine` that every validator can read, with and without Unicode mode. The format
 * `lineFormat` checks the rest, characters beyond U+FFFF and places of joiners.
 */
export const linePattern = String.raw`^[^\u0000-\u001f\u007f-\u009f\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]*$`;
export const lineFormat = 'line';

/** Whether a text can be a name, title or slug. */
export const isSingleLine = (text: string): boolean => plain.test(text) || !(anyUnfit.test(text) || anyLooseJoiner.test(text));

/** Whether nothing of a text can be seen: it is empty, or of white space and invisible characters alone (rules/http#strings). */
export const isBlank = (text: string): boolean => !anyVisible.test(text);

export const hasControlCharacters = (text: string): boolean => anyControl.test(text);

/** A name, title or slug out of what nobody has checked: line breaks and tabs are a space, other unfit characters are removed. */
export const toSingleLine = (text: string): string => removeControlCharacters(text.replace(everyLineBreak, ' '));

/** The same of what has no spaces, such as an address: line breaks and tabs are removed too. */
export const removeControlCharacters = (text: string): string => text.replace(everyUnfit, '').replace(everyLooseJoiner, '').toWellFormed();

/** The same of a text of several lines, which keeps its tabs and line breaks. */
export const toMultiline = (text: string): string => text.replace(everyControlWithinLines, '').toWellFormed();

export { truncateText } from './truncate.ts';
export { emailKey } from './email-key.ts';
export { phoneDigits } from './phone-digits.ts';
export { fold, invisibleCharacters } from './folding.ts';
