/** Erases a person from the directory, as the last step of an erasure (rules/people#export-and-erasure; W20). */
import { type AuditContext, recordAudit } from '#libs/infrastructure/audit';
import { appError } from '#libs/infrastructure/errors';
import type { HistoryContext } from '#libs/product/history';
import { removeRecordsOfPerson } from '#libs/infrastructure/idempotency';
import type { Jobs } from '#libs/infrastructure/jobs';
import type { Tx } from '#libs/infrastructure/orm';
import type { Dependencies } from '../dependencies.ts';
import { changeTokens, emailThrottleKey, forgetAttempts } from '../accounts/index.ts';
import { peopleEvents } from '../events/contract.ts';
import { emitDeleted, emitErased, emitWritten } from '../events/index.ts';
import { lockRowsOfPeople } from '../person-rows/index.ts';
import { findPersonIdentity } from './find.ts';
import {
  deactivateAccounts,
  eraseSteps,
  findMergedInto,
  listAccountIds,
  listMemberships,
  listResponsible,
  recordErasure,
  removeFromNotes,
  removeHistoryOfPerson,
} from './statements.ts';

/** Minimum length of names to remove from notes. Shorter names occur in other words. */
const shortestName = 3;

/** Deactivates the accounts of a person and revokes their tokens: the first step of an erasure. */
export async function closeAccounts(tx: Tx, jobs: Jobs, personId: number): Promise<void> {
  await deactivateAccounts(tx, { personId });
  await changeTokens(tx, jobs, idsOf(await listAccountIds(tx, { personId })), 'end');
}

/**
 * Deletes a person with accounts, memberships, notes and history, and records the erasure without personal data.
 * @returns the number of removed rows by kind
 * @throws AppError 409 `person_merged` if the person was merged during the erasure
 */
export async function eraseFromDirectory(
  tx: Tx,
  { jobs, eventOutbox, history }: Pick<Dependencies, 'jobs' | 'eventOutbox' | 'history'>,
  { id, operator, dryRun = false }: { readonly id: number; readonly operator: string; readonly dryRun?: boolean },
  context: AuditContext & HistoryContext,
): Promise<Record<string, number>> {
  const person = { personId: id };
  await lockRowsOfPeople(tx, [id]);
  await closeAccounts(tx, jobs, id);
  const { name, emails, former } = await findPersonIdentity(tx, id);
  await forgetAttempts(tx, { emailKeys: emails.map(emailThrottleKey) });
  const names = [name ?? '', ...emails].filter(({ length }) => length >= shortestName);
  for (const text of names) await removeFromNotes(tx, { personId: id, text });
  const accountIds = idsOf(await listAccountIds(tx, person));
  const memberships = idsOf(await listResponsible.memberships(tx, person));
  const relationships = idsOf(await listResponsible.relationships(tx, person));
  await history.recordChanges(tx, context, 'memberships', memberships);
  await history.recordChanges(tx, context, 'relationships', relationships);
  const personIds = [...new Set([id, ...former.map((of) => of.person_id)])];
  await removeHistoryOfPerson(tx, { personId: id, personIds });
  await emitDeleted(eventOutbox, tx, 'membership', idsOf(await listMemberships(tx, person)));
  const counted: Record<string, number> = {};
  for (const [what, step] of Object.entries(eraseSteps)) counted[what] = (await step(tx, person)).length;
  // Idempotency records are removed last, to include records that concurrent requests stored meanwhile.
  for (const personId of personIds) await removeRecordsOfPerson(tx, { personId, accountIds });
  const isErased = (counted['people'] ?? 0) > 0;
  if (!dryRun && !isErased) await rejectMerged(tx, id);
  if (dryRun || !isErased) return counted;
  await recordErasure(tx, { personId: id, operator, counts: JSON.stringify(counted) });
  await jobs.emit(tx, peopleEvents.peopleChanged, { ids: [id] });
  emitErased(eventOutbox, tx, id);
  await emitWritten(eventOutbox, tx, 'membership', 'updated', memberships);
  await emitWritten(eventOutbox, tx, 'relationship', 'updated', relationships);
  recordAudit(tx, context, { target: { type: 'person', id }, changes: { removed: counted } });
  return counted;
}

const idsOf = (rows: readonly { readonly id: number }[]): number[] => rows.map(({ id }) => id);

/** Throws if the person was merged during the erasure. @throws AppError 409 `person_merged` */
async function rejectMerged(tx: Tx, id: number): Promise<void> {
  const now = await findMergedInto(tx, { mergedId: id });
  if (now === undefined) return;
  throw appError(
    'conflict',
    'person_merged',
    `Person ${id} was merged into person ${now.id} meanwhile. Erase that person instead.`,
  );
}
