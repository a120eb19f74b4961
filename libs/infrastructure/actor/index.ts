/**
 * Signed actors (docs/adr/signed-actors.md): the gateway alone signs who acts, every other part verifies the assertion.
 * An assertion is a compact JWS (RFC 7515), so that common tools can read it.
 */
import type { Actor } from '#libs/infrastructure/contract';
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign as signBytes,
  verify,
} from 'node:crypto';
import { isJsonObject } from '#libs/infrastructure/json';

export { requireOpsOperator, requireOpsReader } from './operators.ts';

/** Issue and expiry time in seconds since the epoch, as in a JWT. */
interface Claims {
  readonly actor: Actor;
  readonly iat: number;
  readonly exp: number;
  /**
   * `<method> <path>` of the only HTTP request that the assertion permits. Absent: the actor may call any RPC that it
   * has rights for.
   */
  readonly req?: string;
}

/**
 * Lifetime of an assertion. An attacker inside a service can act for this long, and only for accounts that use the
 * service at that time.
 */
export const assertionLifetimeMs = 120_000;
/** Age at which the gateway signs a new assertion, so that an assertion outlives the request that carries it. */
const renewAfterMs = assertionLifetimeMs / 2;
/** Tolerated difference between the clocks of two machines. */
const maxClockSkewMs = 5_000;

/** Encodes and decodes the `Actor` header of calls (architecture#actors). */
export interface ActorCodec {
  /** Returns an assertion for the actor. @throws Error for an actor that this process cannot vouch for */
  encode(actor: Actor): string;
  /** Returns the actor of an assertion. @throws AssertionRejected */
  decode(text: string): Actor;
}

/** Why an assertion is rejected; a label of metrics. */
export const rejectionReasons = [
  'malformed',
  'unknown_key',
  'bad_signature',
  'expired',
  'early',
  'other_request',
] as const;
type RejectionReason = (typeof rejectionReasons)[number];

export class AssertionRejected extends Error {
  readonly reason: RejectionReason;

  constructor(reason: RejectionReason) {
    super(`the actor assertion was rejected: ${reason.replace('_', ' ')}`);
    this.name = 'AssertionRejected';
    this.reason = reason;
  }
}

/** The key pair of an installation: the gateway gets the signing key, every other service the public key. */
export interface ActorKeys {
  /** ACTOR_SIGNING_KEY, PKCS #8. A process with this key can act as any account. */
  readonly signingKey: string;
  /** ACTOR_PUBLIC_KEY, SPKI. */
  readonly publicKey: string;
}

/** Generates a key pair for `npm start`, for tests and for the CLI command `secrets generate`. */
export function generateActorKeys(): ActorKeys {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    signingKey: privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
    publicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
  };
}

/**
 * Parses the signing key. Returns the key and the JOSE header of assertions that it signs. @throws Error when the text
 * is not a signing key
 */
function readSigningKey(text: string): { key: KeyObject; header: string } {
  const key = createPrivateKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs8' });
  return { key, header: headerOf(createPublicKey(key)) };
}

/**
 * Returns the accepted public keys by the encoded header of their assertions: each key has one exact header, so that a
 * sender cannot choose the algorithm. Several keys, separated by white space, are accepted during a key rotation.
 * @throws Error when the text contains anything else
 */
function readPublicKeys(text: string): ReadonlyMap<string, KeyObject> {
  const keys = text.split(/\s+/).filter((part) => part !== '');
  return new Map(
    keys.map((part) => {
      const key = createPublicKey({ key: Buffer.from(part, 'base64'), format: 'der', type: 'spki' });
      return [headerOf(key), key];
    }),
  );
}

/** Returns the encoded JOSE header of assertions for this key (RFC 7515, 8037). */
function headerOf(publicKey: KeyObject): string {
  const der = publicKey.export({ type: 'spki', format: 'der' });
  const kid = createHash('sha256').update(der).digest('base64url').slice(0, 16);
  return Buffer.from(JSON.stringify({ alg: 'EdDSA', kid }), 'utf8').toString('base64url');
}

export interface ActorSigner extends ActorCodec {
  /** Returns an assertion for one HTTP request, e.g. `POST` and `/internal/…`. */
  encodeFor(actor: Actor, method: string, path: string): string;
}

interface SignedAssertion {
  readonly text: string;
  readonly signedAtMs: number;
}

/** One entry for each account that was active within the lifetime of an assertion. */
const maxCachedSignatures = 10_000;

/**
 * Creates a signer of assertions. It reuses each assertion for half of its lifetime, so that most requests need only a
 * look-up.
 * @param now milliseconds of the wall clock
 * @throws Error when the key is invalid
 */
