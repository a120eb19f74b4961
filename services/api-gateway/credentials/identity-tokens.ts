/** JWTs of the identity provider (rules/access#identity-provider; S1, S2, S4). */
import type { Bus } from '#libs/nats';
import type { Verifier } from '#libs/oidc';
import { directory } from '#services/directory';
import { createRemembered, type RememberedCredential } from './remembered.ts';

export interface IdentityTokenOptions {
  readonly bus: Pick<Bus, 'call'>;
  readonly verifier: Verifier;
  /** Told why what was given as a token of the provider is none, and of other failures to verify it. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: (() => number) | undefined;
}

/** Whatever begins as a JSON object in base64url; nothing else that we issue or configure is meant to. */
const pattern = /^eyJ/;

export function createIdentityTokens({ bus, verifier, onFailure, now }: IdentityTokenOptions): RememberedCredential {
  return createRemembered({
    pattern,
    ask: async (token, call) => {
      const { identity, endsAtMs } = await verifier.verify(token).catch((error: unknown) => {
        onFailure?.(error);
        throw error;
      });
      const { issuer, subject, verifiedEmail } = identity;
      const request = { issuer, subject, ...(verifiedEmail === undefined ? {} : { email: verifiedEmail }) };
      const { actor } = await bus.call(directory.rpcs.verifyIdentity, request, call);
      return { actor, forMs: endsAtMs - Date.now() };
    },
    now,
  });
}
