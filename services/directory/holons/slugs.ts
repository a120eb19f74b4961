/** Generates slugs of holons, by the rule of the workspace file. */
import { randomInt } from 'node:crypto';
import { fold } from '#libs/infrastructure/text';

const maxBaseLength = 80;
const suffixLength = 6;
const suffixAlphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';

/**
 * Returns the slug of a name: `Été à Paris` → `ete-a-paris`, with letters folded as in searches (D87). A name without Latin letters and digits becomes `holon`.
 */
export function slugOf(name: string): string {
  const plain = fold(name)
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, maxBaseLength)
    .replace(/^-+|(?<!-)-+$/g, '');
  return plain === '' ? 'holon' : plain;
}

/** Returns an alternative slug with a random suffix. */
export function slugWithSuffix(base: string): string {
  const suffix = Array.from({ length: suffixLength }, () =>
    suffixAlphabet.charAt(randomInt(suffixAlphabet.length)),
  ).join('');
  return `${base}-${suffix}`;
}
