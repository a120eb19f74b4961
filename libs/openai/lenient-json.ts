/** JSON as servers of models write it: numbers that are none, such as a logarithm of zero, as `NaN` and `Infinity` (D85). */

/** A string is taken whole, so that its words stay. */
const stringOrToken = /"(?:[^"\\]|\\[\s\S])*"?|-?\b(?:NaN|Infinity|inf)\b/gi;

/**
 * The value of a document; numbers that JSON does not know are null.
 * @throws SyntaxError
 */
export function parseLeniently(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return JSON.parse(text.replace(/^\ufeff/, '').replace(stringOrToken, (found) => (found.startsWith('"') ? found : 'null')));
  }
}
