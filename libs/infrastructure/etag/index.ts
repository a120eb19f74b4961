/**
 * Entity tags (rules/http#etag) are digests of the representation, so that the gateway (`If-None-Match`) and services
 * (`If-Match`, under a row lock) compute equal tags.
 */
import { hash } from 'node:crypto';
import { AppError } from '#libs/infrastructure/errors';

/** Returns the strong quoted tag of a representation. Text is encoded as UTF-8. */
export function entityTag(representation: Uint8Array | string): string {
  return `"${hash('sha256', representation, 'base64url')}"`;
}

/**
 * Returns whether an `If-Match` (strong comparison) or `If-None-Match` (weak comparison) header matches the tag. The
 * header is `*`, one tag or a list of tags (RFC 9110 §13.1); malformed tags match nothing.
 */
export function matchesEntityTag(header: string, tag: string, comparison: 'strong' | 'weak'): boolean {
  if (header.trim() === '*') return true;
  for (const [, weak, opaque] of header.matchAll(/(W\/)?("[\x21\x23-\x7e\x80-\uffff]*")/g)) {
    if (opaque === tag && (weak === undefined || comparison === 'weak')) return true;
  }
  return false;
}

/**
 * Checks an `If-Match` header; an absent one matches. @throws AppError 412 when the resource has another tag, or none
 * because it does not exist
 */
export function requireTag(header: string | null | undefined, tag: string | undefined): void {
  if (header === null || header === undefined) return;
  if (tag !== undefined && matchesEntityTag(header, tag, 'strong')) return;
  throw new AppError({ code: 'precondition_failed', message: 'If-Match does not match the current representation.' });
}
