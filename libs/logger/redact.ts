/**
 * Redaction and bounds of what is logged. pino's own, by paths with wildcards, took a fifth of the gateway's time per request; most lines
 * hold a few plain values, which this passes through after one look at each.
 */

import { truncateText } from '#libs/errors';
import { isSecretField, redacted, redactText } from '#libs/redaction';

type Fields = Record<string, unknown>;

/** Fields that a child logger binds pass through pino's serializers only, which work on one field by its key. */
export const secretSerializers: Readonly<Record<string, () => string>> = Object.fromEntries(
  ['authorization', 'cookie', 'password', 'token', 'secret', 'apiKey', 'api_key'].map((key) => [key, () => redacted]),
);

/** Level of nesting down to which fields are looked at; the line's own fields are level 1. */
const maxLevel = 3;
/** Characters of a text, entries of a list or an object: what is logged may come from a request, and grows no more than this (D60). */
const maxTextLength = 1_000;
const maxStackLength = 8_000;
const maxEntries = 50;

/** A text without secrets, cut when it is long. */
export const boundText = (text: string, maxLength = maxTextLength): string => redactText(truncateText(text, maxLength));

/** The fields with secrets replaced and long values cut; the same object when there is nothing to do. */
export function boundFields(fields: Fields): Fields {
  return needsBounds(fields, 1) ? bound(fields, 1) : fields;
}

function needsBounds(fields: Fields, level: number): boolean {
  let entries = 0;
  for (const key in fields) {
    const value = fields[key];
    if (++entries > maxEntries || isSecret(key, value)) return true;
    if (typeof value === 'string' && boundText(value) !== value) return true;
    if (isNested(value, level) && needsBounds(value, level + 1)) return true;
  }
  return false;
}

function bound(fields: Fields, level: number): Fields {
  const entries = Object.entries(fields).slice(0, maxEntries);
  const bounded = entries.map(([key, value]): [string, unknown] => {
    if (isSecret(key, value)) return [key, redacted];
    if (typeof value === 'string') return [key, boundText(value, key === 'stack' ? maxStackLength : maxTextLength)];
    return [key, isNested(value, level) ? bound(value, level + 1) : value];
  });
  return (Array.isArray(fields) ? bounded.map(([, value]) => value) : Object.fromEntries(bounded)) as Fields;
}

/** Names of fields come from the code, and are few. */
const plainNames = new Set<string>();
const maxNames = 2_000;

function isSecret(key: string, value: unknown): boolean {
  if (plainNames.has(key)) return false;
  if (isSecretField(key, 'x')) return isSecretField(key, value);
  if (plainNames.size < maxNames) plainNames.add(key);
  return false;
}

/** Errors keep their prototype for pino's serializer; what that makes of them comes here by itself. */
function isNested(value: unknown, level: number): value is Fields {
  return typeof value === 'object' && value !== null && level < maxLevel && !(value instanceof Error);
}
