/**
 * Validates the structure of a workspace document without database access: known lists and fields, types, unique keys.
 */
import {
  findJsonProblem,
  isJsonObject,
  isRawNumber,
  type JsonObject,
  jsonProblemTexts,
} from '#libs/infrastructure/json';
import { isBlank, isSingleLine } from '#libs/infrastructure/text';
import { isLonger, maxDescriptionLength, maxNameLength } from '../../api-objects/contract.ts';
import {
  findContactProblem,
  findSlugProblem,
  isEmail,
  maxAddressLength,
  tooLongAddress,
  webAddressProblem,
} from '../../texts/index.ts';
import { checkClassConfig, controls, listAddressProblems, type Path, type Problem } from './values.ts';
import {
  type Field,
  type FieldRule,
  type Fields,
  foreignLists,
  keyFields,
  type ListName,
  listNames,
  vocabulary,
} from './vocabulary.ts';

/** An item with its checked fields and path. */
export interface Item {
  readonly path: Path;
  readonly value: JsonObject;
}

export type Lists = Readonly<Record<ListName, readonly Item[]>>;

/** Returns the lists of the document and all structural problems. Items with problems are omitted. */
export function checkDocument(document: unknown): { lists: Lists; problems: Problem[] } {
  const problems: Problem[] = [];
  const lists = Object.fromEntries(listNames.map((name) => [name, [] as Item[]])) as Record<ListName, Item[]>;
  const bound = findJsonProblem(document);
  if (bound !== undefined) return { lists, problems: [{ path: bound.path, message: jsonProblemTexts[bound.kind] }] };
  if (document === null || document === undefined) return { lists, problems };
  if (!isJsonObject(document)) return { lists, problems: [{ path: [], message: 'must be an object of lists' }] };
  for (const [name, list] of Object.entries(document)) {
    if (!isListName(name)) {
      problems.push({
        path: [name],
        message:
          (Object.hasOwn(foreignLists, name) ? foreignLists[name] : undefined) ??
          `is not a list of the workspace file. Lists: ${[...listNames, ...Object.keys(foreignLists)].join(', ')}`,
      });
    } else if (Array.isArray(list)) {
      lists[name] = checkList(name, list, problems);
    } else if (list !== null) {
      problems.push({ path: [name], message: 'must be a list' });
    }
  }
  return { lists, problems };
}

function isListName(name: string): name is ListName {
  return (listNames as readonly string[]).includes(name);
}

function checkList(name: ListName, list: readonly unknown[], problems: Problem[]): Item[] {
  const items: Item[] = [];
  const seen = new Map<string, number>();
  for (const [index, value] of list.entries()) {
    const path = [name, index];
    const before = problems.length;
    const item = checkFields(vocabulary[name], value, path, problems);
    if (item === undefined || problems.length > before) continue;
    const key = identityOf(name, item);
    const first = seen.get(key);
    if (first !== undefined) {
      problems.push({ path: [...path, keyFields[name]], message: `repeats ${name}[${first}]` });
      continue;
    }
    seen.set(key, index);
    items.push({ path, value: item });
  }
  return items;
}

/**
 * Returns the identity of an item within its list. Emails ignore case; a membership without key is identified by
 * person, holon and journey.
 */
export function identityOf(name: ListName, item: JsonObject): string {
  const key = item[keyFields[name]];
  if (name === 'accounts') return String(key).trim().toLowerCase();
  if (typeof key === 'string') return key;
  const [left, right] = name === 'memberships' ? ['person', 'holon'] : ['from', 'to'];
  return JSON.stringify([item[left], item[right], item['journey'] ?? null]);
}

/** Checks the fields of an item. Null becomes the empty value, unless the field is nullable. */
function checkFields(fields: Fields, value: unknown, path: Path, problems: Problem[]): JsonObject | undefined {
  if (!isJsonObject(value)) {
    problems.push({ path: [...path], message: 'must be an object' });
    return undefined;
  }
  const checked: [string, unknown][] = [];
  for (const [name, given] of Object.entries(value)) {
    const rule = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const at = [...path, name];
    if (rule === undefined) {
      problems.push({
        path: at,
        message: name === 'logo' ? 'is not supported: this version stores no logos' : 'is not a known field',
      });
    } else if (given !== null || rule.nullable === true) {
      const result = given === null ? { value: null } : checkValue(rule, given, at, problems);
      if (result !== undefined) checked.push([name, result.value]);
    } else if (rule.needed === 'always' || !hasEmptyValue(rule.field)) {
      problems.push({ path: at, message: 'must not be null' });
    } else if (rule.field.kind === 'text' || rule.field.kind === 'line') {
      checked.push([name, '']);
    }
  }
  for (const [name, rule] of Object.entries(fields)) {
    if (rule.needed === 'always' && !Object.hasOwn(value, name))
      problems.push({ path: [...path], message: `needs "${name}"` });
  }
  return Object.fromEntries(checked);
}

