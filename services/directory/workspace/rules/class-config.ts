import { isJsonObject, type JsonObject } from '#libs/json';
import { isBlank, isSingleLine } from '#libs/text';
import type { Path, Problem } from './problem.ts';
import { infoFieldTypes } from './vocabulary.ts';

/** Checks `config.info_field_groups` of a class: groups of custom fields with key, type, label and options (rules/journeys#classes). */
export function checkClassConfig(config: JsonObject, path: Path, problems: Problem[]): { value: JsonObject } | undefined {
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
    const shown = value[field];
    if (typeof shown === 'string' && !isSingleLine(shown))
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
