/** Reads the stored rows that a document refers to, in a constant number of queries. */
import type { JsonObject } from '#libs/infrastructure/json';
import type { Queryable } from '#libs/infrastructure/sql';
import { identityOf, type Lists } from './rules/check-document.ts';
import type { EdgeList, EdgeRow, StepRow, Stored } from './rules/rows.ts';
import { type Fields, type ListName, listNames, vocabulary } from './rules/vocabulary.ts';
import { findByKey, findEdges, findFormerKeys, findSteps } from './statements/lookups.ts';

/** Calls `found` for the value of each reference field, including nested fields. */
export function referencesIn(fields: Fields, value: JsonObject, found: (list: ListName, key: string) => void): void {
  for (const [name, { field }] of Object.entries(fields)) {
    const given = value[name];
    if (field.kind === 'reference' && typeof given === 'string') found(field.list, given);
    else if (field.kind === 'references' && Array.isArray(given))
      for (const key of given as string[]) found(field.list, key);
    else if (field.kind === 'items' && Array.isArray(given))
      for (const item of given as JsonObject[]) referencesIn(field.fields, item, found);
  }
}

export async function readStored(db: Queryable, lists: Lists): Promise<Stored> {
  const keysByList = Object.fromEntries(listNames.map((name) => [name, new Set<string>()])) as Record<
    ListName,
    Set<string>
  >;
  for (const name of listNames) {
    for (const { value } of lists[name]) {
      if (name !== 'memberships' && name !== 'relationships') keysByList[name].add(identityOf(name, value));
      referencesIn(vocabulary[name], value, (list, key) => keysByList[list].add(key));
    }
  }
  const ids = Object.fromEntries(listNames.map((name) => [name, new Map<string, number>()])) as Record<
    ListName,
    Map<string, number>
  >;
  for (const name of listNames) {
    if (keysByList[name].size === 0) continue;
    const rows = await findByKey[name](db, { keys: [...keysByList[name]] });
    for (const { key, id } of rows) ids[name].set(key, id);
  }
  const former = keysByList.people.size === 0 ? [] : await findFormerKeys(db, { keys: [...keysByList.people] });
  for (const { key, id } of former) ids.people.set(key, id);
  const steps = Map.groupBy(await readSteps(db, [...ids.journeys.values()]), (row) => row.journey_id);
  const edges = {
    memberships: await readEdges(db, lists, 'memberships', 'person', 'holon', ids.people, ids.holons),
    relationships: await readEdges(db, lists, 'relationships', 'from', 'to', ids.holons, ids.holons),
  };
  return {
    ids,
    formerKeys: new Set(former.map(({ key }) => key)),
    mergedIds: new Set(former.map(({ id }) => id)),
    steps,
    edges,
  };
}

async function readSteps(db: Queryable, journeyIds: readonly number[]): Promise<StepRow[]> {
  return journeyIds.length === 0 ? [] : findSteps(db, { journeyIds });
}

async function readEdges(
  db: Queryable,
  lists: Lists,
  name: EdgeList,
  fromField: string,
  toField: string,
  fromIds: Map<string, number>,
  toIds: Map<string, number>,
): Promise<EdgeRow[]> {
  const pairs: { left_id: number; right_id: number }[] = [];
  const keys: string[] = [];
  for (const { value } of lists[name]) {
    const fromId = fromIds.get(String(value[fromField]));
    const toId = toIds.get(String(value[toField]));
    if (fromId !== undefined && toId !== undefined) pairs.push({ left_id: fromId, right_id: toId });
    if (typeof value['key'] === 'string') keys.push(value['key']);
  }
  return pairs.length + keys.length === 0 ? [] : findEdges[name](db, { pairs: JSON.stringify(pairs), keys });
}
