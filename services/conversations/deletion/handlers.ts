/** Deletes, lists and restores conversations, and reports their states to other services (D67). */
import { recordAudit } from '#libs/audit';
import type { ReplyOf, RequestOf } from '#libs/contract';
import { appError, notFound } from '#libs/errors';
import type { RequestContext } from '#libs/nats';
import { formatInstant } from '#libs/time';
import { conversations } from '../contract.ts';
import type { Dependencies, Operations } from '../dependencies.ts';
import { requireId } from '../guards.ts';
import { instantFromSql, parseSqlInstant } from '../representation.ts';
import { conversationTitle } from '../publishing.ts';
import { deleteConversation, restoreDeleted, retentionMicros } from './index.ts';
import * as statements from './statements.ts';

type Rpcs = typeof conversations.rpcs;

const defaultLimit = 100;

export function createDeletionHandlers(
  dependencies: Dependencies,
): Pick<Operations, 'adminDelete' | 'adminListDeleted' | 'adminRestore' | 'getState' | 'listStates' | 'countUses'> {
  return {
    adminDelete: (request, context) => remove(dependencies, request, context),
    adminListDeleted: (request) => listDeleted(dependencies, request),
    adminRestore: (request, context) => restore(dependencies, request, context),
    getState: (request) => getState(dependencies, request),
    listStates: (request) => listStates(dependencies, request),
    countUses: ({ holon_id: holonId, journey_id: journeyId, step_id: stepId }) =>
      statements.countUses(dependencies.db, { holonId, journeyId, stepId }),
  };
}

/** Returns deleted conversations, latest deletion first. */
async function listDeleted(
  { db, config }: Dependencies,
  { limit = defaultLimit }: RequestOf<Rpcs['adminListDeleted']>,
): Promise<ReplyOf<Rpcs['adminListDeleted']>> {
  const rows = await statements.listDeleted(db, { limit });
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

/** Restores a deleted conversation. @throws AppError 404, 409 `conversation_not_deleted` */
async function restore(
  { db, jobs, eventOutbox }: Dependencies,
  request: RequestOf<Rpcs['adminRestore']>,
  context: RequestContext,
): Promise<ReplyOf<Rpcs['adminRestore']>> {
  const id = requireId(request.conversation_id);
  const restored = await jobs.transaction(async (tx) => {
    const row = await restoreDeleted({ jobs, eventOutbox }, tx, {
      id,
      by: request.operator,
      requestId: context.requestId,
    });
    if (row === undefined) return undefined;
    recordAudit(tx, context, { target: { type: 'conversation', id } });
    return row;
  });
  if (restored !== undefined) return { conversation_id: id, has_booking: restored.has_booking };
  if ((await statements.findState(db, { id })) === undefined) throw notFound();
  throw appError('conflict', 'conversation_not_deleted', `Conversation ${id} is not deleted.`);
}

async function getState({ db }: Dependencies, { id }: RequestOf<Rpcs['getState']>): Promise<ReplyOf<Rpcs['getState']>> {
  const row = await statements.findState(db, { id });
  return { state: row === undefined ? 'gone' : row.is_deleted ? 'deleted' : 'present' };
}

async function listStates(
  { db }: Dependencies,
  { ids }: RequestOf<Rpcs['listStates']>,
): Promise<ReplyOf<Rpcs['listStates']>> {
  return { items: await statements.listStates(db, { ids }) };
}

/** Deletes a conversation. @throws AppError 404, 409 `conversation_deleted` */
async function remove(
  { db, jobs, eventOutbox, clock, config }: Dependencies,
  request: RequestOf<Rpcs['adminDelete']>,
  context: RequestContext,
): Promise<ReplyOf<Rpcs['adminDelete']>> {
  const id = requireId(request.conversation_id);
  const now = clock.now();
  const isDeleted = await jobs.transaction(async (tx) => {
    const by = `operator ${request.operator}`;
    const deleted = await deleteConversation({ jobs, eventOutbox }, tx, {
      id,
      at: formatInstant(now),
      reason: 'operator',
      by,
    });
    if (!deleted) return false;
    await jobs.emit(tx, conversations.events.changed, { id }, { requestId: context.requestId });
    recordAudit(tx, context, { target: { type: 'conversation', id } });
    return true;
  });
  if (isDeleted) return { conversation_id: id, removed_from: formatInstant(now + retentionMicros(config)) };
  if ((await statements.findState(db, { id })) === undefined) throw notFound();
  throw appError('conflict', 'conversation_deleted', `Conversation ${id} is already deleted.`);
}
