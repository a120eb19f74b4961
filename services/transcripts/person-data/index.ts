/**
 * Handles the erasure or merge of people during an import that has already read the participants (people erase; I3):
 * the import's rows lose the person or get the surviving person. The person is marked before stored rows are changed,
 * and an import checks the marks as its last step, so each import is covered by one of the two.
 */
import type { Database, Tx } from '#libs/infrastructure/orm';
import { erasedText } from './contract.ts';
import { anonymizeSpeaker, changeSpeaker, listErased, lockErased, markErased, shareErasedLock } from './statements.ts';

/** Marks a person as erased or merged. @returns the surviving person; null when the person was erased */
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

/**
 * Replaces erased and merged people in stored rows. Every operation that stores rows calls it last, under the locks of
 * the conversations.
 */
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

/**
 * Replaces a person in a conversation's rows. Requires the conversation's lock. @returns number of rows that lost their
 * person
 */
export async function replacePerson(tx: Tx, { conversationId, personId, intoId }: RemovedPerson): Promise<number> {
  if (intoId === null) return (await anonymizeSpeaker(tx, { conversationId, personId, text: erasedText })).rows;
  await changeSpeaker(tx, { conversationId, mergedId: personId, intoId });
  return 0;
}
