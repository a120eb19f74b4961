/** Writes the resolved items list by list, each table in bulk. */
import type { JsonObject } from '#libs/infrastructure/json';
import type { Tx } from '#libs/infrastructure/orm';
import { attach, type AttachedRow } from '../holons/index.ts';
import type { ChangeLog } from './rules/changes.ts';
import type { Target, Targets } from './rules/resolve.ts';
import { columnsOf, type EdgeList, type IdOf, type Stored } from './rules/rows.ts';
import { type ListName, listNames } from './rules/vocabulary.ts';
import { findSteps, grantTeams } from './statements/lookups.ts';
import { batches, insertAll, type Row, type TableName, allocateRowIds, updateAll } from './statements/tables.ts';
import { writeQuestions, writeSteps } from './write-journeys.ts';

export interface Written {
  /** Returns the id of an item, also of a new one. */
  readonly idOf: IdOf;
  readonly idOfTarget: (list: ListName, target: Target) => number;
  readonly stepIds: ReadonlyMap<string, number>;
  /** Journeys that were attached to or detached from a holon. */
  readonly reattachedJourneys: ReadonlySet<number>;
}

export async function writeItems(
  tx: Tx,
  targets: Targets,
  stored: Stored,
  passwordHashes: ReadonlyMap<string, string>,
  log: ChangeLog,
): Promise<Written> {
  const newIds = new Map<Target, number>();
  for (const list of listNames) await allocateFor(tx, list, targets[list], stored, newIds);
  const idOfTarget = (list: ListName, target: Target): number =>
    required(target.storedId ?? newIds.get(target), list, target.key);
  const idOf: IdOf = (list, key) =>
    required(stored.ids[list].get(list === 'accounts' ? key.toLowerCase() : key), list, key);

  for (const list of ['spheres', 'classes', 'journeys', 'people', 'holons', 'accounts'] as const) {
    const rowOf = (target: Target): Row => {
      const values = columnsOf(list, target.item.value, idOf, target.storedId === undefined);
      const hash = 'password' in target.item.value ? passwordHashes.get(target.key) : undefined;
      return { id: idOfTarget(list, target), values: hash === undefined ? values : { ...values, password_hash: hash } };
    };
    // Items with the key of a merged person do not overwrite the surviving person (I5).
    const own = list === 'people' ? targets.people.filter(({ key }) => !stored.formerKeys.has(key)) : targets[list];
    await writeRows(tx, list, own, rowOf, (id, fields) => log.addUpdate(list, id, fields));
  }
  const stepIds = await writeSteps(tx, targets.journeys, stored, (target) => idOfTarget('journeys', target), log);
  await writeQuestions(tx, targets.journeys, (target) => idOfTarget('journeys', target), log);
  await attachAll(tx, 'class_allowed_children', 'classes', 'allowed_children', targets, idOf, log);
  await attachAll(tx, 'class_journeys', 'classes', 'journeys', targets, idOf, log);
  const reattached = await attachAll(tx, 'holon_journeys', 'holons', 'journeys', targets, idOf, log);
  await writeTeams(tx, targets.accounts, idOf, log);
  await writeEdges(tx, targets, stored, idOf, idOfTarget, log);
  return {
    idOf,
    idOfTarget,
    stepIds,
    reattachedJourneys: new Set(reattached.flatMap((row) => [...row.old, ...row.new])),
  };
}

function required(id: number | undefined, list: ListName, key: string): number {
  if (id === undefined) throw new Error(`${list} "${key}" has no id although its references were checked`);
  return id;
}

/** Allocates the ids of all new items first, so that rows can refer to each other in any order. */
async function allocateFor(
  tx: Tx,
  list: ListName,
  targets: readonly Target[],
  stored: Stored,
  newIds: Map<Target, number>,
): Promise<void> {
  const fresh = targets.filter(({ storedId }) => storedId === undefined);
  const ids = await allocateRowIds(tx, list, fresh.length);
  for (const [index, target] of fresh.entries()) {
    const id = ids[index];
    if (id === undefined) throw new Error('too few ids were allocated');
    newIds.set(target, id);
    stored.ids[list].set(target.key, id);
  }
}

