/** Merges two people in the directory, in one transaction (rules/people#merge-people; I3, I5). */
import { type AuditContext, recordAudit } from '#libs/infrastructure/audit';
import { notFound } from '#libs/infrastructure/errors';
import type { EventOutbox } from '#libs/infrastructure/feed';
import type { HistoryContext } from '#libs/product/history';
import type { Tx } from '#libs/infrastructure/orm';
import type { Dependencies } from '../dependencies.ts';
import { changeTokens } from '../accounts/index.ts';
import { peopleEvents } from '../events/contract.ts';
import { emitDeleted, emitMerged, emitWritten } from '../events/index.ts';
import type { DirectoryHistory } from '../history/index.ts';
import { lockRowsOfPeople } from '../person-rows/index.ts';
import { mergingJobs } from './contract.ts';
import {
  completeMemberships,
  dropMemberships,
  dropPerson,
  fillGaps,
  findDuplicateMemberships,
  findReferringRows,
  recordAliases,
  moveNotesOfDuplicates,
  moveHistory,
  moves,
  recordMerge,
} from './statements.ts';

export interface Merge {
  readonly mergedId: number;
  readonly intoId: number;
}

/**
 * Delay of the job that repeats the merge in other services. It covers rows that were being written and services that
 * were down.
 */
const finishAfterMs = 10_000;

/**
 * Moves all references and deletes the merged person. The caller checks the right to merge.
 * @returns counts of moved rows
 * @throws AppError 404 unless both exist
 */
export async function mergeIn(
  tx: Tx,
  { jobs, eventOutbox, history }: Pick<Dependencies, 'jobs' | 'eventOutbox' | 'history'>,
  merge: Merge,
  context: AuditContext & HistoryContext & { readonly traceparent?: string | undefined },
): Promise<Record<string, number>> {
  const { mergedId, intoId } = merge;
  const people = await lockRowsOfPeople(tx, [mergedId, intoId]);
  if (people.length < 2) throw notFound();
  await recordRows(tx, history, merge, context);
  const duplicates = await mergeDuplicateMemberships(tx, eventOutbox, merge);
  const counts: Record<string, number> = { doubled_memberships: duplicates.count };
  const moved = new Map<string, number[]>();
  for (const [what, move] of Object.entries(moves)) {
    const rows = await move(tx, merge);
    counts[what] = rows.length;
    moved.set(
      what,
      rows.map(({ id }) => id),
    );
  }
  const idsOf = (what: keyof typeof moves): number[] => moved.get(what) ?? [];
  const accounts = idsOf('accounts');
  await recordMerge(tx, merge);
  const filled = await fillGaps(tx, merge);
  await recordAliases(tx, merge);
  await dropPerson(tx, { mergedId });
  await moveHistory(tx, merge);
  // Keys remain valid for the surviving person. Login sessions end, so users must sign in again.
  await changeTokens(tx, jobs, accounts, 'refresh');
  await changeTokens(tx, jobs, accounts, 'sign-out');
  await jobs.emit(tx, peopleEvents.peopleChanged, { ids: [mergedId, intoId] });
  emitMerged(eventOutbox, tx, merge);
  if (filled.changed) await emitWritten(eventOutbox, tx, 'person', 'updated', [intoId]);
  const memberships = [...duplicates.changed, ...idsOf('memberships'), ...idsOf('responsible_memberships')];
  await emitWritten(eventOutbox, tx, 'membership', 'updated', memberships);
  await emitWritten(eventOutbox, tx, 'relationship', 'updated', idsOf('responsible_relationships'));
  const { requestId, traceparent } = context;
  const payload = { gone_id: mergedId, into_id: intoId };
  await jobs.enqueue(tx, mergingJobs.finishMerge, payload, { requestId, traceparent, delayMs: finishAfterMs });
  recordAudit(tx, context, { target: { type: 'person', id: mergedId }, changes: { into: intoId, moved: counts } });
  return counts;
}

/** Records the changes of all rows that the merge can change. The merged person's own history moves instead. */
async function recordRows(tx: Tx, history: DirectoryHistory, merge: Merge, context: HistoryContext): Promise<void> {
  const rows = await findReferringRows(tx, merge);
  await history.recordChanges(tx, context, 'people', [merge.intoId]);
  await history.recordChanges(tx, context, 'memberships', rows.memberships);
  await history.recordChanges(tx, context, 'relationships', rows.relationships);
  await history.recordChanges(tx, context, 'accounts', rows.accounts);
}

/**
 * Merges memberships that both people have, before the others are moved. `changed`: ids of surviving memberships that
 * got new values.
 */
async function mergeDuplicateMemberships(
  tx: Tx,
  eventOutbox: EventOutbox,
  merge: Merge,
): Promise<{ count: number; changed: number[] }> {
  const duplicates = await findDuplicateMemberships(tx, merge);
  if (duplicates.length === 0) return { count: 0, changed: [] };
  const removedIds = duplicates.map((row) => row.goes);
  await moveNotesOfDuplicates(tx, { stays: duplicates.map((row) => row.stays), goes: removedIds });
  await emitDeleted(eventOutbox, tx, 'membership', removedIds);
  await dropMemberships(tx, { ids: removedIds });
  await completeMemberships(tx, { doubled: JSON.stringify(duplicates) });
  return { count: duplicates.length, changed: duplicates.filter((row) => row.changes).map((row) => row.stays) };
}
