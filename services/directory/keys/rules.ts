/** Tokens of service keys, and what a caller can request for a new key (rules/access#service-keys; K1, K5, K10). */
import { createHash, randomBytes } from 'node:crypto';
import { type Actor, allScopes, hasScope, scopes } from '#libs/infrastructure/contract';
import { AppError, badRequest } from '#libs/infrastructure/errors';
import { isBlank } from '#libs/infrastructure/text';
import { formatInstant, type Instant, parseInstant } from '#libs/infrastructure/time';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const idLength = 20;
const shape = /^svc_key_([0-9A-Za-z]{12,24})_([A-Za-z0-9_-]{43})$/;

/** Components of a token as they are stored (K1). */
interface KeyParts {
  readonly id: string;
  readonly secretSha256: Buffer;
}

/** Creates the token of a new key, or a token with a new secret for an existing key. Only the reply contains it. */
export function createKeyToken(id: string = randomId(idLength, alphabet)): KeyParts & { readonly token: string } {
  const secret = createSecret();
  return { id, token: `svc_key_${id}_${secret}`, secretSha256: sha256(secret) };
}

/** Parses a token. Returns undefined for other formats. */
export function parseKeyToken(token: string): KeyParts | undefined {
  const [, id, secret] = shape.exec(token) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secretSha256: sha256(secret) };
}

/** Returns the scopes without duplicates. @throws AppError 400 for an unknown scope */
export function readScopes(given: readonly string[]): string[] {
  const known: readonly string[] = [...scopes, allScopes];
  const unknown = given.find((scope) => !known.includes(scope));
  if (unknown !== undefined) throw badRequest(`The scope "${unknown}" does not exist. Scopes: ${known.join(', ')}.`);
  return [...new Set(given)];
}

/** Returns the trimmed name. @throws AppError 400 when it is blank */
export function readName(given: string): string {
  const name = given.trim();
  if (isBlank(name)) throw badRequest('name must not be blank.');
  return name;
}

/** Returns the expiry instant, or null for a key that does not expire. @throws AppError 400 when it is in the past */
export function readExpiry(given: string | null | undefined, now: Instant): string | null {
  if (given === null || given === undefined) return null;
  const parsed = parseInstant(given);
  if (parsed.kind === 'invalid' || parsed.instant <= now) throw badRequest('expires_at must be in the future.');
  return formatInstant(parsed.instant);
}

/**
 * Checks the scopes of a new key: a caller that uses a key can grant only scopes of that key (K5, K10). @throws
 * AppError 403
 */
export function checkKeyScopes(actor: Actor | undefined, given: readonly string[]): void {
  const key = actor?.kind === 'user' ? actor.key : undefined;
  const lacking = key === undefined ? [] : given.filter((scope) => !hasScope(key.scopes, scope));
  if (lacking.length === 0) return;
  throw new AppError({ code: 'permission_denied', message: `Your key lacks the scope ${lacking.join(', ')}.` });
}

/**
 * Returns a random text with a uniform distribution. Bytes beyond the last multiple of the alphabet's size are
 * discarded.
 */
export function randomId(length: number, alphabet: string): string {
  const limit = 256 - (256 % alphabet.length);
  let id = '';
  while (id.length < length) {
    for (const byte of randomBytes(length + 16)) {
      if (byte < limit && id.length < length) id += alphabet.charAt(byte % alphabet.length);
    }
  }
  return id;
}

/** Returns a secret: 32 random bytes as 43 characters of base64url. */
export function createSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the SHA-256 of a secret. The secret is not stored. */
export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
