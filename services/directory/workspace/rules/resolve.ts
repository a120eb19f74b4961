/** References of a document against itself first, then the database (rules/workspace#workspace-file), and what a new item must name. */
import { isJsonObject, type JsonObject } from '#libs/json';
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

/** Keys that the document itself names, those of items with problems included, so that one mistake is told once. */
export interface Named {
  readonly keys: Readonly<Record<ListName, Set<string>>>;
  /** Steps named under each journey. */
  readonly steps: Map<string, Set<string>>;
}

export function namesIn(document: unknown): Named {
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
  return { keys, steps };
}

function objectsOf(value: unknown, name: string): JsonObject[] {
  const list = isJsonObject(value) ? value[name] : undefined;
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

/** An item together with the row that it stands for; `stored` is undefined for one that does not exist yet. */
export interface Target {
  readonly item: Item;
  readonly key: string;
  readonly storedId: number | undefined;
}
export type Targets = Readonly<Record<ListName, readonly Target[]>>;

/** Finds what each item stands for and everything that does not resolve. */
export function resolveItems(lists: Lists, named: Named, stored: Stored): { targets: Targets; problems: Problem[] } {
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
    }
  }
  return { targets, problems };
}

function checkNew(name: ListName, key: string, item: Item, problems: Problem[]): void {
  for (const [field, rule] of Object.entries(vocabulary[name])) {
    if (rule.needed === 'create' && item.value[field] === undefined) {
      problems.push({ path: [...item.path], message: `needs "${field}", as there is no ${nouns[name]} "${key}" yet` });
    }
  }
}

function checkReferences(fields: Fields, value: JsonObject, path: Path, named: Named, stored: Stored, problems: Problem[]): void {
  const check = (list: ListName, key: string, at: Path): void => {
    if (named.keys[list].has(key) || stored.ids[list].has(key)) return;
    problems.push({ path: [...at], message: `there is no ${nouns[list]} "${key}" in the file or the database` });
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

function checkStep({ value, path }: Item, named: Named, stored: Stored, problems: Problem[]): void {
  const step = value['step'];
  if (typeof step !== 'string') return;
  const journey = value['journey'];
  if (typeof journey !== 'string') {
    problems.push({ path: [...path, 'step'], message: 'needs a journey beside it' });
    return;
  }
  const journeyId = stored.ids.journeys.get(journey);
  if (journeyId === undefined && !named.keys.journeys.has(journey)) return; // told already
  const inFile = named.steps.get(journey)?.has(step) === true;
  const inDatabase = journeyId !== undefined && stored.steps.get(journeyId)?.some((row) => row.slug === step) === true;
  if (!inFile && !inDatabase) problems.push({ path: [...path, 'step'], message: `journey "${journey}" has no step "${step}"` });
}

/** Finds the stored membership or relationship of an item: by its key, else by what it connects and its journey. */
function edgeFinder(name: EdgeList, stored: Stored, problems: Problem[]): (item: Item) => number | undefined {
  const [left, right] = name === 'memberships' ? (['person', 'holon'] as const) : (['from', 'to'] as const);
  const lefts = name === 'memberships' ? stored.ids.people : stored.ids.holons;
  const byKey = new Map<string, EdgeRow>();
  const byTriple = new Map<string, EdgeRow>();
  const triple = (leftId: number, rightId: number, journeyId: number | null): string => `${leftId}/${rightId}/${journeyId ?? ''}`;
  for (const row of stored.edges[name]) {
    if (row.key !== null) byKey.set(row.key, row);
    // Several relationships may connect the same holons by key; a keyless item, or a new key, means the keyless one.
    const key = triple(row.left_id, row.right_id, row.journey_id);
    if (!byTriple.has(key) && (row.key === null || name === 'memberships')) byTriple.set(key, row);
  }
  const taken = new Map<number | string, Path>();
  /** People who were merged may both have been members: their items mean one membership then, of which the first is written (I5). */
  const isOfMerged = ({ person }: JsonObject): boolean => name === 'memberships' && stored.mergedIds.has(lefts.get(String(person)) ?? 0);
  const take = (what: number | string, path: Path, value: JsonObject): void => {
    const other = taken.get(what);
    if (other !== undefined && isOfMerged(value)) return;
    if (other !== undefined) problems.push({ path: [...path], message: `is the same ${nouns[name]} as ${other[0]}[${other[1]}]` });
    else taken.set(what, path);
  };
  return ({ value, path }) => {
    const leftId = lefts.get(String(value[left]));
    const rightId = stored.ids.holons.get(String(value[right]));
    const key = value['key'];
    let found = typeof key === 'string' ? byKey.get(key) : undefined;
    if (found !== undefined && (found.left_id !== leftId || found.right_id !== rightId)) {
      problems.push({ path: [...path, 'key'], message: `belongs to a ${nouns[name]} between others already` });
      return found.id;
    }
    const journey = value['journey'];
    const journeyId = typeof journey === 'string' ? stored.ids.journeys.get(journey) : null;
    if (found === undefined && leftId !== undefined && rightId !== undefined && journeyId !== undefined) {
      found = byTriple.get(triple(leftId, rightId, journeyId));
    }
    if (found !== undefined) take(found.id, path, value);
    else if (name === 'memberships') take(JSON.stringify([value[left], value[right], value['journey'] ?? null]), path, value);
    return found?.id;
  };
}
