/** Reads which fields and items of a document were changed or deleted over the API (W11, W24). */
import { type Edits, findRemoved, readEdits } from '#libs/product/history';
import type { Queryable } from '#libs/infrastructure/sql';
import type { WorkspaceEdits } from './rules/edits.ts';
import type { Target, Targets } from './rules/resolve.ts';
import type { EdgeList, Stored } from './rules/rows.ts';
import { type ListName, listNames } from './rules/vocabulary.ts';
import { listEndedEdges } from './statements/edits.ts';

export async function readWorkspaceEdits(db: Queryable, targets: Targets, stored: Stored): Promise<WorkspaceEdits> {
  const edits = new Map<ListName, ReadonlyMap<number, Edits>>();
  const removed = new Set<Target>();
  for (const list of listNames) {
    const ids = targets[list].flatMap(({ storedId }) => storedId ?? []);
    edits.set(list, await readEdits(db, list, ids));
    const fresh = targets[list].filter(({ storedId }) => storedId === undefined);
    const found =
      list === 'memberships' || list === 'relationships'
        ? await findEndedEdges(db, list, fresh, stored)
        : await findRemovedItems(db, list, fresh);
    for (const target of found) removed.add(target);
  }
  return { of: (list, id) => edits.get(list)?.get(id), removed };
}

async function findRemovedItems(db: Queryable, list: ListName, fresh: readonly Target[]): Promise<Target[]> {
  const keys = await findRemoved(
    db,
    list,
    fresh.map(({ key }) => key),
  );
  return fresh.filter(({ key }) => keys.has(key));
}

/** Finds memberships and relationships that were deleted, or that moved to another journey. */
async function findEndedEdges(
  db: Queryable,
  list: EdgeList,
  fresh: readonly Target[],
  stored: Stored,
): Promise<Target[]> {
  if (fresh.length === 0) return [];
  const [left, right] = list === 'memberships' ? (['person', 'holon'] as const) : (['from', 'to'] as const);
  const fromIds = list === 'memberships' ? stored.ids.people : stored.ids.holons;
  const endsOf = ({ item: { value } }: Target) => ({
    leftId: fromIds.get(String(value[left])) ?? 0,
    rightId: stored.ids.holons.get(String(value[right])) ?? 0,
    journey: typeof value['journey'] === 'string' ? value['journey'] : null,
  });
  const rows = await listEndedEdges[list](db, { fromIds: [...new Set(fresh.map((target) => endsOf(target).leftId))] });
  const ended = new Set(rows.map(({ left_id, right_id, journey }) => JSON.stringify([left_id, right_id, journey])));
  return fresh.filter((target) => {
    const { leftId, rightId, journey } = endsOf(target);
    return ended.has(JSON.stringify([leftId, rightId, journey]));
  });
}
