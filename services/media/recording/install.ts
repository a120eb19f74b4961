/**
 * Makes the stored objects of an import the recordings and thumbnails of the conversation, in one transaction. Replaced
 * files are deleted later.
 */
import type { Tx } from '#libs/infrastructure/orm';
import {
  type BlobKind,
  type FileRecord,
  findDeleted,
  insertFile,
  lockConversation,
  replaceFile,
  retireFiles,
  scheduleBlobDeletion,
} from '../files.ts';
import type { Dependencies } from '../dependencies.ts';
import { mediaUrl } from '../file-names.ts';
import { finishUpload, uploadExpired } from '../upload-leases/index.ts';
import { recordingFeed } from './contract.ts';
import type { FullRecording } from './full.ts';
import { setImportSources } from './statements.ts';

/** A stored object of this import that has no record yet. */
export interface NewObject {
  readonly objectKey: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly name: string;
  readonly contentType: string;
}

export interface ImportedFiles {
  readonly full: FullRecording;
  /** `kept` preserves the existing trimmed recording; null removes it. */
  readonly trimmed: NewObject | 'kept' | null;
  /** Undefined preserves the existing thumbnails. */
  readonly thumbnails: readonly NewObject[] | undefined;
  /** Digests of the inputs of the trimmed recording and the thumbnails. */
  readonly sources: { readonly trimmedFrom: string | null; readonly picturesFrom: string | null };
}

const source = 'realtimekit';

/** Installs the files. Returns false, without installing them, when the conversation is deleted. */
export async function install(
  deps: Pick<Dependencies, 'jobs' | 'config' | 'eventOutbox'>,
  tx: Tx,
  conversationId: number,
  { full, trimmed, thumbnails, sources }: ImportedFiles,
): Promise<boolean> {
  await lockConversation(tx, { conversationId });
  if ((await findDeleted(tx, { conversationId })) !== undefined) return false;
  const retired: number[] = [];
  const retire = async (kind: BlobKind): Promise<void> => {
    retired.push(...(await retireFiles(tx, { conversationId, kind })).map(({ id }) => id));
  };
  const replace = async (kind: BlobKind, object: NewObject): Promise<void> => {
    retired.push(...(await replaceFile(tx, await releaseLease(tx, conversationId, kind, object))).retiredIds);
  };
  if (!full.isCurrent) await replace('recording_full', full);
  const isTrimmed = trimmed !== null && trimmed !== 'kept';
  if (trimmed === null) await retire('recording_front_trimmed');
  else if (isTrimmed) await replace('recording_front_trimmed', trimmed);
  await setImportSources(tx, { conversationId, objectKey: full.objectKey, ...sources });
  if (!full.isCurrent || isTrimmed || retired.length > 0) {
    deps.eventOutbox.add(tx, recordingFeed.available, { subject: conversationId, data: {} });
  }
  if (thumbnails !== undefined) {
    await retire('thumbnail');
    for (const picture of thumbnails)
      await insertFile(tx, await releaseLease(tx, conversationId, 'thumbnail', picture));
  }
  await scheduleBlobDeletion(deps, tx, retired);
  return true;
}

/** Returns the URLs for `infos.publishing.artifacts.imported_thumbnails` (D18a). */
export function thumbnailUrls(thumbnails: readonly NewObject[]): string[] {
  return thumbnails.map(mediaUrl);
}

async function releaseLease(tx: Tx, conversationId: number, kind: BlobKind, object: NewObject): Promise<FileRecord> {
  if ((await finishUpload(tx, object)) === undefined) throw uploadExpired();
  const { objectKey, name, contentType, sizeBytes, sha256 } = object;
  return {
    kind,
    conversationId,
    objectKey,
    name,
    contentType,
    sizeBytes,
    sha256,
    source,
    finalized: false,
    accountId: null,
    personId: null,
  };
}
