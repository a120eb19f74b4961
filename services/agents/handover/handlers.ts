/**
 * Takeovers (H1 to H5): operators take over threads, write in them and return them to the agent; visitors poll the
 * operators' messages.
 */
import { createHash } from 'node:crypto';
import { type AuditContext, recordAudit } from '#libs/infrastructure/audit';
import type { Actor, RequestOf, Static } from '#libs/infrastructure/contract';
import { appError, notFound } from '#libs/infrastructure/errors';
import { toStorableText } from '#libs/infrastructure/json';
import type { CallContext, Handlers } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import type { Queryable } from '#libs/infrastructure/sql';
import { isBlank } from '#libs/infrastructure/text';
import { findAgentOfThreads } from '../agent/index.ts';
import { findTakeover, lockThread, visitorKey } from '../chat/index.ts';
import type { agents } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { enqueueThreadMemory } from '../memory/index.ts';
import { cleanAgentMessage } from '../model-text.ts';
import { requireThreadOperator, requireThreadReader } from '../operators.ts';
import { enqueueOperatorMessage } from '../telegram/index.ts';
import type { ChatUpdates, Message, Thread } from './contract.ts';
import {
  endTakeover,
  findMessage,
  findThread,
  findOperatorMessageByKey,
  listMessages,
  listThreads,
  listUpdates,
  type MessageRow,
  recordOperatorMessage,
  insertTakeover,
  type ThreadRow,
} from './statements.ts';

type Operations = Pick<
  Handlers<typeof agents>,
  'listThreads' | 'readThread' | 'takeThread' | 'sayInThread' | 'handThreadBack' | 'readChatUpdates'
>;

type HandoverDependencies = Pick<Dependencies, 'admit' | 'config' | 'db' | 'html' | 'jobs' | 'threadChanges'>;

/** Fields of the call context that these handlers need. */
type Context = AuditContext & Pick<CallContext, 'requestId' | 'traceparent'> & { readonly actor?: Actor | undefined };

type UpdatesRequest = RequestOf<typeof agents.rpcs.readChatUpdates>;

const updatesPerPage = 100;
const maxMessagesPerTurn = 2;

export function createHandoverHandlers(deps: HandoverDependencies): Operations {
  const { db } = deps;
  const list = async ({ agent: slug, channel, taken, before, limit }: RequestOf<typeof agents.rpcs.listThreads>) => {
    const agent = slug === undefined ? undefined : await findAgentOfThreads(db, slug);
    if (slug !== undefined && agent === undefined) return { items: [] };
    const rows = await listThreads(db, {
      agentId: agent?.id,
      channel,
      taken,
      beforeAt: before?.at,
      beforeId: before?.id,
      limit,
    });
    return { items: rows.map(toThread) };
  };
  const read = async ({ thread_id: threadId, before, limit }: RequestOf<typeof agents.rpcs.readThread>) => {
    const thread = toThread(await getThread(db, threadId));
    // The page has at least the size of one turn, since a turn is not split across pages.
    const pageSize = Math.max(limit, maxMessagesPerTurn);
    const rows = await listMessages(db, { threadId, before, limit: pageSize + 1 });
    const hasMore = rows.length > pageSize;
    const visibleRows = hasMore ? rows.filter(({ turn }) => turn !== rows.at(-1)?.turn) : rows;
    return {
      thread,
      messages: visibleRows
        .toReversed()
        .map((row) => toMessage(row.noteType === 'chat_agent' ? cleanAgentMessage(row, deps.html) : row)),
      before: hasMore ? (visibleRows.at(-1)?.turn ?? null) : null,
    };
  };
  return {
    listThreads: (request, context) => (requireThreadReader(context.actor), list(request)),
    readThread: (request, context) => (requireThreadReader(context.actor), read(request)),
    takeThread: async (request, context) => (
      requireThreadOperator(context.actor),
      await takeOver(deps, request.thread_id, context)
    ),
    sayInThread: async (request, context) => (
      requireThreadOperator(context.actor),
      await writeInThread(deps, request, context)
    ),
    handThreadBack: async (request, context) => (
      requireThreadOperator(context.actor),
      await handBack(deps, request.thread_id, context)
    ),
    readChatUpdates: (request) => readUpdates(deps, request),
  };
}

