/** Checks of addresses and of class configuration in a workspace document (rules/journeys#classes; D72). */
import { isJsonObject, type JsonObject } from '#libs/infrastructure/json';
import { isBlank, isSingleLine } from '#libs/infrastructure/text';
import { maxChannelLength } from '../../api-objects/contract.ts';
import type { InfoField } from '../../classes/index.ts';
import {
  findContactProblem,
  findLinkProblem,
  maxAddressLength,
  tooLongAddress,
  webAddressProblem,
} from '../../texts/index.ts';
import { infoFieldTypes } from './vocabulary.ts';

export type Path = readonly (string | number)[];

export interface Problem {
  readonly path: (string | number)[];
  readonly message: string;
}

export const controls = 'must have no control characters';

/** Returns the problems of channel values, or of the link in the texts of a journey. Null removes a value. */
export function listAddressProblems(
  kind: 'links' | 'contact' | 'journey_texts',
  given: JsonObject,
  path: Path,
): Problem[] {
  return Object.entries(given).flatMap(([name, value]) => {
    const at = [...path, name];
    const nameProblem =
      name.length > maxChannelLength ? `has a name of more than ${maxChannelLength} characters` : undefined;
    if (nameProblem !== undefined || !isSingleLine(name)) return [{ path: at, message: nameProblem ?? controls }];
    if (kind === 'journey_texts' && name !== 'goodbyeURL') return [];
    if (kind === 'links' && value !== null && typeof value !== 'string') return [{ path: at, message: 'must be text' }];
    return listTexts(value, at).flatMap(({ text, path: textPath }) => {
      const find = kind === 'links' ? findLinkProblem : findContactProblem;
      const message =
        text.length > maxAddressLength ? tooLongAddress : text.trim() === '' ? undefined : find(text.trim());
      return message === undefined ? [] : [{ path: textPath, message }];
    });
  });
}

/** Text fields of a slide, which are displayed. All other fields can be links. */
const captions: ReadonlySet<unknown> = new Set(['title', 'caption', 'alt', 'text', 'description', 'label']);

/** Returns the problems of info fields that are addresses. Other fields are not checked. */
export function listFieldProblems(fields: ReadonlyMap<string, InfoField>, infos: JsonObject, path: Path): Problem[] {
  return Object.entries(infos).flatMap(([key, value]) => {
    const type = fields.get(key)?.type;
    const at = [...path, key];
    if (value === null || (type !== 'url' && type !== 'video' && type !== 'slideshow')) return [];
    if (type !== 'slideshow') {
      const message = typeof value === 'string' ? webAddressProblem(value.trim()) : 'must be an http or https address';
      return message === undefined ? [] : [{ path: at, message }];
    }
    return listTexts(value, at).flatMap(({ text, path: textPath }) => {
      const message = captions.has(textPath.at(-1)) ? undefined : findContactProblem(text.trim());
      return message === undefined ? [] : [{ path: textPath, message }];
    });
  });
}

function listTexts(value: unknown, path: Path): { text: string; path: (string | number)[] }[] {
  if (typeof value === 'string') return [{ text: value, path: [...path] }];
  if (Array.isArray(value)) return value.flatMap((item, index) => listTexts(item, [...path, index]));
  return isJsonObject(value) ? Object.entries(value).flatMap(([key, item]) => listTexts(item, [...path, key])) : [];
}

/**
 * Checks `config.info_field_groups` of a class, which are groups of info fields with key, type, label and options
 * (rules/journeys#classes).
 */
export function checkClassConfig(
  config: JsonObject,
  path: Path,
  problems: Problem[],
): { value: JsonObject } | undefined {
  const before = problems.length;
  const groups = config['info_field_groups'];
  const at = [...path, 'info_field_groups'];
  if (groups !== undefined && groups !== null) {
    const seen = new Set<string>();
    for (const [index, group] of objects(groups, at, problems)) {
      needText(group, 'key', [...at, index], problems);
      const fieldsAt = [...at, index, 'fields'];
      for (const [position, field] of objects(group['fields'] ?? [], fieldsAt, problems))
        checkField(field, [...fieldsAt, position], seen, problems);
    }
  }
  return problems.length === before ? { value: config } : undefined;
}

function checkField(field: JsonObject, path: Path, seen: Set<string>, problems: Problem[]): void {
  const key = field['key'];
  needText(field, 'key', path, problems);
  if (typeof key === 'string') {
    if (seen.has(key)) problems.push({ path: [...path, 'key'], message: `repeats the field "${key}"` });
    seen.add(key);
  }
  const type = field['type'];
  if (typeof type !== 'string' || !infoFieldTypes.includes(type)) {
    problems.push({
      path: type === undefined ? [...path] : [...path, 'type'],
      message: `needs a type: one of ${infoFieldTypes.join(', ')}`,
    });
  }
  const options = field['options'];
  if (
    options !== undefined &&
    options !== null &&
    !(Array.isArray(options) && options.every((item) => typeof item === 'string' || isJsonObject(item)))
  ) {
    problems.push({ path: [...path, 'options'], message: 'must be a list of texts' });
  }
}

function needText(value: JsonObject, name: string, path: Path, problems: Problem[]): void {
  const text = value[name];
  if (typeof text !== 'string' || isBlank(text)) problems.push({ path: [...path], message: `needs "${name}"` });
  for (const field of [name, 'label']) {
    const label = value[field];
    if (typeof label === 'string' && !isSingleLine(label))
      problems.push({ path: [...path, field], message: 'must have no control characters' });
  }
}

function objects(value: unknown, path: Path, problems: Problem[]): [number, JsonObject][] {
  if (!Array.isArray(value)) {
    problems.push({ path: [...path], message: 'must be a list' });
    return [];
  }
  return [...value.entries()].filter((entry): entry is [number, JsonObject] => {
    if (isJsonObject(entry[1])) return true;
    problems.push({ path: [...path, entry[0]], message: 'must be an object' });
    return false;
  });
}
