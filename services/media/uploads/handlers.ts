/**
 * Operations of the bulk import: list stored files, and mark trimmed recordings as final (rules/workspace#bulk-import).
 */
import { listSome, recordAudit } from '#libs/infrastructure/audit';
import type { HandlersOf } from '#libs/infrastructure/nats';
import type { Dependencies } from '../dependencies.ts';
import type { uploadRpcs } from './contract.ts';
import { listFiles, setFinalized } from './statements.ts';

export function createUploadHandlers({ db }: Pick<Dependencies, 'db'>): HandlersOf<typeof uploadRpcs> {
  return {
    listFiles: async ({ conversation_ids: ids }) => ({ items: await listFiles(db, { conversationIds: ids }) }),
    setFinalized: ({ items }, context) =>
      db.transaction(async (tx) => {
        const changed = (await setFinalized(tx, { items: JSON.stringify(items) })).map(({ id }) => id);
        if (changed.length > 0) recordAudit(tx, context, { changes: listSome(changed, 'conversations') });
        return { changed };
      }),
  };
}
