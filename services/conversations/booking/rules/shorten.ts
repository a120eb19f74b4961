/** Longest text of a field that is read. */
export const maxTextLength = 1_000;

export const shorten = (text: string): string => text.slice(0, maxTextLength).toWellFormed();
