/**
 * Cache of the provider's public keys (S1, S4): known keys remain usable while the provider is unavailable; unknown
 * keys cause at most one request every 30 seconds, regardless of the number of tokens.
 */
import { createLocalJWKSet, errors, type CryptoKey, type JWSHeaderParameters } from 'jose';
import { unavailable } from '#libs/infrastructure/errors';
import type { Provider } from './provider.ts';

export interface SigningKeys {
  /**
   * Returns the key that a header references; undefined when the provider does not have it. @throws AppError
   * `unavailable` when the provider is unavailable
   */
  find(header: JWSHeaderParameters): Promise<CryptoKey | undefined>;
}

export interface SigningKeyOptions {
  readonly provider: Provider;
  /** Called when a request to the provider failed. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** Returns milliseconds of a monotonic clock. */
  readonly now?: (() => number) | undefined;
}

/** Minimum milliseconds between two requests because of unknown keys. */
const unknownKeyMs = 30_000;
/** Milliseconds between attempts while no key is known, e.g. when the provider is unavailable at startup. */
const firstKeysMs = 5_000;
/** Milliseconds until the keys are read again, so that withdrawn keys expire. */
const maxAgeMs = 10 * 60_000;

type Finder = ReturnType<typeof createLocalJWKSet>;

export function createSigningKeys({
  provider,
  onFailure,
  now = () => performance.now(),
}: SigningKeyOptions): SigningKeys {
  let known: Finder | undefined;
  let readAt = -Infinity;
  let triedAt = -Infinity;
  /** Time of the last request that an unknown key caused. */
  let requestedAt = -Infinity;
  let isAway = false;
  let reading: Promise<void> | undefined;

  const read = async (): Promise<void> => {
    triedAt = now();
    try {
      known = createLocalJWKSet(await provider.readKeys());
      readAt = now();
      isAway = false;
    } catch (error) {
      isAway = true;
      onFailure?.(error);
    } finally {
      reading = undefined;
    }
  };
  const readOnce = (): Promise<void> => (reading ??= read());

  /** Reads the keys because of an unknown one, unless they were requested recently. */
  const request = async (): Promise<void> => {
    if (reading !== undefined) return reading;
    if (known === undefined) {
      if (now() - triedAt >= firstKeysMs) await readOnce();
    } else if (now() - requestedAt >= unknownKeyMs) {
      requestedAt = now();
      await readOnce();
    }
  };

  return {
    find: async (header) => {
      // Not awaited: with cached keys, verification does not depend on the provider (S4).
      if (known !== undefined && now() - readAt >= maxAgeMs && now() - triedAt >= unknownKeyMs) void readOnce();
      const key = await findIn(known, header);
      if (key !== undefined) return key;
      await request();
      const found = await findIn(known, header);
      if (found === undefined && isAway) throw unavailable('The identity provider cannot be asked for its keys');
      return found;
    },
  };
}

async function findIn(keys: Finder | undefined, header: JWSHeaderParameters): Promise<CryptoKey | undefined> {
  if (keys === undefined) return undefined;
  try {
    return await keys(header);
  } catch (error) {
    // Also when several keys match, e.g. for a header without `kid`; they are not tried one by one.
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}
