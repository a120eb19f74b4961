/**
 * Creates a backup: a database snapshot, then the objects, then the manifest. The digest is written last and marks the
 * backup as complete.
 */
import { Readable } from 'node:stream';
import { lastBackupKey, type ObjectStore } from '#libs/infrastructure/object-store';
import { findPrevious, findUnfinished, listAbandoned, type OpenedBackup } from './catalog.ts';
import { dumpDatabase, type OnProgress } from './database.ts';
import { BackupError } from './errors.ts';
import { keepErasures } from './erasures.ts';
import { digestPath, draftPath, manifestPath, newBackupId } from './layout.ts';
import { type Draft, hashOf, type Manifest, type ObjectEntry } from './manifest.ts';
import { dumpObjects, listDraftObjects, listObjects } from './objects.ts';
import type { Seal } from './seal.ts';
import type { BackupTarget } from './target.ts';

export interface CreateOptions {
  /** URL of a role that can read every schema. */
  readonly url: string;
  readonly schemas: readonly string[];
  readonly target: BackupTarget;
  readonly seal: Seal;
  /** Version of this release. */
  readonly version: string;
  /** Absent: neither objects nor erasure records are copied. */
  readonly store: ObjectStore | undefined;
  readonly withObjects: boolean;
  /** Starts a new backup even if an interrupted one exists. */
  readonly fresh: boolean;
  /** Number of tables read in parallel. */
  readonly connections: number;
  /** Called when the server allows fewer connections, with their number and the reason. */
  readonly onFewer: (connections: number, reason: unknown) => void;
  readonly onProgress: OnProgress;
}

/** Time in which an interrupted backup can be resumed. A resumed backup has the database snapshot of its first run. */
const resumedForMs = 24 * 3_600_000;

export async function createBackup(options: CreateOptions): Promise<OpenedBackup & { readonly resumed: boolean }> {
  const { target, seal, store, withObjects } = options;
  await store?.ensureBucket(); // the media service also does this at startup
  const startedAt =
    options.fresh || !withObjects ? undefined : await findUnfinished(target, seal.recipients, new Date(), resumedForMs);
  const draft = startedAt ?? (await dump(options));
  if (Object.keys(draft.schemas).length === 0) throw new BackupError('the database has no schema of the platform');
  if (withObjects && store === undefined) throw new BackupError('the objects cannot be read: S3_ENDPOINT is not set');
  const objects =
    withObjects && store !== undefined
      ? await dumpObjects({ ...options, store, draft, known: await listKnown(options, draft.id) })
      : null;
  if (store !== undefined) await keepErasures(store, target);
  const manifest: Manifest = { ...draft, finished_at: new Date().toISOString(), objects };
  const text = `${JSON.stringify(manifest, null, 1)}\n`;
  const digest = hashOf(text);
  await put(target, manifestPath(draft.id), text);
  await put(target, digestPath(draft.id), `${digest}\n`);
  await target.remove(draftPath(draft.id));
  if (store !== undefined) await reportAge(store, manifest);
  return { manifest, digest, resumed: startedAt !== undefined };
}

/**
 * Lists the objects that the target already has: first those of the previous complete backup, then those of interrupted
 * backups.
 */
async function listKnown(
  { target, seal: { recipients } }: CreateOptions,
  current: string,
): Promise<AsyncIterable<ObjectEntry>[]> {
  const previous = await findPrevious(target, recipients);
  const abandoned = await listAbandoned(target, recipients, { previous: previous?.id, current });
  return [
    ...(previous === undefined ? [] : [listObjects(target, previous)]),
    ...abandoned.map((id) => listDraftObjects(target, id)),
  ];
}

async function dump(options: CreateOptions): Promise<Draft> {
  const { target } = options;
  const id = newBackupId(new Date());
  const draft = await dumpDatabase({ ...options, id });
  const asManifest: Manifest = { ...draft, finished_at: draft.taken_at, objects: null };
  await put(target, draftPath(id), JSON.stringify(asManifest));
  return draft;
}

/** Writes the object from which monitoring reads the age of the newest backup. */
async function reportAge(store: ObjectStore, { id, version, taken_at: takenAt }: Manifest): Promise<void> {
  const text = JSON.stringify({ id, version, taken_at: takenAt });
  await store.putStream(lastBackupKey, Readable.from([Buffer.from(text)]), { contentType: 'application/json' });
}

async function put(target: BackupTarget, path: string, text: string): Promise<void> {
  await target.write(path, Readable.from([Buffer.from(text)]));
}
