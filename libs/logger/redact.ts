/**
 * Redaction and truncation of log fields. pino's redaction by paths took a fifth of the gateway's time per request;
 * most lines have a few plain values, which need one check each here.
 */

import { truncateText } from '#libs/errors';
import { isSecretField, redacted, redactText } from '#libs/redaction';

type Fields = Record<string, unknown>;

/** Bindings of child loggers pass only through pino's serializers, which handle one field by its key. */
export const secretSerializers: Readonly<Record<string, () => string>> = Object.fromEntries(
  ['authorization', 'cookie', 'password', 'token', 'secret', 'apiKey', 'api_key'].map((key) => [key, () => redacted]),
);

/** Maximum nesting level; the fields of the line are level 1. */
const maxLevel = 3;
/** Maximum characters of a text and entries of a list or object, since logged values may come from requests (D60). */
const maxTextLength = 1_000;
const maxStackLength = 8_000;
const maxEntries = 50;

/** A text without secrets, truncated when long. */
export const boundText = (text: string, maxLength = maxTextLength): string => redactText(truncateText(text, maxLength));

/** The fields with secrets replaced and long values truncated; the same object when nothing changes. */
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

/** Field names are defined in code, so the cache is small. */
const plainNames = new Set<string>();
const maxNames = 2_000;

function isSecret(key: string, value: unknown): boolean {
  if (plainNames.has(key)) return false;
  if (isSecretField(key, 'x')) return isSecretField(key, value);
  if (plainNames.size < maxNames) plainNames.add(key);
  return false;
}

/** Errors keep their prototype for pino's serializer, whose output passes through here again. */
function isNested(value: unknown, level: number): value is Fields {
  return typeof value === 'object' && value !== null && level < maxLevel && !(value instanceof Error);
}
