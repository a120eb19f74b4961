/**
 * Encryption of backups with age public keys. Creating a backup requires only public keys, which cannot decrypt earlier
 * backups; a restore requires the secret key.
 */
import { Readable } from 'node:stream';
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { BackupError } from './errors.ts';
import { hashOf } from './manifest.ts';

export interface Seal {
  /** Public keys (age) in a fixed order; an empty list means no encryption. */
  readonly recipients: readonly string[];
  seal(body: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>>;
}

/** Decrypts a body. */
export type Unseal = (body: AsyncIterable<Uint8Array>) => Promise<AsyncIterable<Uint8Array>>;

/** Creates the encryption for age public keys. @throws BackupError for an invalid key */
export function createSeal(keys: readonly string[]): Seal {
  const recipients = [...new Set(keys)].toSorted();
  if (recipients.length === 0) return { recipients, seal: (body) => Promise.resolve(body) };
  const encrypter = new Encrypter();
  for (const recipient of recipients) {
    // A secret key can be passed by mistake; the error must not repeat it.
    if (recipient.startsWith('AGE-SECRET-KEY-'))
      throw new BackupError('a secret key was given where a public one, age1…, is needed');
    try {
      encrypter.addRecipient(recipient);
    } catch {
      throw new BackupError(`"${recipient.slice(0, 16)}…" is not a public key of age: age1…`);
    }
  }
  return { recipients, seal: async (body) => fromWeb(await encrypter.encrypt(toWeb(body))) };
}

/**
 * Creates the decryption with age secret keys. @param identities secret keys @throws BackupError for an invalid key,
 * which the message does not repeat
 */
export function createUnseal(encryptedTo: readonly string[], identities: readonly string[]): Unseal {
  if (encryptedTo.length === 0) return (body) => Promise.resolve(body);
  if (identities.length === 0) throw new BackupError('the backup is encrypted: its secret key is needed');
  const decrypter = new Decrypter();
  for (const identity of identities) {
    try {
      decrypter.addIdentity(identity);
    } catch {
      throw new BackupError('a line of the secret keys is none of age: AGE-SECRET-KEY-1…');
    }
  }
  return async (body) => {
    try {
      return fromWeb(await decrypter.decrypt(toWeb(body)));
    } catch (error) {
      if (error instanceof Error && /no identity matched/.test(error.message))
        throw new BackupError('none of the secret keys opens this backup');
      throw error;
    }
  };
}

/** Returns the name of the pool of objects encrypted for these keys. A different set of keys has a different pool. */
export function poolOf(recipients: readonly string[]): string {
  return recipients.length === 0 ? 'plain' : `age-${hashOf(recipients.join('\n')).slice(0, 16)}`;
}

/** Generates an age key pair. */
export async function generateKeys(): Promise<{ secret: string; recipient: string }> {
  const secret = await generateX25519Identity();
  return { secret, recipient: await identityToRecipient(secret) };
}

const toWeb = (body: AsyncIterable<Uint8Array>) =>
  Readable.toWeb(Readable.from(body)) as unknown as globalThis.ReadableStream<Uint8Array>;
const fromWeb = (body: globalThis.ReadableStream<Uint8Array>): AsyncIterable<Uint8Array> => Readable.fromWeb(body);
