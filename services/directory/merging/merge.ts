/** The directory's part of a merge, one transaction (rules/people#merge-people; I3, I5). */
import { type AuditContext, recordAudit } from '#libs/audit';
import { notFound } from '#libs/errors';
import type { EventOutbox } from '#libs/feed';
import type { Jobs } from '#libs/jobs';
import type { Tx } from '#libs/orm';
import { changeTokens } from '../accounts/index.ts';
import { peopleEvents } from '../events/contract.ts';
import { tellMerged, tellWritten } from '../events/index.ts';
import { lockRowsOfPeople } from '../person-rows/index.ts';
import { mergingJobs } from './contract.ts';
import {
  completeMemberships,
  dropMemberships,
  dropPerson,
  fillGaps,
  findDoubled,
  keepAliases,
  moveNotesOfDoubled,
  moves,
  recordMerge,
} from './statements.ts';

export interface Merge {
  readonly goneId: number;
  readonly intoId: number;
}

/** Other services are asked at once; the job asks again, for what was under way there, and when they were away. */
const finishAfterMs = 10_000;

/**
 * Moves every reference and removes who goes. Who may merge is the caller's question.
 * @returns counts of what moved
 * @throws AppError 404 unless both are there
 */
export async function mergeIn(
  tx: Tx,
  { jobs, eventOutbox }: { readonly jobs: Jobs; readonly eventOutbox: EventOutbox },
  merge: Merge,
  context: AuditContext & { readonly traceparent?: string | undefined },
): Promise<Record<string, number>> {
  const { goneId, intoId } = merge;
  const people = await lockRowsOfPeople(tx, [goneId, intoId]);
  if (people.length < 2) throw notFound();
  const doubled = await joinDoubled(tx, merge);
  const counts: Record<string, number> = { doubled_memberships: doubled.count };
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
  await keepAliases(tx, merge);
  await dropPerson(tx, { goneId });
  // Keys go on as another person; logins begin anew.
  await changeTokens(tx, jobs, accounts, 'refresh');
  await changeTokens(tx, jobs, accounts, 'sign-out');
  await jobs.emit(tx, peopleEvents.peopleChanged, { ids: [goneId, intoId] });
  tellMerged(eventOutbox, tx, merge);
  if (filled.changed) await tellWritten(eventOutbox, tx, 'person', 'updated', [intoId]);
  const memberships = [...doubled.changed, ...idsOf('memberships'), ...idsOf('responsible_memberships')];
  await tellWritten(eventOutbox, tx, 'membership', 'updated', memberships);
  await tellWritten(eventOutbox, tx, 'relationship', 'updated', idsOf('responsible_relationships'));
  const { requestId, traceparent } = context;
  const payload = { gone_id: goneId, into_id: intoId };
  await jobs.enqueue(tx, mergingJobs.finishMerge, payload, { requestId, traceparent, delayMs: finishAfterMs });
  recordAudit(tx, context, { target: { type: 'person', id: goneId }, changes: { into: intoId, moved: counts } });
  return counts;
}

/** Before the others move, which would otherwise be the same membership twice. `changed`: those that stay with another value. */
async function joinDoubled(tx: Tx, merge: Merge): Promise<{ count: number; changed: number[] }> {
  const doubled = await findDoubled(tx, merge);
  if (doubled.length === 0) return { count: 0, changed: [] };
  const goes = doubled.map((row) => row.goes);
  await moveNotesOfDoubled(tx, { stays: doubled.map((row) => row.stays), goes });
  await dropMemberships(tx, { ids: goes });
  await completeMemberships(tx, { doubled: JSON.stringify(doubled) });
  return { count: doubled.length, changed: doubled.filter((row) => row.changes).map((row) => row.stays) };
}
