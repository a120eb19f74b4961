/** The public side of `infos.publishing` (rules/discovery#publicconversation; D18a). */
import { isJsonObject, type JsonObject } from '#libs/json';

export interface Publishing {
  /** What browse shows: the three groups, each an object. */
  readonly payload: { readonly fields: JsonObject; readonly records: JsonObject; readonly artifacts: JsonObject };
  readonly summary: string;
  readonly thumbnail: string | null;
  readonly videohostDescription: string | null;
}

/**
 * A value without provenance: an envelope, an object with exactly the keys `value` and `provenance`, is its value; any other key
 * `provenance` is dropped, at any depth. Numbers keep their digits and `__proto__` stays plain data.
 */
export function stripProvenance(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stripProvenance);
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value);
  if (keys.length === 2 && Object.hasOwn(value, 'value') && Object.hasOwn(value, 'provenance')) return stripProvenance(value['value']);
  const entries = Object.entries(value).filter(([key]) => key !== 'provenance');
  return Object.fromEntries(entries.map(([key, item]) => [key, stripProvenance(item)]));
}

/** Reads the stored `publishing`, whatever is in it: of groups that are no objects nothing is shown. */
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
