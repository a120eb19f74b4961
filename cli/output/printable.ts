/**
 * Escapes control characters and direction marks like JSON. Without escaping, texts written by visitors could move the
 * cursor, or hide or reorder what an operator reads.
 */
export function toPrintable(text: string): string {
  return text.replaceAll(
    /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
