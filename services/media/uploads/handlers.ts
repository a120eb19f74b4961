/** Files as the bulk import compares and marks them (rules/workspace#bulk-import). */
import { listSome, recordAudit } from '#libs/audit';
import type { Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { media } from '../contract.ts';
import { listFiles, setFinalized } from './statements.ts';

export function createUploadHandlers(db: Database): Pick<Handlers<typeof media>, 'listFiles' | 'setFinalized'> {
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
