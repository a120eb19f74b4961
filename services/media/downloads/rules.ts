/** Ranges and validators of a download as RFC 9110 has them (rules/http#etag; D27). Plain functions. */
import type { ByteRange } from '#libs/object-store';

export type RangeDecision =
  | { kind: 'whole' }
  | { kind: 'part'; range: ByteRange }
  /** No range of the request lies in the file: 416. */
  | { kind: 'unsatisfiable' };

const whole: RangeDecision = { kind: 'whole' };
/** A request with more ranges than this asks for no sensible thing; it gets the whole file. */
const maxRanges = 50;

/**
 * What to send for a `Range` header. Unknown units and malformed headers are ignored (RFC 9110, 14.2); of several ranges one that
 * alone lies in the file is sent, otherwise the whole file.
 * @param ifRange `If-Range`; the range counts only when it is this file's strong tag (RFC 9110, 13.1.5).
 */
export function decideRange(header: string | undefined, ifRange: string | undefined, etag: string, sizeBytes: number): RangeDecision {
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

/** True when the `If-None-Match` list names this tag; compared weakly, `*` names every tag (RFC 9110, 13.1.2). */
export function matchesNone(header: string, etag: string): boolean {
  return header.trim() === '*' || readTags(header).some((tag) => tag.replace(/^W\//, '') === etag);
}

/** True when the `If-Match` list names this tag; compared strongly (RFC 9110, 13.1.1). */
export function matchesStrongly(header: string, etag: string): boolean {
  return header.trim() === '*' || readTags(header).includes(etag);
}

function readTags(header: string): string[] {
  return header.match(/(?:W\/)?"[^"]*"/g) ?? [];
}
