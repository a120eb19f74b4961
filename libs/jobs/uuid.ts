import { randomBytes } from 'node:crypto';

/** A UUID of version 7 (RFC 9562): its order is the order of its milliseconds. `timeMs` with `zero` gives the smallest of that time. */
export function createUuid(timeMs: number = Date.now(), { zero = false } = {}): string {
  const bytes = zero ? Buffer.alloc(16) : randomBytes(16);
  bytes.writeUIntBE(Math.max(0, timeMs), 0, 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const pattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && pattern.test(value);
}
