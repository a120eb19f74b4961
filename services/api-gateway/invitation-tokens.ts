/**
 * Tokens of invitations (W7). The directory stores the SHA-256 of a token, and its seed with the response under an
 * `Idempotency-Key`. The token is derived from the seed, so that a replayed response has the same token although no
 * database contains it.
 */
import { createHmac, hash, hkdfSync, randomBytes } from 'node:crypto';

export interface InvitationTokens {
  /** A new random seed, and the hash of its token. */
  create(): { readonly seed: string; readonly token_sha256: string };
  tokenOf(seed: string): string;
}

/** @param secret secret of the installation, the same in every replica */
export function createInvitationTokens(secret: string): InvitationTokens {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'coherence invitation', 32));
  const tokenOf = (seed: string): string =>
    `svc_invite_${seed}_${createHmac('sha256', key).update(seed).digest('base64url')}`;
  return {
    create: () => {
      const seed = randomBytes(16).toString('hex');
      return { seed, token_sha256: hashInvitation(tokenOf(seed)) };
    },
    tokenOf,
  };
}

/** Returns the SHA-256 of a token in base64url. */
export function hashInvitation(token: string): string {
  return hash('sha256', token, 'base64url');
}
