/**
 * Encrypts and authenticates (A256GCM) values that are stored in the browser, so that the browser can neither read nor
 * change them. Each value has an expiry.
 */
import { hkdfSync } from 'node:crypto';
import { EncryptJWT, jwtDecrypt } from 'jose';

export interface Sealer<Value extends Readonly<Record<string, string>>> {
  /** Encrypts the value. Returns letters, digits, `-`, `_` and `.`, which are valid in a cookie. */
  seal(value: Value): Promise<string>;
  /** Returns the sealed value; undefined when the text is invalid or expired. */
  open(text: string): Promise<Value | undefined>;
}

export interface SealerOptions {
  /** Secret of the installation, the same in every replica. */
  readonly secret: string;
  /** A value sealed for one purpose is invalid for another. */
  readonly purpose: string;
  readonly lifeSeconds: number;
  /** Returns epoch milliseconds. */
  readonly now?: (() => number) | undefined;
}

/** A cookie has at most 4,096 bytes, so a longer value was not sealed here. */
const maxLength = 4_000;

export function createSealer<Value extends Readonly<Record<string, string>>>(options: SealerOptions): Sealer<Value> {
  const { secret, purpose, lifeSeconds, now = () => Date.now() } = options;
  const key = new Uint8Array(hkdfSync('sha256', secret, '', `coherence sealed value: ${purpose}`, 32));
  return {
    seal: (value) =>
      new EncryptJWT({ value })
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setExpirationTime(Math.floor(now() / 1_000) + lifeSeconds)
        .encrypt(key),
    open: async (text) => {
      if (text.length > maxLength) return undefined;
      try {
        const { payload } = await jwtDecrypt<{ value: Value }>(text, key, {
          keyManagementAlgorithms: ['dir'],
          contentEncryptionAlgorithms: ['A256GCM'],
          currentDate: new Date(now()),
          requiredClaims: ['exp', 'value'],
        });
        return payload.value;
      } catch {
        return undefined;
      }
    },
  };
}
