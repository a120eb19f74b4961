/** Values that a browser keeps for us and can neither read nor change: encrypted and authenticated (A256GCM), and good for a time. */
import { hkdfSync } from 'node:crypto';
import { EncryptJWT, jwtDecrypt } from 'jose';

export interface Sealer<Value extends Readonly<Record<string, string>>> {
  /** Letters, digits, `-`, `_` and `.`, as a cookie takes them. */
  seal(value: Value): Promise<string>;
  /** What was sealed; undefined for any other text, and when its time is over. */
  open(text: string): Promise<Value | undefined>;
}

export interface SealerOptions {
  /** Of the installation, the same in every replica. */
  readonly secret: string;
  /** What the values are for: what is sealed for one purpose is none for another. */
  readonly purpose: string;
  readonly lifeSeconds: number;
  /** Epoch milliseconds. */
  readonly now?: (() => number) | undefined;
}

/** A cookie has 4,096 bytes at most; nothing longer was sealed here. */
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
