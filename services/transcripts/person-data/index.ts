/**
 * Handles people who are erased or merged during an import that has already read the participants (people erase; I3):
 * its rows lose the person, or get the surviving one. The person is marked before stored rows are changed, and an
 * import checks the marks last, so each import is covered by one of the two.
 */
import type { Database, Tx } from '#libs/orm';
import { erasedText } from './contract.ts';
import { anonymizeSpeaker, changeSpeaker, listErased, lockErased, markErased, shareErasedLock } from './statements.ts';

/** @returns the surviving person; null when the person was erased */
export async function markErasedOrMerged(
  db: Database,
  personId: number,
  intoId: number | null,
): Promise<number | null> {
  return await db.transaction(async (tx) => {
    await lockErased(tx);
    return (await markErased(tx, { personId, intoId }))?.intoId ?? null;
  });
}

/** Last step of every operation that stores rows, under the locks of the conversations. */
export async function replaceErasedPeople(tx: Tx, conversationIds: readonly number[]): Promise<void> {
  await shareErasedLock(tx);
  for (const gone of await listErased(tx, { conversationIds })) await replacePerson(tx, gone);
}

interface RemovedPerson {
  readonly conversationId: number;
  readonly personId: number;
  /** Null when the person was erased. */
  readonly intoId: number | null;
}

/** Requires the conversation's lock. @returns number of rows that lost their person */
export async function replacePerson(tx: Tx, { conversationId, personId, intoId }: RemovedPerson): Promise<number> {
  if (intoId === null) return (await anonymizeSpeaker(tx, { conversationId, personId, text: erasedText })).rows;
  await changeSpeaker(tx, { conversationId, mergedId: personId, intoId });
  return 0;
}