async function writeRows(
  tx: Tx,
  table: TableName,
  targets: readonly Target[],
  rowOf: (target: Target) => Row,
  onUpdated: (id: number, fields: string) => void,
): Promise<void> {
  const isNew = (target: Target): boolean => target.storedId === undefined;
  await insertAll(tx, table, targets.filter(isNew).map(rowOf));
  // Several items of merged people can resolve to one row. The first item is written.
  const rows = new Map(
    targets
      .filter((target) => !isNew(target))
      .toReversed()
      .map((target) => [target.storedId, rowOf(target)]),
  );
  for (const { id, fields } of await updateAll(tx, table, [...rows.values()].toReversed())) onUpdated(id, fields);
}

async function attachAll(
  tx: Tx,
  table: keyof typeof attach,
  list: 'classes' | 'holons',
  field: 'journeys' | 'allowed_children',
  targets: Targets,
  idOf: IdOf,
  log: ChangeLog,
): Promise<AttachedRow[]> {
  const targetList = field === 'journeys' ? 'journeys' : 'classes';
  const input = targets[list].flatMap(({ item, key }) => {
    const given = item.value[field];
    if (!Array.isArray(given)) return [];
    return [{ owner_id: idOf(list, key), targets: (given as string[]).map((name) => idOf(targetList, name)) }];
  });
  const changed: AttachedRow[] = [];
  for (const batch of batches(input)) {
    for (const row of await attach[table](tx, { attachments: JSON.stringify(batch) })) changed.push(row);
  }
  for (const row of changed) log.addUpdate(list, row.owner_id, [{ field, old: row.old, new: row.new }]);
  return changed;
}

async function writeTeams(tx: Tx, accounts: readonly Target[], idOf: IdOf, log: ChangeLog): Promise<void> {
  const input = accounts.flatMap(({ item, key }) =>
    ((item.value['teams'] ?? []) as JsonObject[]).map((team) => ({
      account_id: idOf('accounts', key),
      holon_id: idOf('holons', String(team['holon'])),
      is_active: team['active'] ?? true,
    })),
  );
  for (const batch of batches(input)) {
    for (const row of await grantTeams(tx, { teams: JSON.stringify(batch) })) {
      log.addUpdate('accounts', row.account_id, [
        { field: `teams.#${row.holon_id}`, old: null, new: row.is_active ? 'active' : 'inactive' },
      ]);
    }
  }
}

async function writeEdges(
  tx: Tx,
  targets: Targets,
  stored: Stored,
  idOf: IdOf,
  idOfTarget: (list: ListName, target: Target) => number,
  log: ChangeLog,
): Promise<void> {
  const edges: readonly EdgeList[] = ['memberships', 'relationships'];
  const journeyIds = new Set<number>();
  for (const { item } of edges.flatMap((list) => targets[list])) {
    if (typeof item.value['journey'] === 'string') journeyIds.add(idOf('journeys', item.value['journey']));
  }
  const steps = journeyIds.size === 0 ? [] : await findSteps(tx, { journeyIds: [...journeyIds] });
  const stepsOf = Map.groupBy(steps, (step) => step.journey_id);
  for (const list of edges) {
    const journeyBefore = new Map(stored.edges[list].map((row) => [row.id, row.journey_id]));
    const rowOf = (target: Target): Row => {
      const { value } = target.item;
      const columns = columnsOf(list, value, idOf, target.storedId === undefined);
      const journeyId = columns['journey_id'] as number | null | undefined;
      const before = target.storedId === undefined ? undefined : journeyBefore.get(target.storedId);
      if ('step' in value) {
        columns['step_id'] = stepsOf.get(journeyId ?? 0)?.find((step) => step.slug === value['step'])?.id ?? null;
      } else if (target.storedId === undefined || (journeyId !== undefined && journeyId !== before)) {
        columns['step_id'] = stepsOf.get(journeyId ?? 0)?.find((step) => !step.is_archived)?.id ?? null;
      }
      return { id: idOfTarget(list, target), values: columns };
    };
    await writeRows(tx, list, targets[list], rowOf, (id, fields) => log.addUpdate(list, id, fields));
  }
}
