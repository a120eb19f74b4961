/**
 * Where a page of a list begins, as one word that clients hand back. Anybody can write one: whoever reads it judges each of its values.
 */

export function encodeCursor(values: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(values), 'utf8').toString('base64url');
}

/** @returns undefined for what is no list of values */
export function decodeCursor(text: string): unknown[] | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
  try {
    const values: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(values) ? values : undefined;
  } catch {
    return undefined;
  }
}
