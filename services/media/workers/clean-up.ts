/** Removal of files that nothing refers to any more: replaced ones, and those of deleted conversations. */
import { conversations } from '#services/conversations';
import type { PayloadOf } from '#libs/contract';
import type { JobHandler, Jobs } from '#libs/jobs';
import type { Logger } from '#libs/logger';
import { type Bus, followEvent, type RunningConsumer } from '#libs/nats';
import type { ObjectStore } from '#libs/object-store';
import type { Database } from '#libs/orm';
import { media } from '../contract.ts';
import { dropImport } from '../repositories/imports.ts';
import { dropVideohostUploads } from '../repositories/videohost-uploads.ts';
import { abandonUpload } from '../repositories/uploads.ts';
import { deleteRetired, findRetiredKey, retireConversation } from '../repositories/blobs.ts';

/** Job `media.delete-blob`: first the object, then its record; a repetition finds less to do. */
export function createDeleteBlob(deps: { db: Database; store: ObjectStore }): JobHandler<PayloadOf<typeof media.jobs.deleteBlob>> {
  return async (run) => {
    const objectKey = await findRetiredKey(deps.db, run.payload.blob_id);
    if (objectKey !== undefined) await deps.store.delete(objectKey);
    await run.complete((tx) => deleteRetired(tx, run.payload.blob_id));
  };
}

/** Retires the files of deleted conversations; they are remembered as gone, so that an upload that is still under way stores nothing. */
export function consumeDeletions(deps: { bus: Bus; jobs: Jobs; logger: Logger; graceSeconds: number }): Promise<RunningConsumer> {
  return followEvent(deps, media.consumers.conversationDeleted, conversations.events.deleted, ({ id }) =>
    deps.jobs.transaction(async (tx) => {
      await dropVideohostUploads(tx, id);
      const imported = await dropImport(tx, id);
      if (imported !== undefined) await abandonUpload(tx, imported);
      for (const blobId of await retireConversation(tx, id)) {
        await deps.jobs.enqueue(
          tx,
          media.jobs.deleteBlob,
          { blob_id: blobId },
          { key: `blob-${blobId}`, delayMs: deps.graceSeconds * 1000 },
        );
      }
    }),
  );
}
