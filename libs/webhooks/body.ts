/** A webhook's body as text, and as JSON in which everything is repaired that cannot be stored (rules/webhooks#text; D33d, D106). */
import { findJsonProblem, isJsonObject, isRawNumber, type JsonObject, maxJsonDepth, parseJson } from '#libs/json';
import { toSingleLine, toMultiline, removeControlCharacters } from '#libs/text';

/** Fields whose texts are cleaned wherever they stand, by their names (D74). */
export interface CleanedFields {
  /** Names and titles: line breaks and tabs become a space, other control and invisible formatting characters are removed. */
  readonly lines?: ReadonlySet<string>;
  /** Addresses: all of these characters are removed. */
  readonly words?: ReadonlySet<string>;
  /** Texts of several lines: control characters are removed. */
  readonly texts?: ReadonlySet<string>;
}

/** The text of a body in UTF-8 or UTF-16, without a byte order mark; invalid bytes are U+FFFD. */
export function decodeBody(body: Uint8Array): string {
  return new TextDecoder(findEncoding(body)).decode(body);
}

/** UTF-16 shows in the bytes, whatever declares it: by its byte order mark, or by the zeros of the first two characters, which are ASCII in any JSON text. */
function findEncoding([first, second, third, fourth]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first !== 0 && second === 0 && third !== 0 && fourth === 0) return 'utf-16le';
  if (first === 0 && second !== 0 && third === 0 && fourth !== 0) return 'utf-16be';
  return 'utf-8';
}

/** A webhook's body as JSON object; undefined when it is no JSON, no object, or nested too deeply. */
export function readWebhookBody(body: Uint8Array, cleaned: CleanedFields = {}): JsonObject | undefined {
  try {
    const document = parseJson(removeZeros(decodeBody(body)));
    return isJsonObject(document) ? repairObject(document, cleaned, 1) : undefined;
  } catch {
    return undefined; // not JSON, or nested deeper than allowed
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

function repairText(text: string, name: string, { lines, words, texts }: CleanedFields): string {
  if (lines?.has(name) === true) return toSingleLine(text);
  if (words?.has(name) === true) return removeControlCharacters(text);
  return texts?.has(name) === true ? toMultiline(text) : removeZeros(text).toWellFormed();
}

/** A key that has to be repaired does not replace one that is right. */
function repairObject(value: JsonObject, fields: CleanedFields, level: number): JsonObject {
  const entries = Object.entries(value).map(([key, item]) => {
    const name = removeZeros(key).toWellFormed();
    return { key: name, isRight: name === key, item: repair(item, name, fields, level + 1) };
  });
  const ordered = entries.every(({ isRight }) => isRight) ? entries : entries.toSorted((a, b) => Number(a.isRight) - Number(b.isRight));
  return Object.fromEntries(ordered.map(({ key, item }) => [key, item]));
}
