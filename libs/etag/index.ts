/**
 * Entity tags (rules/http#etag): digests of the representation, so that the gateway (`If-None-Match`) and services
 * (`If-Match`, under their lock) compute the same tag.
 */
import { hash } from 'node:crypto';

/** Strong quoted tag of a representation. Text is encoded as UTF-8. */
export function entityTag(representation: Uint8Array | string): string {
  return `"${hash('sha256', representation, 'base64url')}"`;
}

/**
 * Whether an `If-Match` (strong comparison) or `If-None-Match` (weak comparison) header matches the tag: `*`, one tag,
 * or a list (RFC 9110 §13.1). Malformed tags match nothing.
 */
export function matchesEntityTag(header: string, tag: string, comparison: 'strong' | 'weak'): boolean {
  if (header.trim() === '*') return true;
  for (const [, weak, opaque] of header.matchAll(/(W\/)?("[\x21\x23-\x7e\x80-\uffff]*")/g)) {
    if (opaque === tag && (weak === undefined || comparison === 'weak')) return true;
  }
  return false;
}
