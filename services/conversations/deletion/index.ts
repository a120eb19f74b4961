/** Deleting a conversation, for features that end one; and what is left of a deleted one. */
import type { EventOutbox } from '#libs/feed';
import type { Tx } from '#libs/orm';
import { media } from '#services/media';
import { transcripts } from '#services/transcripts';
import type { ConversationsConfig } from '../config.ts';
import { conversations } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { emitAccessUpdated, emitDeleted } from '../feed/index.ts';
import { addNote } from '../statements.ts';
import { instantFromSql } from '../representation.ts';
import type { DeletionReason } from './contract.ts';
import { markDeleted, restoreConversation } from './statements.ts';

export { findAnyConversation } from './statements.ts';

type JobQueue = Pick<Dependencies['jobs'], 'enqueue'>;

export interface Deletion {
  readonly reason: DeletionReason;
  /** What does it, e.g. `receipt 17`. */
  readonly by: string;
}

/** Deletes a conversation so that it can be restored; one that is deleted already stays as it is. @returns whether it was there */
export async function deleteConversation(
  { jobs, eventOutbox }: { readonly jobs: JobQueue; readonly eventOutbox: EventOutbox },
  tx: Tx,
  { id, at, reason, by }: Deletion & { readonly id: number; /** For PostgreSQL. */ readonly at: string },
): Promise<boolean> {
  const deleted = await markDeleted(tx, { id, at, reason, by });
  if (deleted === undefined) return false;
  emitDeleted(eventOutbox, tx, deleted, reason);
  await notifyMedia(jobs, tx, id);
  return true;
}

/** Brings back a deleted conversation, with a note. @returns undefined when there is no such deleted one */
export async function restoreDeleted(
  { jobs, eventOutbox }: Pick<Dependencies, 'jobs' | 'eventOutbox'>,
  tx: Tx,
  { id, by, requestId }: { readonly id: number; /** Who does it, e.g. `receipt 17`. */ readonly by: string; readonly requestId?: string },
): Promise<{ readonly has_booking: boolean | null } | undefined> {
  const row = await restoreConversation(tx, { id });
  if (row === undefined) return undefined;
  const deleted = `${row.reason.replace('_', ' ')} (${row.by}), ${instantFromSql(row.deleted_at)}`;
  await addNote(tx, {
    conversationId: id,
    key: null,
    type: 'system',
    body: `Restored by ${by}; deleted: ${deleted}`,
    authorPersonId: null,
  });
  await notifyMedia(jobs, tx, id);
  await emitAccessUpdated(eventOutbox, tx, [id]);
  await jobs.emit(tx, conversations.events.changed, { id }, { requestId });
  return row;
}

/** After rows were removed for good: everything of them goes everywhere. */
export async function notifyRemoved(jobs: JobQueue, tx: Tx, ids: readonly number[]): Promise<void> {
  for (const id of ids) {
    await notifyMedia(jobs, tx, id);
    await jobs.enqueue(tx, transcripts.jobs.forgetConversation, { conversation_id: id });
  }
}

/** Media looks at the state by itself, so that the order of its jobs does not matter. */
export async function notifyMedia(jobs: JobQueue, tx: Tx, id: number): Promise<void> {
  await jobs.enqueue(tx, media.jobs.followConversation, { conversation_id: id });
}

const dayMicros = 86_400_000_000n;

/** How long a deleted conversation is kept. */
export function retentionMicros({ DELETED_RETENTION_DAYS: days }: Pick<ConversationsConfig, 'DELETED_RETENTION_DAYS'>): bigint {
  return BigInt(days) * dayMicros;
}
