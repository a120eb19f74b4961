/**
 * Text for a terminal. What strangers wrote could move the cursor, colour, hide or turn round what an operator reads: control characters and
 * those that change the direction of writing are shown by their numbers, as JSON writes them.
 */
export function toPrintable(text: string): string {
  return text.replaceAll(
    /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
