import { createHmac, timingSafeEqual } from 'node:crypto';

/** True when `digest` is the HMAC-SHA256 of `content` under `key`, in lower-case hex; compared in constant time, whatever was sent. */
export function isHmac(digest: string | null | undefined, key: string, content: string | Buffer): boolean {
  const wanted = createHmac('sha256', key).update(content).digest();
  const given = Buffer.from(/^[0-9a-f]{64}$/.test(digest ?? '') ? (digest ?? '') : '', 'hex');
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
