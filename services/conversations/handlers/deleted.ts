/** Deleted conversations: listed, restored, and asked about by other services (D67). */
import type { ReplyOf, RequestOf } from '#libs/contract';
import { appError, notFound } from '#libs/errors';
import type { RequestContext } from '#libs/nats';
import { formatInstant } from '#libs/time';
import { conversations } from '../contract.ts';
import { requireId } from '../conversation-view.ts';
import { tellMedia } from '../deletion.ts';
import type { Dependencies } from '../dependencies.ts';
import { instantFromSql, parseSqlInstant } from '../domain/representation.ts';
import { conversationTitle, type TitleSource } from '../domain/title.ts';
import * as sql from '../repositories/deletion.ts';
import { addNote } from '../repositories/ledger.ts';
import { retentionMicros } from '../workers/removal.ts';

type Rpcs = typeof conversations.rpcs;

const defaultLimit = 100;

interface DeletedRow extends TitleSource, Pick<ReplyOf<Rpcs['adminListDeleted']>['items'][number], 'reason' | 'by'> {
  /** UTC without offset. */
  readonly deleted_at: string;
}

/** Latest first. */
export async function listDeleted(
  { db, config }: Dependencies,
  { limit = defaultLimit }: RequestOf<Rpcs['adminListDeleted']>,
): Promise<ReplyOf<Rpcs['adminListDeleted']>> {
  const rows = await db.query<DeletedRow>(sql.listDeleted, [limit]);
  return {
    items: rows.map((row) => ({
      id: row.id,
      title: conversationTitle(row),
      deleted_at: instantFromSql(row.deleted_at),
      reason: row.reason,
      by: row.by,
      removed_from: formatInstant(parseSqlInstant(row.deleted_at) + retentionMicros(config)),
    })),
  };
}

/** @throws AppError 404, 409 `conversation_not_deleted` */
export async function restore(
  { db, jobs }: Dependencies,
  request: RequestOf<Rpcs['adminRestore']>,
  { requestId }: RequestContext,
): Promise<ReplyOf<Rpcs['adminRestore']>> {
  const id = requireId(request.conversation_id);
  const restored = await jobs.transaction(async (tx) => {
    const [row] = await tx.query<sql.RestoredRow>(sql.restoreConversation, [id]);
    if (row === undefined) return undefined;
    const deleted = `${row.reason.replace('_', ' ')} (${row.by}), ${instantFromSql(row.deleted_at)}`;
    await tx.query(addNote, [id, null, 'system', `Restored by ${request.operator}; deleted: ${deleted}`, null, null]);
    await tellMedia(jobs, tx, id);
    await jobs.emit(tx, conversations.events.changed, { id }, { requestId });
    return row;
  });
  if (restored !== undefined) return { conversation_id: id, has_booking: restored.has_booking };
  if ((await db.query(sql.findState, [id])).length === 0) throw notFound();
  throw appError('conflict', 'conversation_not_deleted', `Conversation ${id} is not deleted.`);
}

export async function getState({ db }: Dependencies, { id }: RequestOf<Rpcs['getState']>): Promise<ReplyOf<Rpcs['getState']>> {
  const [row] = await db.query<{ is_deleted: boolean }>(sql.findState, [id]);
  return { state: row === undefined ? 'gone' : row.is_deleted ? 'deleted' : 'present' };
}
