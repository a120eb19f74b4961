/** The pair of keys of an installation, as settings carry it: Ed25519, base64 of DER, one line each. */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';

/** What an installation needs: the gateway gets the one, every other service the other. */
export interface ActorKeys {
  /** ACTOR_SIGNING_KEY: PKCS #8. Whoever has it can be anybody. */
  readonly signingKey: string;
  /** ACTOR_PUBLIC_KEY: SPKI. */
  readonly publicKey: string;
}

/** A new pair; what `npm start`, the tests and `secrets generate` of the CLI make an installation's settings with. */
export function generateActorKeys(): ActorKeys {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    signingKey: privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
    publicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
  };
}

/** The key that signs, and the header of its assertions. @throws Error when the text is no such key */
export function readSigningKey(text: string): { key: KeyObject; header: string } {
  const key = createPrivateKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs8' });
  return { key, header: headerOf(createPublicKey(key)) };
}

/**
 * The keys whose assertions are believed, by the header of these: each key has exactly one, so that neither the algorithm nor anything
 * else of it is the sender's choice. Several keys, separated by white space, are believed side by side while one takes the place of another.
 * @throws Error when the text holds something else
 */
export function readPublicKeys(text: string): ReadonlyMap<string, KeyObject> {
  const keys = text.split(/\s+/).filter((part) => part !== '');
  return new Map(
    keys.map((part) => {
      const key = createPublicKey({ key: Buffer.from(part, 'base64'), format: 'der', type: 'spki' });
      return [headerOf(key), key];
    }),
  );
}

/** JOSE header, encoded (RFC 7515, 8037). */
function headerOf(publicKey: KeyObject): string {
  const der = publicKey.export({ type: 'spki', format: 'der' });
  const kid = createHash('sha256').update(der).digest('base64url').slice(0, 16);
  return Buffer.from(JSON.stringify({ alg: 'EdDSA', kid }), 'utf8').toString('base64url');
}
