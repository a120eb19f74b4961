/** Rules for the owner, types and secret of an endpoint (rules/events#endpoints; V5, V11). */
import { randomBytes } from 'node:crypto';
import type { Actor } from '#libs/infrastructure/contract';
import { AppError, badRequest } from '#libs/infrastructure/errors';
import { parseTypes } from '../feed/index.ts';

const secretBytes = 32;

/** Account whose endpoints the caller can see; null for the endpoints of all accounts. */
export type OwnerId = number | null;

/** Returns the actor if it is a user. @throws AppError 401 */
export function requireUser(actor: Actor | undefined): Extract<Actor, { kind: 'user' }> {
  if (actor?.kind !== 'user') throw new AppError({ code: 'unauthenticated', message: 'Authentication required.' });
  return actor;
}

/** Returns the owner filter for the caller. Superusers see the endpoints of all accounts (V5). @throws AppError 401 */
export function findOwner(actor: Actor | undefined): OwnerId {
  const user = requireUser(actor);
  return user.superuser ? null : user.accountId;
}

/**
 * Returns the requested types without duplicates; returns null for all types. @throws AppError 400 for an unknown type
 */
export function validateTypes(requested: readonly string[] | null | undefined): string[] | null {
  if (requested === null || requested === undefined) return null;
  const unknown = requested.find((name) => name.includes(',') || parseTypes(name) === undefined);
  if (unknown !== undefined) throw badRequest(`Unknown event type "${unknown}".`);
  return [...new Set(requested.map((name) => name.trim()))];
}

export function createSecret(): Buffer {
  return randomBytes(secretBytes);
}

/** Returns the secret in the format of Standard Webhooks. */
export function formatSecret(secret: Uint8Array): string {
  return `whsec_${Buffer.from(secret).toString('base64')}`;
}