async function readUpdates(
  { db, threadChanges, admit }: HandoverDependencies,
  request: UpdatesRequest,
): Promise<Static<typeof ChatUpdates>> {
  const { agent_slug: agentSlug, visitor_id: visitorId, after, wait = 0, waits_for: knownState, ip } = request;
  // PostgreSQL rejects U+0000. No stored id contains it, so such an id matches no visitor.
  const ofVisitor = { visitorId: visitorId.includes('\0') ? '' : visitorId, after, limit: updatesPerPage };
  const query = async () => (agentSlug.includes('\0') ? [] : await listUpdates(db, { agentSlug, ...ofVisitor }));
  const [thread] = await query();
  if (thread === undefined) throw notFound();
  const { agentId, threadId } = thread;
  if (ip !== undefined) {
    await admit('visitor', `updates:${visitorKey(agentId, threadId === null ? '' : visitorId, ip)}`);
    await admit('address', `updates:address:${ip}`);
  }
  const toReply = (rows: Awaited<ReturnType<typeof query>>): Static<typeof ChatUpdates> => {
    const messages = rows.flatMap(({ html, createdAt }) =>
      html === null || createdAt === null
        ? []
        : [{ operator_html: html, created_at: createdAt.replace(/Z$/, '+00:00') }],
    );
    return { waits_for: rows[0]?.taken === true ? 'person' : null, messages, next: rows.at(-1)?.turn ?? after };
  };
  const hasChanges = ({ messages, waits_for: state }: Static<typeof ChatUpdates>): boolean =>
    messages.length > 0 || (knownState !== undefined && state !== knownState);
  const waitMs = threadId === null ? 0 : wait * 1_000;
  return await threadChanges.waitFor(threadId ?? 0, waitMs, async () => toReply(await query()), hasChanges);
}

/** Returns the operator's account; null = admin CLI. */
const accountOf = ({ actor }: Context): number | null => (actor?.kind === 'user' ? actor.accountId : null);

async function getThread(db: Queryable, threadId: number): Promise<ThreadRow> {
  const thread = await findThread(db, { threadId });
  if (thread === undefined) throw appError('not_found', 'thread_not_found', 'The thread does not exist.');
  return thread;
}

/** Locks the thread's row until the end of the transaction, so that takeovers, messages and recorded turns wait. */
async function lockAndGetThread(tx: Tx, threadId: number): Promise<ThreadRow> {
  await lockThread(tx, { threadId });
  return await getThread(tx, threadId);
}

function requireFreeOrOwn({ isTaken, accountId, takenAt }: ThreadRow, context: Context): void {
  if (isTaken && accountId !== accountOf(context)) {
    const details = { taken_by: { account_id: accountId, since: takenAt } };
    throw appError('conflict', 'thread_taken', 'Another operator has taken the thread.', details);
  }
}

async function takeOver(
  { db, threadChanges }: HandoverDependencies,
  threadId: number,
  context: Context,
): Promise<{ thread: Thread }> {
  return await db.transaction(async (tx) => {
    const row = await lockAndGetThread(tx, threadId);
    requireFreeOrOwn(row, context);
    if (row.isTaken) return { thread: toThread(row) };
    await insertTakeover(tx, { threadId, accountId: accountOf(context) });
    tx.afterCommit(() => threadChanges.publish(threadId));
    recordAudit(tx, context, { target: { type: 'thread', id: threadId }, changes: { agent: row.agent } });
    return { thread: toThread(await getThread(tx, threadId)) };
  });
}

