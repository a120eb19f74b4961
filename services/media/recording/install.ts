/** Makes what an import has stored the conversation's recordings and thumbnails, in one transaction; what they replace goes later. */
import { unavailable } from '#libs/errors';
import type { EventOutbox } from '#libs/feed';
import type { Tx } from '#libs/orm';
import { deleteLater, type DeletionDependencies } from '../delete-later.ts';
import { type BlobKind, findDeleted, insertFile, lockConversation, type NewFile, retireFiles } from '../file-statements.ts';
import { mediaAddress } from '../media-address.ts';
import { replaceFile } from '../replace-file.ts';
import { endUpload } from '../upload-leases/index.ts';
import { recordingFeed } from './contract.ts';
import type { FullRecording } from './full.ts';
import { setImportMade } from './statements.ts';

/** An object of this import that no record names yet. */
export interface NewObject {
  readonly objectKey: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly name: string;
  readonly contentType: string;
}

export interface Installed {
  readonly full: FullRecording;
  /** Null: the conversation is shown the full one; `kept`: the one that is there stays. */
  readonly trimmed: NewObject | 'kept' | null;
  /** Undefined: those that are there stay. */
  readonly thumbnails: readonly NewObject[] | undefined;
  /** What the conversation's files were made from. */
  readonly madeFrom: { readonly trimmedFrom: string | null; readonly picturesFrom: string | null };
}

const source = 'realtimekit';

/** False when the conversation is gone: nothing is installed then. */
export async function install(
  deps: DeletionDependencies & { readonly eventOutbox: EventOutbox },
  tx: Tx,
  conversationId: number,
  { full, trimmed, thumbnails, madeFrom }: Installed,
): Promise<boolean> {
  await lockConversation(tx, { conversationId });
  if ((await findDeleted(tx, { conversationId })) !== undefined) return false;
  const retired: number[] = [];
  const retire = async (kind: BlobKind): Promise<void> => {
    retired.push(...(await retireFiles(tx, { conversationId, kind })).map(({ id }) => id));
  };
  const put = async (kind: BlobKind, object: NewObject): Promise<void> => {
    retired.push(...(await replaceFile(tx, await take(tx, conversationId, kind, object))).retiredIds);
  };
  if (!full.isCurrent) await put('recording_full', full);
  const isTrimmed = trimmed !== null && trimmed !== 'kept';
  if (trimmed === null) await retire('recording_front_trimmed');
  else if (isTrimmed) await put('recording_front_trimmed', trimmed);
  await setImportMade(tx, { conversationId, objectKey: full.objectKey, ...madeFrom });
  if (!full.isCurrent || isTrimmed || retired.length > 0) {
    deps.eventOutbox.add(tx, recordingFeed.available, { subject: conversationId, data: {} });
  }
  if (thumbnails !== undefined) {
    await retire('thumbnail');
    for (const picture of thumbnails) await insertFile(tx, await take(tx, conversationId, 'thumbnail', picture));
  }
  await deleteLater(deps, tx, retired);
  return true;
}

/** Addresses as `infos.publishing.artifacts.imported_thumbnails` shows them (D18a). */
export function addressesOf(thumbnails: readonly NewObject[]): string[] {
  return thumbnails.map(mediaAddress);
}

async function take(tx: Tx, conversationId: number, kind: BlobKind, object: NewObject): Promise<NewFile> {
  if ((await endUpload(tx, object)) === undefined) throw unavailable('what was stored has been taken for dead; it is stored again');
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
