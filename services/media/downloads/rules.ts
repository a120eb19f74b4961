/** Evaluates ranges and validators of downloads, as defined by RFC 9110 (rules/http#etag; D27). */
import type { ByteRange } from '#libs/infrastructure/object-store';

export type RangeDecision =
  | { kind: 'whole' }
  | { kind: 'part'; range: ByteRange }
  /** No requested range overlaps the file: 416. */
  | { kind: 'unsatisfiable' };

const whole: RangeDecision = { kind: 'whole' };
/** Maximum number of requested ranges. A request for more ranges returns the whole file. */
const maxRanges = 50;

/**
 * Decides what to send for a `Range` header. Unknown units and malformed headers are ignored (RFC 9110, 14.2). A
 * request for several ranges returns the whole file, unless only one of them overlaps the file.
 * @param ifRange header `If-Range`; the range applies only when the header equals the strong tag of this file (RFC
 * 9110, 13.1.5).
 */
export function decideRange(
  header: string | undefined,
  ifRange: string | undefined,
  etag: string,
  sizeBytes: number,
): RangeDecision {
  if (header === undefined) return whole;
  if (ifRange !== undefined && ifRange.trim() !== etag) return whole;
  const specifiers = /^\s*bytes\s*=(.*)$/i.exec(header)?.[1]?.split(',');
  if (specifiers === undefined || specifiers.length > maxRanges) return whole;
  const ranges: ByteRange[] = [];
  let count = 0;
  for (const specifier of specifiers) {
    if (specifier.trim() === '') continue; // empty list elements are allowed (RFC 9110, 5.6.1)
    const range = readSpecifier(specifier.trim(), sizeBytes);
    if (range === 'malformed') return whole;
    count += 1;
    if (range !== 'outside') ranges.push(range);
  }
  if (count === 0) return whole;
  const [only] = ranges;
  if (only === undefined) return { kind: 'unsatisfiable' };
  return ranges.length === 1 ? { kind: 'part', range: only } : whole;
}

function readSpecifier(text: string, sizeBytes: number): ByteRange | 'outside' | 'malformed' {
  const match = /^([0-9]*)\s*-\s*([0-9]*)$/.exec(text);
  const [, from = '', to = ''] = match ?? [];
  if (match === null || (from === '' && to === '')) return 'malformed';
  if (from === '') {
    const length = Math.min(Number(to), sizeBytes);
    return length === 0 ? 'outside' : { first: sizeBytes - length, last: sizeBytes - 1 };
  }
  const first = Number(from);
  if (to !== '' && Number(to) < first) return 'malformed';
  if (first >= sizeBytes) return 'outside';
  return { first, last: to === '' ? sizeBytes - 1 : Math.min(Number(to), sizeBytes - 1) };
}

/** Returns whether the `If-None-Match` list contains this tag or `*`, by weak comparison (RFC 9110, 13.1.2). */
export function matchesNone(header: string, etag: string): boolean {
  return header.trim() === '*' || readTags(header).some((tag) => tag.replace(/^W\//, '') === etag);
}

/** Returns whether the `If-Match` list contains this tag or `*`, by strong comparison (RFC 9110, 13.1.1). */
export function matchesStrongly(header: string, etag: string): boolean {
  return header.trim() === '*' || readTags(header).includes(etag);
}

function readTags(header: string): string[] {
  return header.match(/(?:W\/)?"[^"]*"/g) ?? [];
}
