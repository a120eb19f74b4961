/**
 * Deletion of conversations (D67). A deleted conversation is hidden at once, can be restored for some days, and is then
 * removed permanently. Jobs notify the other services.
 */
import type { EventOutbox } from '#libs/infrastructure/feed';
import type { Tx } from '#libs/infrastructure/orm';
import { media } from '#services/media';
import { transcripts } from '#services/transcripts';
import type { ConversationsConfig } from '../config.ts';
import { conversations } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { emitDeleted, emitRestored } from '../feed/index.ts';
import { addNote } from '../statements.ts';
import { instantFromSql } from '../representation.ts';
import type { DeletionReason } from './contract.ts';
import { markDeleted, restoreConversation } from './statements.ts';

export { findAnyConversation, listDeleted } from './statements.ts';

type JobQueue = Pick<Dependencies['jobs'], 'enqueue'>;

export interface Deletion {
  readonly reason: DeletionReason;
  /** Actor, e.g. `receipt 17`. */
  readonly by: string;
}

/** Deletes a conversation so that it can be restored. Idempotent. @returns whether the conversation existed */
export async function deleteConversation(
  { jobs, eventOutbox }: { readonly jobs: JobQueue; readonly eventOutbox: EventOutbox },
  tx: Tx,
  {
    id,
    at,
    reason,
    by,
  }: Deletion & { readonly id: number; /** Instant as text for PostgreSQL. */ readonly at: string },
): Promise<boolean> {
  const deleted = await markDeleted(tx, { id, at, reason, by });
  if (deleted === undefined) return false;
  emitDeleted(eventOutbox, tx, deleted, reason);
  await notifyMedia(jobs, tx, id);
  return true;
}

/**
 * Restores a deleted conversation and adds a note. @returns undefined when the conversation does not exist or is not
 * deleted
 */
export async function restoreDeleted(
  { jobs, eventOutbox }: Pick<Dependencies, 'jobs' | 'eventOutbox'>,
  tx: Tx,
  {
    id,
    by,
    requestId,
  }: { readonly id: number; /** Actor, e.g. `receipt 17`. */ readonly by: string; readonly requestId?: string },
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
  await emitRestored(eventOutbox, tx, id);
  await jobs.emit(tx, conversations.events.changed, { id }, { requestId });
  return row;
}

/** Notifies the other services that conversations were removed permanently. */
export async function notifyRemoved(jobs: JobQueue, tx: Tx, ids: readonly number[]): Promise<void> {
  for (const id of ids) {
    await notifyMedia(jobs, tx, id);
    await jobs.enqueue(tx, transcripts.jobs.forgetConversation, { conversation_id: id });
  }
}

/** Notifies the media service, which reads the state itself, so that the order of its jobs does not matter. */
export async function notifyMedia(jobs: JobQueue, tx: Tx, id: number): Promise<void> {
  await jobs.enqueue(tx, media.jobs.followConversation, { conversation_id: id });
}

const dayMicros = 86_400_000_000n;

/** Returns the retention of deleted conversations in microseconds (D67). */
export function retentionMicros({
  DELETED_RETENTION_DAYS: days,
}: Pick<ConversationsConfig, 'DELETED_RETENTION_DAYS'>): bigint {
  return BigInt(days) * dayMicros;
}
