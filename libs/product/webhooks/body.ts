/**
 * Bodies of webhooks: signature, encoding, and JSON in which everything that cannot be stored is repaired
 * (rules/webhooks#text; D33d, D106).
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import {
  findJsonProblem,
  isJsonObject,
  isRawNumber,
  type JsonObject,
  maxJsonDepth,
  parseJson,
} from '#libs/infrastructure/json';
import { toSingleLine, toMultiline, removeControlCharacters } from '#libs/infrastructure/text';

/**
 * Returns whether `digest` is the HMAC-SHA256 of `content` with `key`, in lower-case hex. Compares in constant time.
 */
export function isHmac(digest: string | null | undefined, key: string, content: string | Buffer): boolean {
  const expected = createHmac('sha256', key).update(content).digest();
  const received = Buffer.from(/^[0-9a-f]{64}$/.test(digest ?? '') ? (digest ?? '') : '', 'hex');
  return received.length === expected.length && timingSafeEqual(received, expected);
}

/**
 * Returns the index of the key that signed `content`; undefined when no key did. Always tries all keys, so that the
 * duration does not reveal which key matched (K8).
 */
export function findSigningKey(
  digest: string | undefined,
  keys: readonly string[],
  content: Buffer,
): number | undefined {
  const matches = keys.map((key, index) => (isHmac(digest, key, content) ? index : -1));
  const found = Math.max(-1, ...matches);
  return found < 0 ? undefined : found;
}

/** Names of the fields whose strings are cleaned, at any depth (D74). */
export interface CleanedFields {
  /**
   * Names and titles: line breaks and tabs become a space; other control characters and invisible formatting characters
   * are removed.
   */
  readonly lines?: ReadonlySet<string>;
  /** Addresses: line breaks, tabs, other control characters and invisible formatting characters are removed. */
  readonly addresses?: ReadonlySet<string>;
  /** Multiline texts: control characters other than tabs and line breaks are removed. */
  readonly texts?: ReadonlySet<string>;
}

/** Decodes a body in UTF-8 or UTF-16, without byte order mark; invalid bytes become U+FFFD. */
export function decodeBody(body: Uint8Array): string {
  return new TextDecoder(findEncoding(body)).decode(body);
}

/**
 * Recognises UTF-16 by its byte order mark or by the zero bytes of the first two characters, which are ASCII in JSON.
 * Ignores the declared charset.
 */
function findEncoding([first, second, third, fourth]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first !== 0 && second === 0 && third !== 0 && fourth === 0) return 'utf-16le';
  if (first === 0 && second !== 0 && third === 0 && fourth !== 0) return 'utf-16be';
  return 'utf-8';
}

/** Parses a body. Returns undefined when the body is not JSON, not an object, or nested too deeply. */
export function readWebhookBody(body: Uint8Array, cleaned: CleanedFields = {}): JsonObject | undefined {
  try {
    const document = parseJson(removeZeros(decodeBody(body)));
    return isJsonObject(document) ? repairObject(document, cleaned, 1) : undefined;
  } catch {
    return undefined;
  }
}

const removeZeros = (text: string): string => text.replaceAll('\0', '');

function repair(value: unknown, name: string, fields: CleanedFields, level: number): unknown {
  if (typeof value === 'string') return repairText(value, name, fields);
  if (isRawNumber(value)) return findJsonProblem(value) === undefined ? value : null;
  if (typeof value !== 'object' || value === null) return value;
  if (level > maxJsonDepth) throw new RangeError('nested too deeply');
  if (Array.isArray(value)) return value.map((item) => repair(item, '', fields, level + 1));
  return repairObject(value as JsonObject, fields, level);
}

function repairText(text: string, name: string, { lines, addresses, texts }: CleanedFields): string {
  if (lines?.has(name) === true) return toSingleLine(text);
  if (addresses?.has(name) === true) return removeControlCharacters(text);
  return texts?.has(name) === true ? toMultiline(text) : removeZeros(text).toWellFormed();
}

/** Repairs keys and values. If a repaired key equals an existing valid key, the valid key's value is used. */
function repairObject(value: JsonObject, fields: CleanedFields, level: number): JsonObject {
  const entries = Object.entries(value).map(([key, item]) => {
    const name = removeZeros(key).toWellFormed();
    return { key: name, isUnchanged: name === key, item: repair(item, name, fields, level + 1) };
  });
  const ordered = entries.every(({ isUnchanged }) => isUnchanged)
    ? entries
    : entries.toSorted((a, b) => Number(a.isUnchanged) - Number(b.isUnchanged));
  return Object.fromEntries(ordered.map(({ key, item }) => [key, item]));
}
