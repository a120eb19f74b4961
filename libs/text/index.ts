/**
 * Control characters in text from outside (D74): C0 (U+0000 to U+001F), delete, and C1 (U+0080 to U+009F). No name, title or slug has one:
 * what a client sends with one is refused, what a webhook brings is kept without them.
 */
const anyControl = /\p{Cc}/u;
const everyControl = /\p{Cc}/gu;
/** Text of several lines keeps what makes it so. */
const everyControlWithinLines = /[^\P{Cc}\t\n\r]/gu;

/** JSON Schema pattern of a text without control characters: the set of `\p{Cc}` in words that every validator knows. */
export const linePattern = String.raw`^[^\u0000-\u001f\u007f-\u009f]*$`;

export const hasControls = (text: string): boolean => anyControl.test(text);

/** A name, title or slug out of what nobody has checked: without control characters, lone surrogates replaced. */
export const toLine = (text: string): string => text.replace(everyControl, '').toWellFormed();

/** The same of a text of several lines, which keeps its tabs and line breaks. */
export const toLines = (text: string): string => text.replace(everyControlWithinLines, '').toWellFormed();