const kindsWithEmptyValue: ReadonlySet<Field['kind']> = new Set([
  'text',
  'line',
  'object',
  'links',
  'contact',
  'journey_texts',
  'class_config',
  'texts',
  'countries',
  'references',
  'items',
] as const);
function hasEmptyValue({ kind }: Field): boolean {
  return kindsWithEmptyValue.has(kind);
}

/** Checks a value. Returns the value to store, or undefined after adding a problem. */
function checkValue(
  { field }: FieldRule,
  value: unknown,
  path: Path,
  problems: Problem[],
): { value: unknown } | undefined {
  const fail = (message: string, at: Path = path): undefined => void problems.push({ path: [...at], message });
  switch (field.kind) {
    case 'items':
      return Array.isArray(value) ? { value: checkItems(field, value, path, problems) } : fail('must be a list');
    case 'references':
    case 'texts':
      return Array.isArray(value) ? checkTexts(value, path, fail) : fail('must be a list of texts');
    case 'countries':
      if (!Array.isArray(value)) return fail('must be a list of country codes');
      for (const [index, item] of value.entries()) {
        if (typeof item !== 'string' || !/^[A-Za-z]{2}$/.test(item))
          return fail('must be a country code of two letters', [...path, index]);
      }
      return { value: value.map((item: string) => item.toUpperCase()) };
    case 'object':
      return isJsonObject(value) ? { value } : fail('must be an object');
    case 'class_config':
      return isJsonObject(value) ? checkClassConfig(value, path, problems) : fail('must be an object');
    case 'links':
    case 'contact':
    case 'journey_texts': {
      if (!isJsonObject(value)) return fail('must be an object');
      const before = problems.length;
      problems.push(...listAddressProblems(field.kind, value, path));
      return problems.length === before ? { value } : undefined;
    }
    default: {
      const message = scalarProblem(field.kind, value);
      return message === undefined ? { value: isRawNumber(value) ? Number(value.rawJSON) : value } : fail(message);
    }
  }
}

function checkTexts(
  list: readonly unknown[],
  path: Path,
  fail: (message: string, at: Path) => undefined,
): { value: unknown } | undefined {
  const seen = new Set<unknown>();
  for (const [index, item] of list.entries()) {
    const at = [...path, index];
    if (typeof item !== 'string' || isBlank(item)) return fail('must be a text that is not blank', at);
    if (!isSingleLine(item)) return fail(controls, at);
    if (seen.has(item)) return fail(`repeats "${item}"`, at);
    seen.add(item);
  }
  return { value: list };
}

function checkItems(
  { fields, shorthand }: Extract<Field, { kind: 'items' }>,
  list: readonly unknown[],
  path: Path,
  problems: Problem[],
): JsonObject[] {
  const seen = new Map<string, number>();
  const items: JsonObject[] = [];
  for (const [index, given] of list.entries()) {
    const value = typeof given === 'string' && shorthand !== undefined ? { [shorthand]: given } : given;
    const item = checkFields(fields, value, [...path, index], problems);
    if (item === undefined) continue;
    items.push(item);
    const keyField = ['slug', 'holon'].find((name) => Object.hasOwn(fields, name)); // Only items with a slug or holon must be unique: questions can repeat.
    if (keyField === undefined || typeof item[keyField] !== 'string') continue;
    const first = seen.get(item[keyField]);
    if (first === undefined) seen.set(item[keyField], index);
    else problems.push({ path: [...path, index, keyField], message: `repeats item ${first} of this list` });
  }
  return items;
}

type ScalarKind = Exclude<
  Field['kind'],
  'items' | 'references' | 'texts' | 'countries' | 'object' | 'class_config' | 'links' | 'contact' | 'journey_texts'
>;

function scalarProblem(kind: ScalarKind, value: unknown): string | undefined {
  if (kind === 'boolean') return typeof value === 'boolean' ? undefined : 'must be true or false';
  if (kind === 'integer') {
    const number = isRawNumber(value) ? Number(value.rawJSON) : value;
    return Number.isInteger(number) && Math.abs(number as number) <= 2_147_483_647
      ? undefined
      : 'must be a whole number';
  }
  if (kind === 'secret' && isJsonObject(value)) return 'must be text, or {env: NAME} in the file';
  if (typeof value !== 'string') return 'must be text';
  if (kind === 'text')
    return isLonger(value, maxDescriptionLength) ? `is longer than ${maxDescriptionLength} characters` : undefined;
  if (kind === 'address') return value.length > maxAddressLength ? tooLongAddress : findContactProblem(value);
  if (kind === 'web_address') return webAddressProblem(value);
  if (kind !== 'secret' && kind !== 'question' && !isSingleLine(value)) return controls;
  if (kind !== 'line' && isBlank(value)) return 'must not be blank';
  if (kind === 'slug' || kind === 'step') return findSlugProblem(value);
  if (kind === 'email') return isEmail(value) ? undefined : 'must be an email address';
  if (kind === 'date') return isDate(value) ? undefined : 'must be a date, YYYY-MM-DD';
  return kind !== 'secret' && isLonger(value, maxNameLength) ? `is longer than ${maxNameLength} characters` : undefined;
}

function isDate(value: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value) || value < '0001') return false;
  const date = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 10) === value;
}
