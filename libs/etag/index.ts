/**
 * Entity tags (rules/http#etag): the tag of a representation is a digest of its bytes, so that the gateway, which answers
 * `If-None-Match`, and a service, which checks `If-Match` under its lock, get the same tag of the same representation.
 */
import { hash } from 'node:crypto';

/** Strong tag of a representation, quotes included: `"…"`. Text is taken as UTF-8. */
export function entityTag(representation: Uint8Array | string): string {
  return `"${hash('sha256', representation, 'base64url')}"`;
}

/**
 * True when a header `If-Match` (strong comparison) or `If-None-Match` (weak comparison) names the tag: `*`, one tag, or a list
 * (RFC 9110 §13.1). Whatever is no tag in it matches nothing.
 */
export function matchesEntityTag(header: string, tag: string, comparison: 'strong' | 'weak'): boolean {
  if (header.trim() === '*') return true;
  for (const [, weak, opaque] of header.matchAll(/(W\/)?("[\x21\x23-\x7e\x80-\uffff]*")/g)) {
    if (opaque === tag && (weak === undefined || comparison === 'weak')) return true;
  }
  return false;
}
