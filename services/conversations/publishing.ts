/**
 * Builds the public view of `infos.publishing`, and the title of a conversation (rules/discovery#publicconversation;
 * D18a, D18b).
 */
import { isJsonObject, type JsonObject, parseJson } from '#libs/infrastructure/json';

export interface Publishing {
  /** The groups `fields`, `records` and `artifacts`, each an object. */
  readonly payload: { readonly fields: JsonObject; readonly records: JsonObject; readonly artifacts: JsonObject };
  readonly summary: string;
  readonly thumbnail: string | null;
  readonly videohostDescription: string | null;
}

/**
 * Returns the value without provenance, at any depth. An envelope (exactly the keys `value` and `provenance`) becomes
 * its value; other `provenance` keys are dropped. Numbers retain their digits, and `__proto__` remains plain data.
 */
export function stripProvenance(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stripProvenance);
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value);
  if (keys.length === 2 && Object.hasOwn(value, 'value') && Object.hasOwn(value, 'provenance'))
    return stripProvenance(value['value']);
  const entries = Object.entries(value).filter(([key]) => key !== 'provenance');
  return Object.fromEntries(entries.map(([key, item]) => [key, stripProvenance(item)]));
}

/** Reads the stored `publishing`. Groups that are not objects are treated as empty. */
export function readPublishing(stored: unknown): Publishing {
  const publishing = toObject(stripProvenance(stored));
  const fields = toObject(publishing['fields']);
  const records = toObject(publishing['records']);
  const artifacts = toObject(publishing['artifacts']);
  const thumbnails: unknown = artifacts['imported_thumbnails'];
  const imported: unknown = Array.isArray(thumbnails) ? thumbnails.find((item) => toText(item) !== null) : thumbnails;
  return {
    payload: { fields, records, artifacts },
    summary: typeof fields['summary'] === 'string' ? fields['summary'] : '',
    thumbnail: toText(imported) ?? toText(toObject(records['videohost'])['thumbnail']),
    videohostDescription: typeof fields['videohost_description'] === 'string' ? fields['videohost_description'] : null,
  };
}

const toObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
const toText = (value: unknown): string | null => (typeof value === 'string' && value.trim() !== '' ? value : null);

/** JSON texts from `infos` that contain the title; see `titleSource` in statements.ts. */
export interface TitleSource {
  readonly id: number;
  /** JSON text of `publishing.fields.title`. */
  readonly title: string | null;
  /** JSON text of the whole `publishing` when its fields are in an envelope. */
  readonly enveloped: string | null;
  /** Text that starts with the UTC date. */
  readonly start: string | null;
}

/**
 * Returns the title of a conversation (D18a, D18b): the published title, else the UTC date of the start, else the id. A
 * blank title counts as missing.
 */
export function conversationTitle({ id, title, enveloped, start }: TitleSource): string {
  if (title !== null) return chooseTitle(id, stripProvenance(parseJson(title)), start);
  const fields = enveloped === null ? {} : readPublishing(parseJson(enveloped)).payload.fields;
  return chooseTitle(id, fields['title'], start);
}

/** Returns the title like `conversationTitle`, for a title field that is already parsed. */
export function chooseTitle(id: number, field: unknown, start: string | null): string {
  if (typeof field === 'string' && field.trim() !== '') return field;
  return `Conversation ${start === null ? id : `of ${start.slice(0, 10)}`}`;
}
