/** Files as the bulk import compares and marks them (rules/workspace#bulk-import). */
import type { Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { media } from '../contract.ts';
import { listFiles, setFinalized } from './statements.ts';

export function createUploadHandlers(db: Database): Pick<Handlers<typeof media>, 'listFiles' | 'setFinalized'> {
  return {
    listFiles: async ({ conversation_ids: ids }) => ({ items: await listFiles(db, { conversationIds: ids }) }),
    setFinalized: async ({ items }) => ({ changed: (await setFinalized(db, { items: JSON.stringify(items) })).map(({ id }) => id) }),
  };
}
