/** Why an outgoing call failed. */
export type OutboundFailure = 'invalid_url' | 'forbidden_address' | 'connect' | 'timeout' | 'too_large' | 'aborted' | 'broken';

/**
 * A failed outgoing call. The message names the origin alone: paths and queries of signed URLs are secrets, and so no cause
 * that could repeat them is kept.
 */
export class OutboundError extends Error {
  readonly kind: OutboundFailure;
  /** Error code of the system or the HTTP client, e.g. `ECONNREFUSED`. */
  readonly code: string | undefined;

  constructor(kind: OutboundFailure, message: string, code?: string) {
    super(message);
    this.name = 'OutboundError';
    this.kind = kind;
    this.code = code;
  }
}
