/** Lists and opens the backups of a target. */
import { BackupError } from './errors.ts';
import { backupsFolder, digestPath, draftPath, isBackupId, manifestPath, timeOfId } from './layout.ts';
import { type Draft, hashOf, type Manifest, readManifest } from './manifest.ts';
import { type BackupTarget, readText } from './target.ts';

export const maxManifestBytes = 64 * 1024 * 1024;
const digestFile = /^[0-9a-f]{64}\n$/;

export interface OpenedBackup {
  readonly manifest: Manifest;
  /** SHA-256 of the manifest, which identifies the whole backup. */
  readonly digest: string;
}

/** Returns the ids of all backups, newest first, including incomplete ones. */
export async function listIds(target: BackupTarget): Promise<string[]> {
  return (await target.folders(backupsFolder)).filter(isBackupId).toReversed();
}

export async function isComplete(target: BackupTarget, id: string): Promise<boolean> {
  return (await target.sizeOf(digestPath(id))) !== undefined;
}

/**
 * Opens a complete backup, or the newest one when `id` is undefined.
 * @param expected required digest
 * @throws BackupError when the backup does not exist, or its manifest does not match the stored digest
 */
export async function openBackup(
  target: BackupTarget,
  id: string | undefined,
  expected?: string,
): Promise<OpenedBackup> {
  const chosen = id ?? (await findNewest(target));
  if (chosen === undefined) throw new BackupError(`${target.location} has no complete backup`);
  if (!isBackupId(chosen)) throw new BackupError(`"${chosen}" is not an id of a backup, as \`backup list\` shows it`);
  const [digest, text] = [
    await readText(target, digestPath(chosen), 128),
    await readText(target, manifestPath(chosen), maxManifestBytes),
  ];
  if (digest === undefined || text === undefined) {
    throw new BackupError(
      (await listIds(target)).includes(chosen)
        ? `${chosen} was broken off: it is not complete`
        : `there is no backup ${chosen}`,
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

/** Returns the manifest of the newest complete backup whose objects are encrypted for the same keys. */
export async function findPrevious(target: BackupTarget, recipients: readonly string[]): Promise<Manifest | undefined> {
  for (const id of await listIds(target)) {
    if (!(await isComplete(target, id))) continue;
    const { manifest } = await openBackup(target, id);
    if (manifest.objects !== null && manifest.encrypted_to.join() === recipients.join()) return manifest;
  }
  return undefined;
}

/**
 * Returns the ids of backups since `previous` that were interrupted after their database dump. Objects that they copied
 * need not be copied again.
 */
export async function listAbandoned(
  target: BackupTarget,
  recipients: readonly string[],
  { previous, current }: { previous: string | undefined; current: string },
): Promise<string[]> {
  const found: string[] = [];
  for (const id of await listIds(target)) {
    if (id === previous) break;
    const text =
      id === current || (await isComplete(target, id))
        ? undefined
        : await readText(target, draftPath(id), maxManifestBytes);
    if (text !== undefined && readManifest(text, id).encrypted_to.join() === recipients.join()) found.push(id);
  }
  return found;
}

/** Returns a recent backup that was interrupted after its database dump and can be resumed. */
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
