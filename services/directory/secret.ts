/** Random parts of tokens: ids, which are no secrets, and secrets, of which a hash alone is stored. */
import { createHash, randomBytes } from 'node:crypto';

/** Uniform over the alphabet: bytes past the last whole multiple of its size are thrown away. */
export function randomId(length: number, alphabet: string): string {
  const limit = 256 - (256 % alphabet.length);
  let id = '';
  while (id.length < length) {
    for (const byte of randomBytes(length + 16)) {
      if (byte < limit && id.length < length) id += alphabet.charAt(byte % alphabet.length);
    }
  }
  return id;
}

/** 32 random bytes as 43 characters of base64url. */
export function createSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** SHA-256 of a text; all that is stored of a secret. */
export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
