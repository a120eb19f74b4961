/** Removes old backups, and objects that no remaining backup references. */
import { isComplete, listIds, openBackup } from './catalog.ts';
import { follow } from './follow.ts';
import { folderOf, objectsFolder, timeOfId, digestPath } from './layout.ts';
import type { Manifest } from './manifest.ts';
import { listObjects } from './objects.ts';
import { poolOf } from './seal.ts';
import type { BackupTarget } from './target.ts';

export interface Pruned {
  readonly backups: readonly string[];
  readonly objects: number;
}

/**
 * Removes backups older than `keepDays`, except the newest complete one. Incomplete younger backups may still be
 * running and are not removed.
 */
export async function pruneBackups(
  target: BackupTarget,
  keepDays: number,
  now: Date,
  dryRun: boolean,
): Promise<Pruned> {
  const retained: Manifest[] = [];
  const removed: string[] = [];
  let isUnderWay = false;
  for (const id of await listIds(target)) {
    const isYoung = now.getTime() - timeOfId(id).getTime() < keepDays * 86_400_000;
    const complete = await isComplete(target, id);
    if (complete && (isYoung || retained.length === 0)) retained.push((await openBackup(target, id)).manifest);
    else if (!complete && isYoung) isUnderWay = true;
    else removed.push(id);
  }
  for (const id of dryRun ? [] : removed) await removeBackup(target, id);
  // Objects of a running backup may not be in a list yet.
  const objects = isUnderWay ? 0 : await removeObjects(target, retained, dryRun);
  return { backups: removed, objects };
}

/** Removes a backup, beginning with the file that marks it as complete. */
async function removeBackup(target: BackupTarget, id: string): Promise<void> {
  await target.remove(digestPath(id));
  for await (const { path } of target.list(folderOf(id))) await target.remove(path);
}

async function removeObjects(target: BackupTarget, retained: readonly Manifest[], dryRun: boolean): Promise<number> {
  let count = 0;
  for (const pool of await target.folders(objectsFolder)) {
    const owners = retained.filter((manifest) => manifest.objects !== null && poolOf(manifest.encrypted_to) === pool);
    const named = owners.map((manifest) => follow(listObjects(target, manifest)));
    for await (const { path } of target.list(`${objectsFolder}/${pool}`)) {
      const key = path.slice(objectsFolder.length + pool.length + 2);
      const found = await Promise.all(named.map((find) => find(key)));
      if (found.some((entry) => entry !== undefined)) continue;
      if (!dryRun) await target.remove(path);
      count += 1;
    }
  }
  return count;
}
