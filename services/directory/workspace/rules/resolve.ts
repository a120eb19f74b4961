/**
 * Resolves references, first within the document, then in the database (rules/workspace#workspace-file), and checks
 * required fields of new items.
 */
import { isJsonObject, type JsonObject } from '#libs/infrastructure/json';
import { identityOf, type Item, type Lists } from './check-document.ts';
import type { EdgeList, EdgeRow, Stored } from './rows.ts';
import type { Path, Problem } from './values.ts';
import { type Fields, keyFields, type ListName, listNames, vocabulary } from './vocabulary.ts';

const nouns: Readonly<Record<ListName, string>> = {
  spheres: 'sphere',
  classes: 'class',
  journeys: 'journey',
  people: 'person',
  holons: 'holon',
  accounts: 'account',
  memberships: 'membership',
  relationships: 'relationship',
};

/** Keys in the document. Keys of invalid items are included, so that a mistake is reported once. */
export interface DocumentNames {
  readonly keys: Readonly<Record<ListName, Set<string>>>;
  /** Steps per journey in the document. */
  readonly steps: Map<string, Set<string>>;
  /** Where referenced items were searched, for messages. */
  readonly origin: '' | ' in the file or the database';
}

export function namesIn(
  document: unknown,
  origin: DocumentNames['origin'] = ' in the file or the database',
): DocumentNames {
  const keys = Object.fromEntries(listNames.map((name) => [name, new Set<string>()])) as Record<ListName, Set<string>>;
  const steps = new Map<string, Set<string>>();
  for (const name of listNames) {
    for (const item of objectsOf(document, name)) {
      const key = item[keyFields[name]];
      if (typeof key !== 'string') continue;
      keys[name].add(name === 'accounts' ? key.trim().toLowerCase() : key);
      if (name === 'journeys') steps.set(key, new Set(objectsOf(item, 'steps').map((step) => String(step['slug']))));
    }
  }
  return { keys, steps, origin };
}

