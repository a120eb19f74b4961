/**
 * Cache of tokens that the directory verified. Entries live for less than a second, so that a revocation takes effect
 * on every replica within a second even when its event is lost (rules/access#credentials; K6).
 */
import type { Actor } from '#libs/infrastructure/contract';
import { AppError, unavailable } from '#libs/infrastructure/errors';
import type { CallContext } from '#libs/infrastructure/nats';

export type UserActor = Extract<Actor, { kind: 'user' }>;

/** A type of bearer token that acts for an account. A text matches at most one type. */
export interface Credential {
  /** Returns whether the text has the format of this credential. Only matching texts are verified. */
  matches(token: string): boolean;
  /**
   * Returns the actor of a token, synchronously when it is cached.
   * @param newCall creates the call context when the directory has to be called
   * @throws AppError unauthenticated; unavailable when the token cannot be verified
   */
  verify(token: string, newCall: () => CallContext): UserActor | Promise<UserActor>;
}

/** Returns the same error for every rejected token, to hide the reason. */
export function unauthenticated(): AppError {
  return new AppError({ code: 'unauthenticated', message: 'Authentication is required.' });
}

export interface CachedCredential extends Credential {
  /** Removes the cached tokens of a session or key, e.g. after the logout of the session. */
  invalidate(id: string): void;
  invalidateAll(): void;
}

interface CredentialCacheOptions {
  /** Format of the token. The first group, if any, is the id of the session or key. */
  readonly pattern: RegExp;
  /**
   * Verifies a token at the directory. @throws AppError unauthenticated; any other error means that the token cannot be
   * verified
   */
  readonly fetch: (token: string, call: CallContext) => Promise<VerifiedToken>;
  /** Monotonic clock in milliseconds. */
  readonly now?: (() => number) | undefined;
}

interface VerifiedToken {
  readonly actor: UserActor;
  /** Remaining lifetime of the token in milliseconds, if it expires. */
  readonly validForMs?: number;
}

/**
 * The lifetime starts with the call to the directory, so that an entry including the call lives for less than a second.
 */
const ttlMs = 800;
const maxEntries = 10_000;

interface CacheEntry {
  readonly id: string;
  readonly actor: UserActor;
  readonly until: number;
}

interface PendingCall {
  readonly id: string;
  readonly actor: Promise<UserActor>;
  /** The token was revoked during the call: the result is not cached, and other requests do not share the call. */
  stale: boolean;
}

export function createCredentialCache({
  pattern,
  fetch,
  now = () => performance.now(),
}: CredentialCacheOptions): CachedCredential {
  const entries = new Map<string, CacheEntry>();
  const pending = new Map<string, PendingCall>();

  const verifyToken = async (token: string, call: CallContext): Promise<Required<VerifiedToken>> => {
    try {
      const { actor, validForMs = ttlMs } = await fetch(token, { ...call, actor: undefined });
      return { actor: Object.freeze(actor), validForMs };
    } catch (error) {
      if (error instanceof AppError && error.code === 'unauthenticated') throw unauthenticated();
      throw unavailable('Credentials cannot be checked now', { cause: error });
    }
  };

  const startCall = (token: string, newCall: () => CallContext): PendingCall => {
    const startedAt = now();
    const id = pattern.exec(token)?.[1] ?? '';
    const result = verifyToken(token, newCall());
    const call: PendingCall = { id, actor: result.then(({ actor }) => actor), stale: false };
    pending.set(token, call);
    result.then(
      ({ actor, validForMs }) => {
        if (pending.get(token) === call) pending.delete(token);
        if (call.stale) return;
        if (entries.size >= maxEntries) entries.clear();
        entries.set(token, { id, actor, until: startedAt + Math.min(ttlMs, validForMs) });
      },
      () => {
        if (pending.get(token) === call) pending.delete(token);
      },
    );
    return call;
  };

  return {
    matches: (token) => pattern.test(token),
    verify: (token, newCall) => {
      const cached = entries.get(token);
      if (cached !== undefined) {
        if (now() < cached.until) return cached.actor;
        entries.delete(token);
      }
      return (pending.get(token) ?? startCall(token, newCall)).actor;
    },
    invalidate: (id) => {
      for (const [token, entry] of entries) if (entry.id === id) entries.delete(token);
      for (const [token, call] of pending) {
        if (call.id !== id) continue;
        call.stale = true;
        pending.delete(token);
      }
    },
    invalidateAll: () => {
      entries.clear();
      for (const call of pending.values()) call.stale = true;
      pending.clear();
    },
  };
}
