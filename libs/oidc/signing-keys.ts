/**
 * The provider's public keys, remembered (S1, S4): what is known goes on while the provider is away, and an unknown key is asked for, by however
 * many tokens it is named, at most every half a minute.
 */
import { createLocalJWKSet, errors, type CryptoKey, type JWSHeaderParameters } from 'jose';
import { unavailable } from '#libs/errors';
import type { Provider } from './provider.ts';

export interface SigningKeys {
  /** The key that a header names; undefined when the provider has none such. @throws AppError unavailable when it cannot be asked */
  find(header: JWSHeaderParameters): Promise<CryptoKey | undefined>;
}

export interface SigningKeyOptions {
  readonly provider: Provider;
  /** Told when the provider could not be asked. */
  readonly onFailure?: ((error: unknown) => void) | undefined;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: (() => number) | undefined;
}

/** Between two questions about unknown keys. */
const unknownKeyMs = 30_000;
/** Between two tries while no key is known at all, as when the provider was away from the beginning. */
const firstKeysMs = 5_000;
/** After which the keys are read again, so that one that the provider has withdrawn does not stay good. */
const maxAgeMs = 10 * 60_000;

type Finder = ReturnType<typeof createLocalJWKSet>;

export function createSigningKeys({ provider, onFailure, now = () => performance.now() }: SigningKeyOptions): SigningKeys {
  let known: Finder | undefined;
  let readAt = -Infinity;
  let triedAt = -Infinity;
  /** The last question about an unknown key. */
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

  /** Reads the keys for one that is not known, unless that was done just now. */
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
      // Not waited for: with keys that are known nothing depends on the provider (S4).
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
    // Also several that fit, as of a header without a `kid`: which one is meant is not tried out.
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}