function objectsOf(value: unknown, name: string): JsonObject[] {
  const list = isJsonObject(value) ? value[name] : undefined;
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

/** An item with its stored row, if any. */
export interface Target {
  readonly item: Item;
  readonly key: string;
  readonly storedId: number | undefined;
  /** Whether the steps of a journey keep their stored order (W24). */
  readonly isOrderFixed?: boolean;
}
export type Targets = Readonly<Record<ListName, readonly Target[]>>;

/** Finds the stored row of each item, and reports all unresolved references. */
export function resolveItems(
  lists: Lists,
  named: DocumentNames,
  stored: Stored,
): { targets: Targets; problems: Problem[] } {
  const problems: Problem[] = [];
  const targets = Object.fromEntries(listNames.map((name) => [name, [] as Target[]])) as Record<ListName, Target[]>;
  for (const name of listNames) {
    const edges = name === 'memberships' || name === 'relationships' ? edgeFinder(name, stored, problems) : undefined;
    for (const item of lists[name]) {
      const key = identityOf(name, item.value);
      const storedId = edges === undefined ? stored.ids[name].get(key) : edges(item);
      targets[name].push({ item, key, storedId });
      checkReferences(vocabulary[name], item.value, item.path, named, stored, problems);
      if (storedId === undefined) checkNew(name, key, item, problems);
      checkStep(item, named, stored, problems);
      if (item.value['parent'] === key)
        problems.push({ path: [...item.path, 'parent'], message: `"${key}" would be its own ancestor` });
    }
  }
  return { targets, problems };
}

function checkNew(name: ListName, key: string, item: Item, problems: Problem[]): void {
  for (const [field, rule] of Object.entries(vocabulary[name])) {
    if (rule.needed === 'create' && item.value[field] === undefined) {
      problems.push({
        path: [...item.path],
        message: `requires "${field}", because the ${nouns[name]} "${key}" does not exist yet`,
      });
    }
  }
}

function checkReferences(
  fields: Fields,
  value: JsonObject,
  path: Path,
  named: DocumentNames,
  stored: Stored,
  problems: Problem[],
): void {
  const check = (list: ListName, key: string, at: Path): void => {
    if (named.keys[list].has(key) || stored.ids[list].has(key)) return;
    problems.push({ path: [...at], message: `there is no ${nouns[list]} "${key}"${named.origin}` });
  };
  for (const [name, { field }] of Object.entries(fields)) {
    const given = value[name];
    const at = [...path, name];
    if (field.kind === 'reference' && typeof given === 'string') check(field.list, given, at);
    else if (field.kind === 'references' && Array.isArray(given)) {
      for (const [index, key] of (given as string[]).entries()) check(field.list, key, [...at, index]);
    } else if (field.kind === 'items' && Array.isArray(given)) {
      for (const [index, item] of (given as JsonObject[]).entries())
        checkReferences(field.fields, item, [...at, index], named, stored, problems);
    }
  }
}

function checkStep({ value, path }: Item, named: DocumentNames, stored: Stored, problems: Problem[]): void {
  const step = value['step'];
  if (typeof step !== 'string') return;
  const journey = value['journey'];
  if (typeof journey !== 'string') {
    problems.push({ path: [...path, 'step'], message: 'needs a journey beside it' });
    return;
  }
  const journeyId = stored.ids.journeys.get(journey);
  if (journeyId === undefined && !named.keys.journeys.has(journey)) return; // The missing journey is already reported.
  const inFile = named.steps.get(journey)?.has(step) === true;
  const inDatabase = journeyId !== undefined && stored.steps.get(journeyId)?.some((row) => row.slug === step) === true;
  if (!inFile && !inDatabase)
    problems.push({ path: [...path, 'step'], message: `journey "${journey}" has no step "${step}"` });
}

/**
 * Returns a function that finds the stored membership or relationship of an item: by key, otherwise by its two ends and
 * its journey.
 */
function edgeFinder(name: EdgeList, stored: Stored, problems: Problem[]): (item: Item) => number | undefined {
  const [left, right] = name === 'memberships' ? (['person', 'holon'] as const) : (['from', 'to'] as const);
  const fromIds = name === 'memberships' ? stored.ids.people : stored.ids.holons;
  const byKey = new Map<string, EdgeRow>();
  const byTriple = new Map<string, EdgeRow>();
  const triple = (fromId: number, toId: number, journeyId: number | null): string =>
    `${fromId}/${toId}/${journeyId ?? ''}`;
  for (const row of stored.edges[name]) {
    if (row.key !== null) byKey.set(row.key, row);
    // Several relationships with keys can connect the same holons. An item without key, or with a new key, matches the
    // relationship without key.
    const key = triple(row.left_id, row.right_id, row.journey_id);
    if (!byTriple.has(key) && (row.key === null || name === 'memberships')) byTriple.set(key, row);
  }
  const usedBy = new Map<number | string, Path>();
  /** If both people of a merge are members, their items resolve to one membership. The first item is written (I5). */
  const isOfMerged = ({ person }: JsonObject): boolean =>
    name === 'memberships' && stored.mergedIds.has(fromIds.get(String(person)) ?? 0);
  const markUsed = (target: number | string, path: Path, value: JsonObject): void => {
    const other = usedBy.get(target);
    if (other !== undefined && isOfMerged(value)) return;
    if (other !== undefined)
      problems.push({ path: [...path], message: `is the same ${nouns[name]} as ${other[0]}[${other[1]}]` });
    else usedBy.set(target, path);
  };
  return ({ value, path }) => {
    const fromId = fromIds.get(String(value[left]));
    const toId = stored.ids.holons.get(String(value[right]));
    const key = value['key'];
    let found = typeof key === 'string' ? byKey.get(key) : undefined;
    if (found !== undefined && (found.left_id !== fromId || found.right_id !== toId)) {
      problems.push({ path: [...path, 'key'], message: `belongs to a ${nouns[name]} between other ends` });
      return found.id;
    }
    const journey = value['journey'];
    const journeyId = typeof journey === 'string' ? stored.ids.journeys.get(journey) : null;
    if (found === undefined && fromId !== undefined && toId !== undefined && journeyId !== undefined) {
      found = byTriple.get(triple(fromId, toId, journeyId));
    }
    if (found !== undefined) markUsed(found.id, path, value);
    else if (name === 'memberships')
      markUsed(JSON.stringify([value[left], value[right], value['journey'] ?? null]), path, value);
    return found?.id;
  };
}