export function createActorSigner(signingKey: string, now: () => number = Date.now): ActorSigner {
  const { key, header } = readSigningKey(signingKey);
  // Two caches, because the gateway's session cache creates new actor objects with the same content every second.
  const byActor = new WeakMap<Actor, SignedAssertion>();
  const byContent = new Map<string, SignedAssertion>();

  const sign = (actor: Actor, nowMs: number, req?: string): string => {
    const iat = Math.floor(nowMs / 1000);
    const claims: Claims = { actor, iat, exp: iat + assertionLifetimeMs / 1000, ...(req === undefined ? {} : { req }) };
    const text = `${header}.${Buffer.from(JSON.stringify(claims), 'utf8').toString('base64url')}`;
    return `${text}.${signBytes(null, Buffer.from(text, 'ascii'), key).toString('base64url')}`;
  };
  const isFresh = (signed: SignedAssertion | undefined, nowMs: number): signed is SignedAssertion =>
    signed !== undefined && nowMs >= signed.signedAtMs && nowMs - signed.signedAtMs < renewAfterMs;

  return {
    encode: (actor) => {
      const nowMs = now();
      const last = byActor.get(actor);
      if (isFresh(last, nowMs)) return last.text;
      const content = JSON.stringify(actor);
      let signed = byContent.get(content);
      if (!isFresh(signed, nowMs)) {
        signed = { text: sign(actor, nowMs), signedAtMs: nowMs };
        byContent.delete(content); // the new entry must be the last one of the map
        byContent.set(content, signed);
        const oldest = byContent.size > maxCachedSignatures ? byContent.keys().next().value : undefined;
        if (oldest !== undefined) byContent.delete(oldest);
      }
      byActor.set(actor, signed);
      return signed.text;
    },
    encodeFor: (actor, method, path) => sign(actor, now(), requestName(method, path)),
    // The gateway receives no calls, so it accepts no assertion.
    decode: () => {
      throw new AssertionRejected('unknown_key');
    },
  };
}

/** Returns the name of a request in assertions and tickets: `<method> <path>`, with GET for HEAD. */
export function requestName(method: string, path: string): string {
  return `${method === 'HEAD' ? 'GET' : method} ${path}`;
}

export interface ActorVerifier extends ActorCodec {
  /** Returns the actor of an assertion for exactly this HTTP request. @throws AssertionRejected */
  decodeFor(text: string, method: string, path: string): Actor;
}

/** Maximum number of verified assertions in memory; each needs a few hundred bytes. */
const maxCachedVerifications = 10_000;
const maxLength = 4_096;

/**
 * Creates a verifier that accepts assertions of any of `publicKeys` (separated by white space) and caches verified
 * ones. For nested calls it encodes actors, but only those that it decoded before.
 * @param now milliseconds of the wall clock
 * @throws Error when a key is invalid
 */
export function createActorVerifier(publicKeys: string, now: () => number = Date.now): ActorVerifier {
  const keys = readPublicKeys(publicKeys);
  const verified = new Map<string, Claims>();
  const texts = new WeakMap<Actor, string>();

  const check = (text: string, nowMs: number): Claims => {
    const known = verified.get(text);
    const claims = known ?? verifyClaims(keys, text);
    if (claims.exp * 1000 + maxClockSkewMs <= nowMs) {
      verified.delete(text);
      throw new AssertionRejected('expired');
    }
    if (claims.iat * 1000 - maxClockSkewMs > nowMs) throw new AssertionRejected('early');
    if (known !== undefined) return known;
    const oldest = verified.size >= maxCachedVerifications ? verified.keys().next().value : undefined;
    if (oldest !== undefined) verified.delete(oldest);
    verified.set(text, claims);
    texts.set(claims.actor, text);
    return claims;
  };

  return {
    decode: (text) => check(text, now()).actor,
    decodeFor: (text, method, path) => {
      const { actor, req } = check(text, now());
      if (req !== requestName(method, path)) throw new AssertionRejected('other_request');
      return actor;
    },
    encode: (actor) => {
      const text = texts.get(actor);
      if (text === undefined) throw new Error('an actor without an assertion of the gateway cannot be passed on');
      return text;
    },
  };
}

/** Returns the claims of an assertion with a valid signature. @throws AssertionRejected */
function verifyClaims(keys: ReadonlyMap<string, KeyObject>, text: string): Claims {
  const [header = '', payload = '', signature = '', ...rest] = text.length > maxLength ? [] : text.split('.');
  if (payload === '' || signature === '' || rest.length > 0) throw new AssertionRejected('malformed');
  const key = keys.get(header);
  if (key === undefined) throw new AssertionRejected('unknown_key');
  if (!verify(null, Buffer.from(`${header}.${payload}`, 'ascii'), key, Buffer.from(signature, 'base64url')))
    throw new AssertionRejected('bad_signature');
  const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
  if (!isClaims(claims)) throw new AssertionRejected('malformed');
  Object.freeze(claims.actor);
  return claims;
}

/** The signer is trusted; this rejects claims of an incompatible release. */
function isClaims(value: unknown): value is Claims {
  if (!isJsonObject(value) || typeof value['iat'] !== 'number' || typeof value['exp'] !== 'number') return false;
  const { actor, req } = value;
  return (
    isJsonObject(actor) &&
    (actor['kind'] === 'shared' || actor['kind'] === 'user') &&
    ['string', 'undefined'].includes(typeof req)
  );
}
