/** Tokens of inboxes. Whoever is given one may answer; nobody can guess another one, so nobody can answer what was not asked of him. */
import { randomFillSync } from 'node:crypto';

const tokenBytes = 15;
/** Characters of a token. */
export const tokenLength = 20;
const pool = Buffer.allocUnsafe(tokenBytes * 512);
let used = pool.length;

/** 120 random bits in 20 characters that may stand in a subject. */
export function randomToken(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const token = pool.toString('base64url', used, used + tokenBytes);
  used += tokenBytes;
  return token;
}
