/** JWTs of the identity provider (rules/access#identity-provider; S1, S2, S4). */
import type { Bus } from '#libs/nats';
import { type TokenRefusal, TokenRefused, type Verifier } from '#libs/oidc';
import { directory } from '#services/directory';
import { createRemembered, type RememberedCredential } from './remembered.ts';

export interface IdentityTokenOptions {
  readonly bus: Pick<Bus, 'call'>;
  readonly verifier: Verifier;
  /** Told why the provider's token, as which it was given, is none. */
  readonly onRefusal?: ((refusal: TokenRefusal) => void) | undefined;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: (() => number) | undefined;
}

/** Whatever begins as a JSON object in base64url; nothing else that we issue or configure is meant to. */
const pattern = /^eyJ/;

export function createIdentityTokens({ bus, verifier, onRefusal, now }: IdentityTokenOptions): RememberedCredential {
  return createRemembered({
    pattern,
    ask: async (token, call) => {
      const { identity, endsAtMs } = await verifier.verify(token).catch((error: unknown) => {
        if (error instanceof TokenRefused) onRefusal?.(error.refusal);
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
