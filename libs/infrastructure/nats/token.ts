/** Inbox tokens. They cannot be guessed, so only the receiver of a request can reply to it. */
import { randomFillSync } from 'node:crypto';

const tokenBytes = 15;
/** Length in characters. */
export const tokenLength = 20;
const pool = Buffer.allocUnsafe(tokenBytes * 512);
let used = pool.length;

/** Returns 120 random bits as 20 characters that are valid in a subject. */
export function randomToken(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const token = pool.toString('base64url', used, used + tokenBytes);
  used += tokenBytes;
  return token;
}
