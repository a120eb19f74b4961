import { randomUUIDv7 } from 'node:crypto';

/** Returns a UUID of version 7 (RFC 9562). Such ids sort by time in milliseconds. */
export function createUuid(): string {
  return randomUUIDv7();
}

/** Returns the smallest id with this time. */
export function minUuidAt(timeMs: number): string {
  const hex = timeMs.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

const pattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && pattern.test(value);
}

/** Returns the time of a UUID of version 7 in epoch milliseconds; for other UUIDs the current time. */
export function uuidTimeMs(id: string): number {
  return id[14] === '7' ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : Date.now();
}
