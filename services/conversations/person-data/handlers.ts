/** Exports and erases personal data in conversations, and merges people (rules/people#merge-people; I3, I5). */
import { onBehalfOf, recordAudit } from '#libs/infrastructure/audit';
import type { ReplyOf, RequestOf } from '#libs/infrastructure/contract';
import { removeRecordsOfPerson } from '#libs/infrastructure/idempotency';
import { jsonPage, type RawJson, type RequestContext } from '#libs/infrastructure/nats';
import { transactionOrDryRun } from '#libs/infrastructure/orm';
import type { Queryable } from '#libs/infrastructure/sql';
import { attendeeKey } from '../booking/index.ts';
import { conversations } from '../contract.ts';
import { notifyRemoved } from '../deletion/index.ts';
import type { Dependencies, Operations } from '../dependencies.ts';
import { emitAccessUpdated, emitDeleted } from '../feed/index.ts';
import * as statements from './statements.ts';

type Rpcs = typeof conversations.rpcs;

const exportedPerPage = 500;
/** Maximum number of conversations that are changed per transaction. */
const erasedPerPage = 200;

/** Minimum length of a name that is removed from texts. Shorter names are too often parts of other words. */
const minNameLength = 3;

export function createPersonDataHandlers(
  dependencies: Dependencies,
): Pick<Operations, 'exportPerson' | 'erasePerson' | 'mergePerson'> {
  return {
    exportPerson: (request) => exportPerson(dependencies, request),
    erasePerson: (request, context) => erasePerson(dependencies, request, context),
    mergePerson: (request) => mergePerson(dependencies, request),
  };
}

async function exportPerson(
  { db }: Dependencies,
  { person_id: personId, after }: RequestOf<Rpcs['exportPerson']>,
): Promise<RawJson> {
  const end = after + statements.windowSize;
  const rows = await statements.exportConversations(db, { personId, after, end, limit: exportedPerPage });
  const next = await findNext(db, rows, exportedPerPage, end);
  return jsonPage(
    rows.map(({ item }) => item),
    next,
  );
}

async function erasePerson(
  { jobs, eventOutbox }: Dependencies,
  {
    person_id: personId,
    emails,
    name,
    account_ids: accountIds = [],
    after,
    dry_run: dryRun,
    by,
  }: RequestOf<Rpcs['erasePerson']>,
  context: RequestContext,
): Promise<ReplyOf<Rpcs['erasePerson']>> {
  const end = after + statements.windowSize;
  return transactionOrDryRun(jobs, dryRun, async (tx) => {
    const rows = await statements.lockConcerned(tx, { personId, after, end, limit: erasedPerPage });
    const next = await findNext(tx, rows, erasedPerPage, end);
    const ids = rows.map(({ id }) => id);
    const soleIds = rows.filter((row) => row.is_sole_participant).map(({ id }) => id);
    const shared = rows.filter((row) => !row.is_sole_participant).map(({ id }) => id);
    const receipts = ids.length === 0 ? [] : await statements.clearReceiptsOf(tx, { ids });
    const last = next === null ? await statements.clearReceiptsNaming(tx, { personId, emails }) : [];
    if (next === null) {
      await removeRecordsOfPerson(tx, { personId, accountIds });
      await statements.removeAttendee(tx, {
        personId,
        attendees: emails.map((email) => attendeeKey({ email, phone: null })),
      });
    }
    await statements.removeParticipant(tx, { personId, ids: shared });
    const notes = await statements.clearNoteAuthor(tx, { personId, ids: shared });
    const named = new Set<number>();
    for (const text of [name ?? '', ...emails].filter(({ length }) => length >= minNameLength)) {
      for (const { id } of await statements.removeFromNotes(tx, { ids: shared, text })) named.add(id);
    }
    for (const row of await statements.removeConversations(tx, { ids: soleIds }))
      if (!row.was_deleted) emitDeleted(eventOutbox, tx, row, 'erasure');
    await emitAccessUpdated(eventOutbox, tx, shared);
    await notifyRemoved(jobs, tx, soleIds);
    for (const id of shared) await jobs.emit(tx, conversations.events.changed, { id });
    const counts = {
      conversations_deleted: soleIds.length,
      conversations_left: shared.length,
      notes_without_author: notes.length,
      notes_without_name: named.size,
      webhook_receipts_emptied: receipts.length + last.length,
    };
    if (Object.values(counts).some((count) => count > 0)) {
      recordAudit(tx, onBehalfOf(context, by), {
        target: { type: 'person', id: personId },
        changes: { removed: counts },
      });
    }
    return { counts, next };
  });
}

/**
 * Returns the cursor of the next page: the last row of a full page, else the end of the window. Returns null after the
 * last conversation.
 */
export async function findNext(
  db: Queryable,
  rows: readonly { readonly id: number }[],
  limit: number,
  end: number,
): Promise<number | null> {
  if (rows.length === limit) return rows.at(-1)?.id ?? null;
  const last = await statements.findLastId(db);
  return last.id > end ? end : null;
}

type MergePerson = typeof conversations.rpcs.mergePerson;

/** Maximum number of conversations that are changed per transaction. */
const mergedPerPage = 200;

async function mergePerson(
  { jobs, eventOutbox }: Dependencies,
  { gone_id: mergedId, into_id: targetId, after }: RequestOf<MergePerson>,
): Promise<ReplyOf<MergePerson>> {
  const end = after + statements.windowSize;
  return jobs.transaction(async (tx) => {
    const rows = await statements.lockConcerned(tx, { personId: mergedId, after, end, limit: mergedPerPage });
    const next = await findNext(tx, rows, mergedPerPage, end);
    const ids = rows.map(({ id }) => id);
    if (ids.length > 0) {
      await statements.changeParticipant(tx, { mergedId, targetId, ids });
      await statements.changeAuthor(tx, { mergedId, targetId, ids });
      await emitAccessUpdated(eventOutbox, tx, ids);
      for (const id of ids) await jobs.emit(tx, conversations.events.changed, { id });
    }
    if (next === null) {
      await statements.changeHost(tx, { mergedId, targetId });
      await statements.changeBookings(tx, { mergedId, targetId });
    }
    return { next };
  });
}
