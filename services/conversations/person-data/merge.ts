/** Merges of people: the part of conversations (rules/people#merge-people; I3, I5). */
import type { ReplyOf, RequestOf } from '#libs/contract';
import { conversations } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { tellAccessUpdated } from '../feed/index.ts';
import { findNext } from './handlers.ts';
import * as statements from './statements.ts';

type MergePerson = typeof conversations.rpcs.mergePerson;

/** Conversations that one transaction changes. */
const mergedPerPage = 200;

export async function mergePerson(
  { jobs, eventOutbox }: Dependencies,
  { gone_id: goneId, into_id: intoId, after }: RequestOf<MergePerson>,
): Promise<ReplyOf<MergePerson>> {
  const end = after + statements.windowSize;
  return jobs.transaction(async (tx) => {
    const rows = await statements.lockConcerned(tx, { personId: goneId, after, end, limit: mergedPerPage });
    const next = await findNext(tx, rows, mergedPerPage, end);
    const ids = rows.map(({ id }) => id);
    if (ids.length > 0) {
      await statements.changeParticipant(tx, { goneId, intoId, ids });
      await statements.changeAuthor(tx, { goneId, intoId, ids });
      await tellAccessUpdated(eventOutbox, tx, ids);
      for (const id of ids) await jobs.emit(tx, conversations.events.changed, { id });
    }
    if (next === null) {
      await statements.changeHost(tx, { goneId, intoId });
      await statements.changeBookings(tx, { goneId, intoId });
    }
    return { next };
  });
}
