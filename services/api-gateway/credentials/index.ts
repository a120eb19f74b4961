/**
 * Tokens that the gateway accepts besides the shared token: sessions, service keys, and JWTs of the identity provider.
 */
import type { Bus } from '#libs/infrastructure/nats';
import type { Verifier } from '#libs/infrastructure/oidc';
import { directory } from '#services/directory';
import type { IdentityProvider } from '../identity-provider.ts';
import { type CachedCredential, createCredentialCache, type Credential } from './cache.ts';

export interface Credentials {
  /** Credentials that the APIs accept. */
  readonly credentials: readonly Credential[];
  /** Sessions that the console accepts. */
  readonly consoleSessions: Credential;
  /** Removes a session from the caches of this process. */
  readonly invalidateSession: (key: string) => void;
}

/** @param now monotonic clock in milliseconds */
export function createCredentials(bus: Bus, provider: IdentityProvider | undefined, now?: () => number): Credentials {
  const sessions = createSessions(bus, { now });
  const consoleSessions = createSessions(bus, { forConsole: true, now });
  const invalidateSession = (key: string): void =>
    [sessions, consoleSessions].forEach((cache) => cache.invalidate(key));
  bus.subscribeEvent(directory.events.sessionsRevoked, ({ session_keys }) => session_keys.forEach(invalidateSession));
  const keys = createKeys(bus, now);
  bus.subscribeEvent(directory.events.keysChanged, ({ key_ids }) => key_ids.forEach((id) => keys.invalidate(id)));
  const credentials = [sessions, keys];
  if (provider?.verifier !== undefined) {
    credentials.push(createIdentityTokens({ bus, verifier: provider.verifier, onFailure: provider.countRefusal, now }));
  }
  bus.onReconnect(() => [...credentials, consoleSessions].forEach((credential) => credential.invalidateAll()));
  return { credentials, consoleSessions, invalidateSession };
}

const sessionPattern = /^svc_agentic_([a-z0-9]{32})_[A-Za-z0-9_-]{43}$/;

interface SessionsOptions {
  /** True accepts only console sessions; false accepts only API sessions. */
  readonly forConsole?: boolean;
  /** Monotonic clock in milliseconds. */
  readonly now?: (() => number) | undefined;
}

/** Verifies sessions of the API or of the console, which have the same format (S3). */
export function createSessions(
  bus: Pick<Bus, 'call'>,
  { forConsole = false, now }: SessionsOptions = {},
): CachedCredential {
  return createCredentialCache({
    pattern: sessionPattern,
    fetch: (token, call) =>
      bus.call(directory.rpcs.verifySession, { token, ...(forConsole ? { for_console: true } : {}) }, call),
    now,
  });
}

const keyPattern = /^svc_key_([0-9A-Za-z]{12,24})_[A-Za-z0-9_-]{43}$/;

/** Verifies service keys (rules/access#service-keys; K1, K6). @param now monotonic clock in milliseconds */
export function createKeys(bus: Pick<Bus, 'call'>, now?: () => number): CachedCredential {
  return createCredentialCache({
    pattern: keyPattern,
    fetch: (token, call) => bus.call(directory.rpcs.verifyKey, { token }, call),
    now,
  });
}

interface IdentityTokenOptions {
  readonly bus: Pick<Bus, 'call'>;
  readonly verifier: Verifier;
  /** Called when a token is rejected or cannot be verified. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** Monotonic clock in milliseconds. */
  readonly now?: (() => number) | undefined;
}

/** A JWT starts with a JSON object in base64url. Other tokens of the platform have other prefixes. */
const jwtPattern = /^eyJ/;

/** Verifies JWTs of the identity provider (rules/access#identity-provider; S1, S2, S4). */
function createIdentityTokens({ bus, verifier, onFailure, now }: IdentityTokenOptions): CachedCredential {
  return createCredentialCache({
    pattern: jwtPattern,
    fetch: async (token, call) => {
      const { identity, endsAtMs } = await verifier.verify(token).catch((error: unknown) => {
        onFailure?.(error);
        throw error;
      });
      const { issuer, subject, verifiedEmail } = identity;
      const request = { issuer, subject, ...(verifiedEmail === undefined ? {} : { email: verifiedEmail }) };
      const { actor } = await bus.call(directory.rpcs.verifyIdentity, request, call);
      return { actor, validForMs: endsAtMs - Date.now() };
    },
    now,
  });
}
