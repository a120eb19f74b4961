/** What an endpoint wants, and its secret (rules/events#endpoints; V5, V11). */
import { randomBytes } from 'node:crypto';
import { badRequest } from '#libs/errors';
import { readTypes } from '../feed/index.ts';

const secretBytes = 32;

/** The types as they were named, each once; null for all. @throws AppError 400 for one that does not exist */
export function readWanted(given: readonly string[] | null | undefined): string[] | null {
  if (given === null || given === undefined) return null;
  const unknown = given.find((name) => name.includes(',') || readTypes(name) === undefined);
  if (unknown !== undefined) throw badRequest(`There is no type "${unknown}".`);
  return [...new Set(given.map((name) => name.trim()))];
}

export function createSecret(): Buffer {
  return randomBytes(secretBytes);
}

/** A secret as its owner gets it. */
export function writeSecret(secret: Uint8Array): string {
  return `whsec_${Buffer.from(secret).toString('base64')}`;
}
