/** Exports and erases a person's utterances, for `people export` and `people erase` of the admin CLI. */
import { onBehalfOf, recordAudit } from '#libs/infrastructure/audit';
import type { HandlersOf } from '#libs/infrastructure/nats';
import { transactionOrDryRun } from '#libs/infrastructure/orm';
import { conversations } from '#services/conversations';
import { captionsChanged } from '../search/index.ts';
import type { Dependencies } from '../dependencies.ts';
import { lockForWriting } from '../evidence/index.ts';
import type { personDataRpcs } from './contract.ts';
import { replacePerson, markErasedOrMerged } from './index.ts';
import { changeParticipant, listUtterances, listConversationsOfSpeaker } from './statements.ts';

const rowsPerPage = 5_000;
/** Maximum transcripts that one transaction changes. */
const transcriptsPerPage = 20;
/** Time between the end of a job and the publication of its result. */
const publishingMs = 2_000;

export function createPersonDataHandlers({
  db,
  jobs,
}: Pick<Dependencies, 'db' | 'jobs'>): HandlersOf<typeof personDataRpcs> {
  return {
    exportPerson: async ({ person_id: personId, after }) => {
      const [afterConversation = 0, afterStart = -1, afterPosition = -1] =
        after === '' ? [] : after.split('/').map(Number);
      const rows = await listUtterances(db, {
        personId,
        afterConversation,
        afterStart,
        afterPosition,
        limit: rowsPerPage,
      });
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
    erasePerson: async ({ person_id: personId, after, dry_run: dryRun, by }, context) => {
      if (!dryRun) await markErasedOrMerged(db, personId, null);
      const found = await listConversationsOfSpeaker(db, { personId, after, limit: transcriptsPerPage });
      const rows = await transactionOrDryRun(db, dryRun, async (tx) => {
        let count = 0;
        for (const { id } of found) {
          await lockForWriting(tx, id);
          const erased = await replacePerson(tx, { conversationId: id, personId, intoId: null });
          // The job is delayed, so that a publication in progress can finish first.
          if (erased > 0)
            await jobs.enqueue(tx, conversations.jobs.wordsErased, { conversation_id: id }, { delayMs: publishingMs });
          count += erased;
        }
        await captionsChanged(jobs, tx, idsOf(found));
        const removed = { transcripts: found.length, transcript_rows: count };
        if (count > 0)
          recordAudit(tx, onBehalfOf(context, by), { target: { type: 'person', id: personId }, changes: { removed } });
        return count;
      });
      const counts = { transcripts: found.length, transcript_rows: rows };
      return { counts, next: found.length < transcriptsPerPage ? null : (found.at(-1)?.id ?? null) };
    },
    mergePerson: async ({ gone_id: mergedId, into_id: givenId, after }) => {
      // The surviving person may have been merged or erased since the merge.
      const intoId = await markErasedOrMerged(db, mergedId, givenId);
      const found = await listConversationsOfSpeaker(db, { personId: mergedId, after, limit: transcriptsPerPage });
      const next = found.length < transcriptsPerPage ? null : (found.at(-1)?.id ?? null);
      await db.transaction(async (tx) => {
        for (const { id } of found) {
          await lockForWriting(tx, id);
          await replacePerson(tx, { conversationId: id, personId: mergedId, intoId });
        }
        await captionsChanged(jobs, tx, idsOf(found));
        if (next === null) await changeParticipant(tx, { mergedId, intoId: intoId ?? givenId });
      });
      return { next };
    },
  };
}

const idsOf = (rows: readonly { readonly id: number }[]): number[] => rows.map(({ id }) => id);
