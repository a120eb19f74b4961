/** Makes a backup: the database of one moment, then the objects, then the manifest; its digest is written last and makes it complete. */
import { Readable } from 'node:stream';
import { lastBackupKey, type ObjectStore } from '#libs/object-store';
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
  /** Of a role that reads every schema. */
  readonly url: string;
  readonly schemas: readonly string[];
  readonly target: BackupTarget;
  readonly seal: Seal;
  /** Of this release. */
  readonly version: string;
  /** Absent: who was erased is not copied either. */
  readonly store: ObjectStore | undefined;
  readonly withObjects: boolean;
  /** Begin anew although one was broken off. */
  readonly fresh: boolean;
  /** Tables that are read at once. */
  readonly connections: number;
  /** Called when the server allows fewer, and why. */
  readonly onFewer: (connections: number, reason: unknown) => void;
  readonly onProgress: OnProgress;
}

/** What was broken off goes on for so long; its database is of the time when it began. */
const resumedForMs = 24 * 3_600_000;

export async function createBackup(options: CreateOptions): Promise<OpenedBackup & { readonly resumed: boolean }> {
  const { target, seal, store, withObjects } = options;
  await store?.ensureBucket(); // as the media service does at its start
  const begun = options.fresh || !withObjects ? undefined : await findUnfinished(target, seal.recipients, new Date(), resumedForMs);
  const draft = begun ?? (await dump(options));
  if (Object.keys(draft.schemas).length === 0) throw new BackupError('the database has no schema of the platform');
  if (withObjects && store === undefined) throw new BackupError('the objects cannot be read: S3_ENDPOINT is not set');
  const objects =
    withObjects && store !== undefined ? await dumpObjects({ ...options, store, draft, known: await listKnown(options, draft.id) }) : null;
  if (store !== undefined) await keepErasures(store, target);
  const manifest: Manifest = { ...draft, finished_at: new Date().toISOString(), objects };
  const text = `${JSON.stringify(manifest, null, 1)}\n`;
  const digest = hashOf(text);
  await put(target, manifestPath(draft.id), text);
  await put(target, digestPath(draft.id), `${digest}\n`);
  await target.remove(draftPath(draft.id));
  if (store !== undefined) await reportAge(store, manifest);
  return { manifest, digest, resumed: begun !== undefined };
}

/** What the target has of objects, the complete backup before those that were broken off. */
async function listKnown({ target, seal: { recipients } }: CreateOptions, current: string): Promise<AsyncIterable<ObjectEntry>[]> {
  const previous = await findPrevious(target, recipients);
  const abandoned = await listAbandoned(target, recipients, { previous: previous?.id, current });
  return [...(previous === undefined ? [] : [listObjects(target, previous)]), ...abandoned.map((id) => listDraftObjects(target, id))];
}

async function dump(options: CreateOptions): Promise<Draft> {
  const { target } = options;
  const id = newBackupId(new Date());
  const draft = await dumpDatabase({ ...options, id });
  const asManifest: Manifest = { ...draft, finished_at: draft.taken_at, objects: null };
  await put(target, draftPath(id), JSON.stringify(asManifest));
  return draft;
}

/** Monitoring sees by it how old the newest backup is. */
async function reportAge(store: ObjectStore, { id, version, taken_at: takenAt }: Manifest): Promise<void> {
  const text = JSON.stringify({ id, version, taken_at: takenAt });
  await store.putStream(lastBackupKey, Readable.from([Buffer.from(text)]), { contentType: 'application/json' });
}

async function put(target: BackupTarget, path: string, text: string): Promise<void> {
  await target.write(path, Readable.from([Buffer.from(text)]));
}
