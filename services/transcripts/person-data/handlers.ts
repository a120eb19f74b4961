/** `people export` and `people erase` of the admin CLI: the part of transcripts. */
import type { Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { transcripts } from '../contract.ts';
import { lockForWriting } from '../evidence/index.ts';
import { erasedText } from './contract.ts';
import { anonymise, listSpoken, listSpokenConversations } from './statements.ts';

type PersonDataHandlers = Pick<Handlers<typeof transcripts>, 'exportPerson' | 'erasePerson'>;

const rowsPerPage = 5_000;
/** Transcripts that one transaction changes. */
const transcriptsPerPage = 20;

/** Ends the transaction of a dry run. */
class DryRun extends Error {}

export function createPersonDataHandlers({ db }: { readonly db: Database }): PersonDataHandlers {
  return {
    exportPerson: async ({ person_id: personId, after }) => {
      const [afterConversation = 0, afterStart = -1, afterPosition = -1] = after === '' ? [] : after.split('/').map(Number);
      const rows = await listSpoken(db, { personId, afterConversation, afterStart, afterPosition, limit: rowsPerPage });
      const last = rows.length < rowsPerPage ? undefined : rows.at(-1);
      return {
        items: rows.map((row) => ({
          conversation_id: row.conversation_id,
          start_ms: row.start_us / 1000,
          end_ms: row.end_us / 1000,
          text: row.text,
        })),
        next: last === undefined ? null : `${last.conversation_id}/${last.start_us}/${last.position}`,
      };
    },
    erasePerson: async ({ person_id: personId, after, dry_run: dryRun }) => {
      const found = await listSpokenConversations(db, { personId, after, limit: transcriptsPerPage });
      const counts = { transcripts: found.length, transcript_rows: 0 };
      const work = db.transaction(async (tx) => {
        counts.transcript_rows = 0;
        for (const { id } of found) {
          await lockForWriting(tx, id);
          counts.transcript_rows += (await anonymise(tx, { conversationId: id, personId, text: erasedText })).rows;
        }
        if (dryRun) throw new DryRun();
      });
      await work.catch((error: unknown) => {
        if (!(error instanceof DryRun)) throw error;
      });
      return { counts, next: found.length < transcriptsPerPage ? null : (found.at(-1)?.id ?? null) };
    },
  };
}
