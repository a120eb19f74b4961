/** Everybody else's side: a service believes what the gateway has signed, and can hand it on as it came (architecture#actors). */
import { type KeyObject, verify } from 'node:crypto';
import type { Actor } from '#libs/contract';
import { isJsonObject } from '#libs/json';
import { type ActorCodec, AssertionRejected, type Claims, maxClockSkewMs } from './assertion.ts';
import { readPublicKeys } from './keys.ts';
import { requestName } from './signer.ts';

export interface ActorVerifier extends ActorCodec {
  /** The actor of an assertion that was made for exactly this HTTP request. @throws AssertionRejected */
  readFor(text: string, method: string, path: string): Actor;
}

/** Most assertions that are remembered as checked; each is some hundred bytes. */
const maxRemembered = 10_000;
const maxLength = 4_096;

/**
 * Believes assertions of any of `publicKeys` (separated by white space) and remembers which it has checked: one that comes again costs a
 * look-up. What it has read it can write again, for a call on the same behalf; anything else it cannot.
 * @param now milliseconds of the wall clock
 * @throws Error when a key is none
 */
export function createActorVerifier(publicKeys: string, now: () => number = Date.now): ActorVerifier {
  const keys = readPublicKeys(publicKeys);
  const checked = new Map<string, Claims>();
  const texts = new WeakMap<Actor, string>();

  const check = (text: string, nowMs: number): Claims => {
    const known = checked.get(text);
    const claims = known ?? verifyClaims(keys, text);
    if (claims.exp * 1000 + maxClockSkewMs <= nowMs) {
      checked.delete(text);
      throw new AssertionRejected('expired');
    }
    if (claims.iat * 1000 - maxClockSkewMs > nowMs) throw new AssertionRejected('early');
    if (known !== undefined) return known;
    const oldest = checked.size >= maxRemembered ? checked.keys().next().value : undefined;
    if (oldest !== undefined) checked.delete(oldest);
    checked.set(text, claims);
    texts.set(claims.actor, text);
    return claims;
  };

  return {
    decode: (text) => check(text, now()).actor,
    readFor: (text, method, path) => {
      const { actor, req } = check(text, now());
      if (req !== requestName(method, path)) throw new AssertionRejected('other_request');
      return actor;
    },
    encode: (actor) => {
      const text = texts.get(actor);
      if (text === undefined) throw new Error('an actor that the gateway has not vouched for cannot be handed on');
      return text;
    },
  };
}

/** @throws AssertionRejected */
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

/** The key's holder wrote it; this keeps out what another release of it would mean. */
function isClaims(value: unknown): value is Claims {
  if (!isJsonObject(value) || typeof value['iat'] !== 'number' || typeof value['exp'] !== 'number') return false;
  const { actor, req } = value;
  return isJsonObject(actor) && (actor['kind'] === 'shared' || actor['kind'] === 'user') && ['string', 'undefined'].includes(typeof req);
}