interface NewOperatorMessage {
  readonly thread_id: number;
  readonly body: string;
  readonly idempotency_key?: string | null | undefined;
}

/** Records an operator's message and, in a Telegram thread, enqueues it in the same transaction. */
async function writeInThread(
  deps: HandoverDependencies,
  { thread_id: threadId, body: rawBody, idempotency_key: idempotencyKey = null }: NewOperatorMessage,
  context: Context,
): Promise<{ message: Message }> {
  const body = toStorableText(rawBody);
  if (isBlank(body)) throw appError('bad_request', 'empty_message', '`body` must not be blank.');
  const accountId = accountOf(context);
  const turnKey = idempotencyKey === null ? null : turnKeyOf(threadId, accountId, idempotencyKey, body);
  const { jobs, threadChanges } = deps;
  return await jobs.transaction(async (tx) => {
    const row = await lockAndGetThread(tx, threadId);
    const repeated = turnKey === null ? undefined : await findOperatorMessageByKey(tx, { threadId, turnKey });
    if (repeated !== undefined) return { message: await getMessage(tx, threadId, repeated.turn) };
    requireFreeOrOwn(row, context);
    if (!row.isTaken)
      throw appError('conflict', 'thread_not_taken', 'The agent answers this thread. Take it over first.');
    const html = deps.html.render(body);
    const { id: messageId, turn } = await recordOperatorMessage(tx, { threadId, body, html, accountId, turnKey });
    if (row.channel === 'telegram')
      await enqueueOperatorMessage(tx, jobs, { messageId, threadKey: row.threadKey, html }, context);
    tx.afterCommit(() => threadChanges.publish(threadId));
    await enqueueThreadMemory(tx, deps, threadId);
    recordAudit(tx, context, { target: { type: 'thread', id: threadId }, changes: { agent: row.agent, turn } });
    return { message: await getMessage(tx, threadId, turn) };
  });
}

async function handBack(
  { db, threadChanges }: HandoverDependencies,
  threadId: number,
  context: Context,
): Promise<{ thread: Thread }> {
  return await db.transaction(async (tx) => {
    const row = await lockAndGetThread(tx, threadId);
    const holder = await findTakeover(tx, { threadId });
    if ((await endTakeover(tx, { threadId })) === undefined) return { thread: toThread(row) };
    tx.afterCommit(() => threadChanges.publish(threadId));
    const facts = { agent: row.agent, taken_by: holder?.accountId ?? null };
    recordAudit(tx, context, { target: { type: 'thread', id: threadId }, changes: facts });
    return { thread: toThread(await getThread(tx, threadId)) };
  });
}

async function getMessage(db: Queryable, threadId: number, turn: number): Promise<Message> {
  const row = await findMessage(db, { threadId, turn });
  if (row === undefined) throw new Error('the recorded message was not found');
  return toMessage(row);
}

/**
 * Returns the turn key of an operator's message. It covers thread, account and text, so that a key reused for another
 * message is not a repetition.
 */
function turnKeyOf(threadId: number, accountId: number | null, idempotencyKey: string, body: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([threadId, accountId, idempotencyKey, body]))
    .digest('base64url');
  return `operator:${digest}`;
}

function toThread(row: ThreadRow): Thread {
  const { id, agent, channel, turns, waiting, createdAt, updatedAt, isTaken, accountId, takenAt } = row;
  const holder = isTaken ? { account_id: accountId, since: takenAt ?? updatedAt } : null;
  return { id, agent, channel, turns, waiting, created_at: createdAt, updated_at: updatedAt, taken_by: holder };
}

const authorOf = { chat_visitor: 'visitor', chat_agent: 'agent', chat_operator: 'operator' } as const;

function toMessage({ turn, noteType, body, html, createdAt, accountId, delivery }: MessageRow): Message {
  return { turn, author: authorOf[noteType], account_id: accountId, body, html, created_at: createdAt, delivery };
}
