/**
 * Values stored in the browser that it can neither read nor change: encrypted and authenticated (A256GCM), with an
 * expiry.
 */
import { hkdfSync } from 'node:crypto';
import { EncryptJWT, jwtDecrypt } from 'jose';

export interface Sealer<Value extends Readonly<Record<string, string>>> {
  /** Returns letters, digits, `-`, `_` and `.`, which are valid in a cookie. */
  seal(value: Value): Promise<string>;
  /** Returns the sealed value; undefined for any other text, and after its expiry. */
  open(text: string): Promise<Value | undefined>;
}

export interface SealerOptions {
  /** Secret of the installation, the same in every replica. */
  readonly secret: string;
  /** Purpose of the values; a value sealed for one purpose is invalid for another. */
  readonly purpose: string;
  readonly lifeSeconds: number;
  /** Returns epoch milliseconds. */
  readonly now?: (() => number) | undefined;
}

/** A cookie has at most 4,096 bytes; longer values were not sealed here. */
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
