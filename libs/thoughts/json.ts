/** Answers that are JSON: thoughts are removed from their strings and names, all else stays as the model wrote it (D84). */

const stringLiteral = /"[^"\\]*(?:\\.[^"\\]*)*"/g;

export function isJson(text: string): boolean {
  if (!/^\s*[{["]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether a text begins as JSON does. A link also begins with a bracket. */
export function mayBecomeJson(text: string): boolean {
  return /^\s*(?:\{|\[\s*[[{"])/.test(text);
}

/** @param json valid JSON. */
export function mapStrings(json: string, clean: (text: string) => string): string {
  return json.replace(stringLiteral, (literal) => {
    const text = JSON.parse(literal) as string;
    const words = clean(text);
    return words === text ? literal : JSON.stringify(words);
  });
}
