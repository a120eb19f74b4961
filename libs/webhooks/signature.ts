import { createHmac, timingSafeEqual } from 'node:crypto';

/** True when `digest` is the HMAC-SHA256 of `content` under `key`, in lower-case hex; compared in constant time, whatever was sent. */
export function isHmac(digest: string | null | undefined, key: string, content: string | Buffer): boolean {
  const wanted = createHmac('sha256', key).update(content).digest();
  const given = Buffer.from(/^[0-9a-f]{64}$/.test(digest ?? '') ? (digest ?? '') : '', 'hex');
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** Which of the keys has signed `content`, its index; undefined when none has. All are tried, whichever it is (K8). */
export function findSigner(digest: string | undefined, keys: readonly string[], content: Buffer): number | undefined {
  const fitting = keys.map((key, index) => (isHmac(digest, key, content) ? index : -1));
  const found = Math.max(-1, ...fitting);
  return found < 0 ? undefined : found;
}
