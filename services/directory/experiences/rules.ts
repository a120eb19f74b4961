/** Slugs that the platform makes for holons; those of the workspace file follow the same rule. */
import { randomInt } from 'node:crypto';

const maxBaseLength = 80;
const suffixLength = 6;
const suffixAlphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** A slug out of a name: `Été à Paris` → `ete-a-paris`; of a name without Latin letters or digits, `holon`. */
export function slugOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, maxBaseLength)
    .replace(/^-+|(?<!-)-+$/g, '');
  return plain === '' ? 'holon' : plain;
}

/** The slug to try next when others have taken the first ones. */
export function slugWithSuffix(base: string): string {
  const suffix = Array.from({ length: suffixLength }, () => suffixAlphabet.charAt(randomInt(suffixAlphabet.length))).join('');
  return `${base}-${suffix}`;
}
