/** Fields of the workspace file that were changed over the API since the file last changed them (W11, W24). */
import { diffPaths, type Edits, type FieldPath } from '#libs/product/history';
import { isJsonObject, type JsonObject } from '#libs/infrastructure/json';
import type { Target, Targets } from './resolve.ts';
import type { FieldChange } from './file-changes.ts';
import type { Stored } from './rows.ts';
import { keyFields, type ListName, listNames, vocabulary } from './vocabulary.ts';

export interface WorkspaceEdits {
  /** Edits of a stored object, if it has any. */
  of(list: ListName, id: number): Edits | undefined;
  /** Items of the file whose objects were deleted over the API. */
  readonly removed: ReadonlySet<Target>;
}

export const noEdits: WorkspaceEdits = { of: () => undefined, removed: new Set() };

/** Names of the file's fields in histories, where they differ. */
const workflowFields = { journey: 'journey_slug', step: 'step_slug', responsible: 'responsible_person_id' };
const historyFields: Readonly<Partial<Record<ListName, Readonly<Record<string, string>>>>> = {
  holons: { parent: 'parent_id', infos: 'info_fields', journeys: 'journey_ids' },
  accounts: { person: 'person_id' },
  memberships: workflowFields,
  relationships: workflowFields,
};
/** Parts of a holon's infos that are fields of their own. */
const ownFields: ReadonlySet<string> = new Set(['locations', 'spheres']);

/** Returns the path of a value in the object's history. */
function toHistoryPath(list: ListName, [field = '', ...keys]: FieldPath): FieldPath {
  if (list === 'holons' && field === 'infos' && ownFields.has(keys[0] ?? '')) return keys;
  if (field.startsWith('teams.')) return ['teams'];
  return [historyFields[list]?.[field] ?? field, ...keys];
}

/** Whether a change of a field of the file would overwrite an edit. */
export function overwritesEdit(
  list: ListName,
  edits: Edits | undefined,
  { field, old, new: next }: FieldChange,
): boolean {
  if (edits === undefined) return false;
  const isNewStep = list === 'journeys' && field.startsWith('steps.') && next === 'new step';
  const paths = isNewStep ? [[`${field}.title`]] : diffPaths(old, next, [field]);
  return paths.some((path) => edits.isEdited(toHistoryPath(list, path)));
}

/**
 * Returns the items without edited fields, and without items that refer to an object that is not created again. Journey
 * and step of a membership or relationship are one value.
 */
export function withoutEdits(targets: Targets, stored: Stored, edits: WorkspaceEdits): Targets {
  const dropped = Object.fromEntries(listNames.map((list) => [list, new Set<string>()])) as Record<
    ListName,
    Set<string>
  >;
  const remaining = Object.fromEntries(listNames.map((list) => [list, [] as Target[]])) as Record<ListName, Target[]>;
  for (const list of listNames)
    for (const target of targets[list]) if (edits.removed.has(target)) dropped[list].add(target.key);
  for (const list of listNames) {
    for (const target of targets[list]) {
      const found = target.storedId === undefined ? undefined : edits.of(list, target.storedId);
      const value = found === undefined ? target.item.value : stripItem(list, target, stored, found);
      const free = withoutReferences(list, value, dropped);
      if (edits.removed.has(target) || free === undefined) dropped[list].add(target.key);
      else
        remaining[list].push({
          ...target,
          item: { ...target.item, value: free },
          isOrderFixed: list === 'journeys' && isOrderEdited(target, found),
        });
    }
  }
  return remaining;
}

/** Fields that identify an item. */
const identifying: ReadonlySet<string> = new Set(['person', 'holon', 'from', 'to']);
const isIdentifying = (list: ListName, field: string): boolean =>
  field === keyFields[list] || ((list === 'memberships' || list === 'relationships') && identifying.has(field));

function stripItem(list: ListName, target: Target, stored: Stored, edits: Edits): JsonObject {
  const isMoved = edits.isEdited(['journey_slug']) || edits.isEdited(['step_slug']);
  return Object.fromEntries(
    Object.entries(target.item.value).flatMap(([field, value]): [string, unknown][] => {
      if (isIdentifying(list, field)) return [[field, value]];
      if (list === 'journeys' && field === 'steps') return [[field, stripSteps(target, stored, edits)]];
      const isWorkflow = list === 'memberships' || list === 'relationships';
      if (isWorkflow && (field === 'step' || field === 'journey') && isMoved) return [];
      const stripped = strip(list, value, [field], edits);
      return stripped === undefined ? [] : [[field, stripped]];
    }),
  );
}

/** Returns the value without its edited parts; undefined if it is edited as a whole. */
function strip(list: ListName, value: unknown, path: FieldPath, edits: Edits): unknown {
  if (!isJsonObject(value) || Object.keys(value).length === 0)
    return edits.isEdited(toHistoryPath(list, path)) ? undefined : value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => {
      const stripped = strip(list, item, [...path, key], edits);
      return stripped === undefined ? [] : [[key, stripped]];
    }),
  );
}

/** Steps that were deleted over the API are left out. */
function stripSteps({ item, storedId }: Target, stored: Stored, edits: Edits): JsonObject[] {
  const known = new Set(stored.steps.get(storedId ?? 0)?.map(({ slug }) => slug));
  return (item.value['steps'] as JsonObject[]).flatMap((step) => {
    const fieldOf = (name: string): string => `steps.${String(step['slug'])}.${name}`;
    if (!known.has(String(step['slug'])) && edits.isEdited([fieldOf('title')])) return [];
    const fields = Object.entries(step).flatMap(([name, value]): [string, unknown][] => {
      const stripped = name === 'slug' ? value : strip('journeys', value, [fieldOf(name)], edits);
      return stripped === undefined ? [] : [[name, stripped]];
    });
    return [Object.fromEntries(fields)];
  });
}

/** Returns the item without references to dropped items; undefined if it cannot exist without one. */
function withoutReferences(
  list: ListName,
  value: JsonObject,
  dropped: Readonly<Record<ListName, ReadonlySet<string>>>,
): JsonObject | undefined {
  let free = value;
  for (const [name, { field, needed }] of Object.entries(vocabulary[list])) {
    const given = value[name];
    if (field.kind === 'reference' && typeof given === 'string' && dropped[field.list].has(given)) {
      if (needed !== undefined) return undefined;
      free = Object.fromEntries(
        Object.entries(free).filter(([key]) => key !== name && !(name === 'journey' && key === 'step')),
      );
    } else if (field.kind === 'references' && Array.isArray(given)) {
      const rest = (given as string[]).filter((key) => !dropped[field.list].has(key));
      if (rest.length < given.length) free = { ...free, [name]: rest };
    } else if (name === 'teams' && Array.isArray(given)) {
      const rest = (given as JsonObject[]).filter(({ holon }) => !dropped.holons.has(String(holon)));
      if (rest.length < given.length) free = { ...free, [name]: rest };
    }
  }
  return free;
}

/** Whether the order of a journey's steps was changed over the API. */
function isOrderEdited({ item }: Target, edits: Edits | undefined): boolean {
  const steps = (item.value['steps'] ?? []) as JsonObject[];
  return steps.some(({ slug }) => edits?.isEdited([`steps.${String(slug)}.position`]) === true);
}
