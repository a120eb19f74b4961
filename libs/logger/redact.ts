/**
 * Redaction and bounds of what is logged. pino's own, by paths with wildcards, took a fifth of the gateway's time per request; most lines
 * hold a few plain values, which this passes through after one look at each key.
 */

import { cutText } from '#libs/errors';

type Fields = Record<string, unknown>;

const secretKeys = new Set([
  'authorization',
  'cookie',
  'password',
  'token',
  'access_token',
  'secret',
  'apiKey',
  'api_key',
  'bot_token',
  'webhook_secret',
  'API_TOKEN',
  'API_LOGIN_SECRET',
  'ACTOR_SIGNING_KEY',
  'S3_SECRET_ACCESS_KEY',
  'DATABASE_URL',
  'NATS_URL',
]);
const censor = '[redacted]';
/** The same for pino's serializers, which work on one field by its key. */
export const secretSerializers: Readonly<Record<string, () => string>> = Object.fromEntries(
  [...secretKeys].map((key) => [key, () => censor]),
);

/** Level of nesting down to which fields are looked at; the line's own fields are level 1. */
const maxLevel = 3;
/** Characters of a text, entries of a list or an object: what is logged may come from a request, and grows no more than this (D60). */
const maxTextLength = 1_000;
const maxStackLength = 8_000;
const maxEntries = 50;

/** The fields with the values of secret keys replaced and long ones cut; the same object when there is nothing to do. */
export function boundFields(fields: Fields): Fields {
  return needsBounds(fields, 1) ? bound(fields, 1) : fields;
}

function needsBounds(fields: Fields, level: number): boolean {
  let entries = 0;
  for (const key in fields) {
    if (++entries > maxEntries || secretKeys.has(key)) return true;
    const value = fields[key];
    if (typeof value === 'string' && value.length > maxTextLength) return true;
    if (isNested(value, level) && needsBounds(value, level + 1)) return true;
  }
  return false;
}

function bound(fields: Fields, level: number): Fields {
  const entries = Object.entries(fields).slice(0, maxEntries);
  const bounded = entries.map(([key, value]): [string, unknown] => {
    if (secretKeys.has(key)) return [key, censor];
    if (typeof value === 'string') return [key, cutText(value, key === 'stack' ? maxStackLength : maxTextLength)];
    return [key, isNested(value, level) ? bound(value, level + 1) : value];
  });
  return (Array.isArray(fields) ? bounded.map(([, value]) => value) : Object.fromEntries(bounded)) as Fields;
}

/** Errors keep their prototype for pino's serializer; what that makes of them comes here by itself. */
function isNested(value: unknown, level: number): value is Fields {
  return typeof value === 'object' && value !== null && level < maxLevel && !(value instanceof Error);
}
