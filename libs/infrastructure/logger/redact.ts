/**
 * Redaction and truncation of log fields. pino's redaction by paths took a fifth of the gateway's time per request;
 * most lines have a few plain values, which need one check each here.
 */

import { truncateText } from '#libs/infrastructure/errors';
import { isSecretField, redacted, redactText } from '#libs/infrastructure/redaction';

type Fields = Record<string, unknown>;

/**
 * Serializers for secret fields of child loggers: pino passes these fields only through serializers, one field at a
 * time by its key.
 */
export const secretSerializers: Readonly<Record<string, () => string>> = Object.fromEntries(
  ['authorization', 'cookie', 'password', 'token', 'secret', 'apiKey', 'api_key'].map((key) => [key, () => redacted]),
);

/** Maximum nesting level; the fields of the line are level 1. */
const maxLevel = 3;
/**
 * Maximum number of characters of a text. Like the limits below it is needed because logged values may be copied from
 * requests (D60).
 */
const maxTextLength = 1_000;
const maxStackLength = 8_000;
const maxEntries = 50;

/** Returns a text without secrets, truncated when it is too long. */
export const boundText = (text: string, maxLength = maxTextLength): string => redactText(truncateText(text, maxLength));

/** Replaces secrets in the fields and truncates long values. Returns the same object when nothing changes. */
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

/** Field names without a secret. They are defined in code, so the cache is small. */
const plainNames = new Set<string>();
const maxNames = 2_000;

function isSecret(key: string, value: unknown): boolean {
  if (plainNames.has(key)) return false;
  if (isSecretField(key, 'x')) return isSecretField(key, value);
  if (plainNames.size < maxNames) plainNames.add(key);
  return false;
}

/**
 * Returns whether the fields of a value must be checked. Errors are not, so that they keep their prototype for pino's
 * serializer; its output is checked later.
 */
function isNested(value: unknown, level: number): value is Fields {
  return typeof value === 'object' && value !== null && level < maxLevel && !(value instanceof Error);
}
