/**
 * Who was erased or merged while an import had read who takes part (people erase; I3): what it stores is made nobody's, or that of who stays. Who
 * goes is marked first, and then what is stored is changed; an import looks at the marks last, so that each comes behind one of the two.
 */
import type { Database, Tx } from '#libs/orm';
import { erasedText } from './contract.ts';
import { anonymizeSpeaker, changeSpeaker, listErased, lockErased, markErased, shareErasedLock } from './statements.ts';

/** @returns who stays; null when the words are nobody's */
export async function markErasedOrMerged(db: Database, personId: number, intoId: number | null): Promise<number | null> {
  return await db.transaction(async (tx) => {
    await lockErased(tx);
    return (await markErased(tx, { personId, intoId }))?.intoId ?? null;
  });
}

/** The last step of what stores rows, under the locks of the conversations. */
export async function replaceErasedPeople(tx: Tx, conversationIds: readonly number[]): Promise<void> {
  await shareErasedLock(tx);
  for (const gone of await listErased(tx, { conversationIds })) await replacePerson(tx, gone);
}

interface RemovedPerson {
  readonly conversationId: number;
  readonly personId: number;
  /** Null: erased. */
  readonly intoId: number | null;
}

/** Under the conversation's lock. @returns rows that are nobody's now */
export async function replacePerson(tx: Tx, { conversationId, personId, intoId }: RemovedPerson): Promise<number> {
  if (intoId === null) return (await anonymizeSpeaker(tx, { conversationId, personId, text: erasedText })).rows;
  await changeSpeaker(tx, { conversationId, mergedId: personId, intoId });
  return 0;
}
