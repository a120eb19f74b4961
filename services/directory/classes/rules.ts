/** Validates info fields by the `info_field_groups` of the class (rules/holons#update-a-holon; D46a). */
import { AppError } from '#libs/infrastructure/errors';
import { isJsonObject, isRawNumber, type JsonObject } from '#libs/infrastructure/json';
import { isLonger, maxDescriptionLength } from '../api-objects/contract.ts';
import { isWebAddress, readRichText } from '../texts/index.ts';

/** An info field as its class declares it. */
export interface InfoField {
  readonly key: string;
  readonly type: string;
  /** Allowed values of a select. */
  readonly options: ReadonlySet<string>;
}

/** Keys of `infos` that are sent as separate fields of the update, so they cannot be info fields. */
const ownFields: ReadonlySet<string> = new Set(['locations', 'spheres']);

/** Result of a check: the value to store, or the problem. */
type Checked = { readonly value: unknown } | { readonly problem: string };
type Check = (value: unknown, field: InfoField) => Checked;

const needText: Check = (value) => {
  if (typeof value !== 'string') return { problem: 'must be text' };
  return isLonger(value, maxDescriptionLength)
    ? { problem: `is longer than ${maxDescriptionLength} characters` }
    : { value };
};

const needRichText: Check = (value, field) => {
  const text = needText(value, field);
  return 'value' in text ? readRichText(text.value as string) : text;
};

/** Checks the options of a select and returns a list. Unknown options are dropped and duplicates removed. */
const needOptions: Check = (value, { options }) =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')
    ? { value: [...new Set(value.filter((item: string) => options.has(item)))] }
    : { problem: 'must be a list of texts' };

const needAddress: Check = (value) =>
  typeof value === 'string' && isWebAddress(value.trim())
    ? { value: value.trim() }
    : { problem: 'must be an http or https address' };

/** Checks by field type. */
const checks: Readonly<Record<string, Check>> = {
  text: needText,
  long_text: needText,
  rich_text: needRichText,
  select: needOptions,
  multi_select: needOptions,
  number: (value) => (typeof value === 'number' || isRawNumber(value) ? { value } : { problem: 'must be a number' }),
  boolean: (value) => (typeof value === 'boolean' ? { value } : { problem: 'must be true or false' }),
  date: (value) => (typeof value === 'string' && isDate(value) ? { value } : { problem: 'must be a date, YYYY-MM-DD' }),
  url: needAddress,
  video: needAddress,
  slideshow: () => ({ problem: 'is a slideshow, which cannot be written here' }),
};

/** Change of a holon's infos. */
export interface InfosChange {
  readonly set: JsonObject;
  /** Keys to remove: the request contains null for these fields. */
  readonly remove: readonly string[];
}

/**
 * Reads the fields of `info_field_groups`. The first declaration of a key wins; malformed groups and fields are
 * skipped.
 */
export function readInfoFields(groups: unknown): ReadonlyMap<string, InfoField> {
  const fields = new Map<string, InfoField>();
  for (const group of listObjects(groups)) {
    for (const { key, type, options } of listObjects(group['fields'])) {
      if (typeof key !== 'string' || typeof type !== 'string' || fields.has(key) || ownFields.has(key)) continue;
      fields.set(key, { key, type, options: readOptions(options) });
    }
  }
  return fields;
}

/**
 * Checks the values of a request; null removes a value. @throws AppError 400 that names an unknown, read-only or
 * malformed field
 */
export function checkInfoFields(fields: ReadonlyMap<string, InfoField>, given: JsonObject): InfosChange {
  const set = new Map<string, unknown>();
  const remove: string[] = [];
  for (const [key, value] of Object.entries(given)) {
    const field = fields.get(key);
    if (field === undefined) throw invalidField(key, 'is not a field of this class');
    const check = Object.hasOwn(checks, field.type) ? checks[field.type] : undefined;
    if (check === undefined) throw invalidField(key, 'has a type that cannot be written');
    if (value === null && field.type !== 'slideshow') {
      remove.push(key);
      continue;
    }
    const checked = check(value, field);
    if ('problem' in checked) throw invalidField(key, checked.problem);
    set.set(key, checked.value);
  }
  return { set: Object.fromEntries(set), remove };
}

function invalidField(key: string, problem: string): AppError {
  return new AppError({ code: 'bad_request', message: `info_fields: "${key.slice(0, 100)}" ${problem}.` });
}

/** Returns the options of a field. An option is a string, or an object with `value` (or `key`) and a label. */
function readOptions(options: unknown): ReadonlySet<string> {
  if (!Array.isArray(options)) return new Set();
  const values = options.map((option) => (isJsonObject(option) ? (option['value'] ?? option['key']) : option));
  return new Set(values.filter((value) => typeof value === 'string'));
}

function listObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => isJsonObject(item)) : [];
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text < '0001') return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 10) === text;
}
