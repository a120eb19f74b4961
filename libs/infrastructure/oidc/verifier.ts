/** Verifies that a JWT was issued by the provider for this installation, and returns its identity (S1). */
import { decodeJwt, decodeProtectedHeader, errors, jwtVerify, type JWTPayload } from 'jose';
import type { SigningKeys } from './signing-keys.ts';
import { TokenRejectedError, type TokenRejection } from './sign-in-error.ts';

/** An identity asserted by an identity provider. */
export interface Identity {
  readonly issuer: string;
  /** Identifies a person at the issuer permanently. */
  readonly subject: string;
  /** Email verified by the issuer; otherwise undefined. */
  readonly verifiedEmail: string | undefined;
}

export interface VerifiedToken {
  readonly identity: Identity;
  readonly claims: JWTPayload;
  /** Expiry in epoch milliseconds, including the tolerance for clock differences. */
  readonly endsAtMs: number;
}

export interface Verifier {
  /** @throws TokenRejectedError; AppError `unavailable` when keys are missing and the provider is unavailable (S4) */
  verify(token: string): Promise<VerifiedToken>;
}

export interface VerifierOptions {
  readonly issuer: string;
  /** `aud` of a token must contain at least one of these. */
  readonly audiences: readonly string[];
  readonly keys: SigningKeys;
  /** Returns epoch milliseconds. */
  readonly now?: (() => number) | undefined;
}

/** Asymmetric algorithms only: with HS*, an attacker could sign tokens with the public key. */
const algorithms: readonly string[] = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');
/**
 * Types of identity and access tokens; other tokens of the issuer, such as logout tokens, have another type (RFC 8725).
 */
const types: readonly unknown[] = [undefined, 'jwt', 'at+jwt', 'application/at+jwt'];
const leewaySeconds = 30;
/** Maximum length of a subject according to OpenID Connect. */
const maxSubject = 255;
const maxEmail = 320;

export function createVerifier({ issuer, audiences, keys, now = () => Date.now() }: VerifierOptions): Verifier {
  /** Makes the checks that need no key first, so that foreign tokens cause no request to the provider. */
  const screen = (token: string): void => {
    const { header, claims } = read(token);
    if (!algorithms.includes(String(header.alg))) throw new TokenRejectedError('algorithm');
    if (!types.includes(typeof header.typ === 'string' ? header.typ.toLowerCase() : header.typ))
      throw new TokenRejectedError('type');
    if (claims.iss !== issuer) throw new TokenRejectedError('issuer');
    if (typeof claims.exp !== 'number') throw new TokenRejectedError('claims');
    if (endOf(claims.exp) <= now()) throw new TokenRejectedError('expired');
  };

  return {
    verify: async (token) => {
      screen(token);
      try {
        const { payload } = await jwtVerify(
          token,
          async (header) => {
            const key = await keys.find(header);
            if (key === undefined) throw new TokenRejectedError('key');
            return key;
          },
          {
            issuer,
            audience: [...audiences],
            algorithms: [...algorithms],
            clockTolerance: leewaySeconds,
            currentDate: new Date(now()),
            requiredClaims: ['exp', 'sub'],
          },
        );
        return { identity: readIdentity(issuer, payload), claims: payload, endsAtMs: endOf(payload.exp ?? 0) };
      } catch (error) {
        throw error instanceof errors.JOSEError ? new TokenRejectedError(refusalOf(error)) : error;
      }
    },
  };
}

const endOf = (exp: number): number => (exp + leewaySeconds) * 1_000;

function read(token: string) {
  try {
    return { header: decodeProtectedHeader(token), claims: decodeJwt(token) };
  } catch {
    throw new TokenRejectedError('malformed');
  }
}

function readIdentity(issuer: string, claims: JWTPayload): Identity {
  const { sub: subject, events } = claims;
  // Only logout tokens have `events`; older providers do not set a header type for them.
  if (events !== undefined) throw new TokenRejectedError('type');
  if (typeof subject !== 'string' || subject === '' || subject.length > maxSubject || !isStorable(subject))
    throw new TokenRejectedError('claims');
  return { issuer, subject, verifiedEmail: readVerifiedEmail(claims) };
}

/** Returns the email if `email_verified` is the boolean `true`; the text `"true"` is not accepted. */
export function readVerifiedEmail({
  email,
  email_verified: isVerified,
}: Readonly<Record<string, unknown>>): string | undefined {
  const isUsable = isVerified === true && typeof email === 'string' && email.length <= maxEmail && isStorable(email);
  return isUsable ? email : undefined;
}

/** Returns false for text with control characters or lone surrogates, which cannot be stored or displayed. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !/\p{Cc}/u.test(text);
}

function refusalOf(error: errors.JOSEError): TokenRejection {
  if (error instanceof errors.JWTExpired) return 'expired';
  if (error instanceof errors.JWTClaimValidationFailed) return claimRefusals[error.claim] ?? 'claims';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'algorithm';
  return error instanceof errors.JWSSignatureVerificationFailed ? 'signature' : 'malformed';
}

const claimRefusals: Readonly<Record<string, TokenRejection>> = { iss: 'issuer', aud: 'audience', nbf: 'early' };
