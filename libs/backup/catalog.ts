/** Lists and opens the backups of a target. */
import { BackupError } from './errors.ts';
import { backupsFolder, digestPath, draftPath, isBackupId, manifestPath, timeOfId } from './layout.ts';
import { type Draft, hashOf, type Manifest, readManifest } from './manifest.ts';
import { type BackupTarget, readText } from './target.ts';

export const maxManifestBytes = 64 * 1024 * 1024;
const digestFile = /^[0-9a-f]{64}\n$/;

export interface OpenedBackup {
  readonly manifest: Manifest;
  /** SHA-256 of the manifest, by which all of the backup is known. */
  readonly digest: string;
}

/** Ids, newest first, including incomplete backups. */
export async function listIds(target: BackupTarget): Promise<string[]> {
  return (await target.folders(backupsFolder)).filter(isBackupId).toReversed();
}

export async function isComplete(target: BackupTarget, id: string): Promise<boolean> {
  return (await target.sizeOf(digestPath(id))) !== undefined;
}

/**
 * A complete backup, the newest when `id` is undefined.
 * @param expected digest that it must have
 * @throws BackupError when there is none, or when its manifest is not the one that was stored
 */
export async function openBackup(target: BackupTarget, id: string | undefined, expected?: string): Promise<OpenedBackup> {
  const chosen = id ?? (await findNewest(target));
  if (chosen === undefined) throw new BackupError(`${target.location} has no complete backup`);
  if (!isBackupId(chosen)) throw new BackupError(`"${chosen}" is not an id of a backup, as \`backup list\` shows it`);
  const [digest, text] = [await readText(target, digestPath(chosen), 128), await readText(target, manifestPath(chosen), maxManifestBytes)];
  if (digest === undefined || text === undefined) {
    throw new BackupError(
      (await listIds(target)).includes(chosen) ? `${chosen} was broken off: it is not complete` : `there is no backup ${chosen}`,
    );
  }
  if (!digestFile.test(digest) || digest.trim() !== hashOf(text))
    throw new BackupError(`the manifest of ${chosen} is not what was stored: its digest differs`);
  if (expected !== undefined && digest.trim() !== expected)
    throw new BackupError(`${chosen} is another backup than the one with the digest ${expected}`);
  return { manifest: readManifest(text, chosen), digest: digest.trim() };
}

async function findNewest(target: BackupTarget): Promise<string | undefined> {
  for (const id of await listIds(target)) if (await isComplete(target, id)) return id;
  return undefined;
}

/** The newest complete backup whose objects were sealed for the same keys. */
export async function findPrevious(target: BackupTarget, recipients: readonly string[]): Promise<Manifest | undefined> {
  for (const id of await listIds(target)) {
    if (!(await isComplete(target, id))) continue;
    const { manifest } = await openBackup(target, id);
    if (manifest.objects !== null && manifest.encrypted_to.join() === recipients.join()) return manifest;
  }
  return undefined;
}

/** Ids of backups that were broken off behind their database since `previous`: their objects need not be copied again. */
export async function listAbandoned(
  target: BackupTarget,
  recipients: readonly string[],
  { previous, current }: { previous: string | undefined; current: string },
): Promise<string[]> {
  const found: string[] = [];
  for (const id of await listIds(target)) {
    if (id === previous) break;
    const text = id === current || (await isComplete(target, id)) ? undefined : await readText(target, draftPath(id), maxManifestBytes);
    if (text !== undefined && readManifest(text, id).encrypted_to.join() === recipients.join()) found.push(id);
  }
  return found;
}

/** An incomplete but recent backup whose database is complete; it is resumed. */
export async function findUnfinished(
  target: BackupTarget,
  recipients: readonly string[],
  now: Date,
  maxAgeMs: number,
): Promise<Draft | undefined> {
  for (const id of await listIds(target)) {
    if (now.getTime() - timeOfId(id).getTime() > maxAgeMs || (await isComplete(target, id))) return undefined;
    const text = await readText(target, draftPath(id), maxManifestBytes);
    if (text === undefined) continue;
    const { finished_at: _finished, objects: _objects, ...draft } = readManifest(text, id);
    if (draft.encrypted_to.join() === recipients.join()) return draft;
  }
  return undefined;
}
