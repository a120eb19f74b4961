import { randomUUIDv7 } from 'node:crypto';

/** An id whose order is the order of its milliseconds (RFC 9562, version 7). */
export function createUuid(): string {
  return randomUUIDv7();
}

/** The smallest id of that time or later. */
export function minUuidAt(timeMs: number): string {
  const hex = timeMs.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

const pattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && pattern.test(value);
}

/** When an id of version 7 was made, milliseconds; now for one that does not say. */
export function uuidTimeMs(id: string): number {
  return id[14] === '7' ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : Date.now();
}
