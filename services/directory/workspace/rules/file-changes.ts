/** Changes of columns in the terms of the workspace file: its fields, and keys and slugs in place of ids (W24). */
import { isJsonObject, type JsonObject } from '#libs/infrastructure/json';
import { referenceColumns } from './rows.ts';
import { type ListName, vocabulary } from './vocabulary.ts';

export interface FieldChange {
  readonly field: string;
  readonly old: unknown;
  readonly new: unknown;
}

/** Fields of a holon that are stored in its infos. */
const infoParts = ['locations', 'spheres'] as const;

/** Returns the change of a column as changes of fields of the file. References are ids. */
export function toFileChanges(list: ListName, change: FieldChange): FieldChange[] {
  if (list === 'holons' && change.field === 'infos') return splitInfos(change);
  return [{ ...change, field: toFileField(list, change.field) }];
}

function toFileField(list: ListName, column: string): string {
  if (list === 'accounts' && column === 'is_active') return 'active';
  if (column === 'step_id') return 'step';
  const found = Object.entries(referenceColumns[list] ?? {}).find(([, [name]]) => name === column);
  return found?.[0] ?? column;
}

function splitInfos(change: FieldChange): FieldChange[] {
  const [old, next] = [toObject(change.old), toObject(change.new)];
  const parts = infoParts.map((field) => ({ field, old: old[field] ?? [], new: next[field] ?? [] }));
  const rest = { field: 'infos', old: withoutParts(old), new: withoutParts(next) };
  return [rest, ...parts].filter((part) => JSON.stringify(part.old) !== JSON.stringify(part.new));
}

const toObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
const withoutParts = ({ locations: _locations, spheres: _spheres, ...infos }: JsonObject): JsonObject => infos;

/** List of the objects that a field names. */
export type ReferencedList = ListName | 'steps';

function referencedList(list: ListName, field: string): ReferencedList | undefined {
  const rule = vocabulary[list][field]?.field;
  if (rule?.kind === 'step') return 'steps';
  return rule?.kind === 'reference' || rule?.kind === 'references' ? rule.list : undefined;
}

/** Field of a granted team: `teams.#<id of the holon>`. */
const teamPattern = /^teams\.#(\d+)$/;

/**
 * Returns the change with the results of `nameOf` in place of ids. Called with a function that records its arguments, it
 * lists the ids.
 */
export function nameReferences(
  list: ListName,
  change: FieldChange,
  nameOf: (list: ReferencedList, id: number) => string,
): FieldChange {
  const holonId = teamPattern.exec(change.field)?.[1];
  if (holonId !== undefined) return { ...change, field: `teams.${nameOf('holons', Number(holonId))}` };
  const referenced = referencedList(list, change.field);
  if (referenced === undefined) return change;
  const name = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(name) : typeof value === 'number' ? nameOf(referenced, value) : value;
  return { ...change, old: name(change.old), new: name(change.new) };
}
