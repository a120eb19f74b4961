/** Threads in the hands of operators (H1 to H5): taken by one at a time, written in, handed back; and what visitors see of it. */
import { createHash } from 'node:crypto';
import { type AuditContext, recordAudit } from '#libs/audit';
import { type Actor, mayActOps, mayReadOps, type RequestOf, type Static } from '#libs/contract';
import { appError, notFound } from '#libs/errors';
import type { Jobs } from '#libs/jobs';
import { toStorableText } from '#libs/json';
import type { CallContext, Handlers } from '#libs/nats';
import type { Database, Tx } from '#libs/orm';
import type { Queryable } from '#libs/sql';
import { isBlank } from '#libs/text';
import { findAgent } from '../agent/index.ts';
import { type Admit, findTakeover, lockThread, visitorKey } from '../chat/index.ts';
import type { agents } from '../contract.ts';
import { enqueueThreadMemory } from '../memory/index.ts';
import type { MessagingHtml } from '../messaging-html.ts';
import { cleanAgentMessage } from '../recorded-answer.ts';
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
import type { ThreadChangeNotifier } from './thread-changes.ts';

type Operations = Pick<
  Handlers<typeof agents>,
  'listThreads' | 'readThread' | 'takeThread' | 'sayInThread' | 'handThreadBack' | 'readChatUpdates'
> &
  Pick<Handlers<typeof agents>, 'adminListThreads' | 'adminReadThread' | 'adminTakeThread' | 'adminSayInThread' | 'adminHandThreadBack'>;

export interface HandoverDependencies {
  readonly db: Database;
  readonly jobs: Jobs<typeof agents>;
  readonly html: MessagingHtml;
  readonly memoryDelayMs: number;
  readonly changes: ThreadChangeNotifier;
  readonly admit: Admit;
}

/** What the operations need of the context of a call. */
type Context = AuditContext & Pick<CallContext, 'requestId' | 'traceparent'> & { readonly actor?: Actor | undefined };

type UpdatesRequest = RequestOf<typeof agents.rpcs.readChatUpdates>;

const updatesPerPage = 100;
/** At most. */
const maxMessagesPerTurn = 2;

export function createHandoverHandlers(deps: HandoverDependencies): Operations {
  const { db } = deps;
  const list: Operations['adminListThreads'] = async ({ agent: slug, channel, taken, before, limit }) => {
    const agent = slug === undefined ? undefined : await findAgent(db, slug);
    if (slug !== undefined && agent === undefined) return { items: [] };
    const rows = await listThreads(db, { agentId: agent?.id, channel, taken, beforeAt: before?.at, beforeId: before?.id, limit });
    return { items: rows.map(toThread) };
  };
  const read: Operations['adminReadThread'] = async ({ thread_id: threadId, before, limit }) => {
    const thread = toThread(await getThread(db, threadId));
    // A question and its answer stay together: a turn that a page would cut is left to the next.
    const asked = Math.max(limit, maxMessagesPerTurn);
    const rows = await listMessages(db, { threadId, before, limit: asked + 1 });
    const hasMore = rows.length > asked;
    const shown = hasMore ? rows.filter(({ turn }) => turn !== rows.at(-1)?.turn) : rows;
    return {
      thread,
      messages: shown.toReversed().map((row) => toMessage(row.noteType === 'chat_agent' ? cleanAgentMessage(row, deps.html) : row)),
      before: hasMore ? (shown.at(-1)?.turn ?? null) : null,
    };
  };
  const take = (threadId: number, context: Context) => takeOver(deps, threadId, context);
  const write = (words: NewOperatorMessage, context: Context) => writeInThread(deps, words, context);
  const back = (threadId: number, context: Context) => handBack(deps, threadId, context);
  return {
    listThreads: (request, context) => (mayRead(context), list(request, context)),
    readThread: (request, context) => (mayRead(context), read(request, context)),
    takeThread: async (request, context) => (mayAct(context), await take(request.thread_id, context)),
    sayInThread: async (request, context) => (mayAct(context), await write(request, context)),
    handThreadBack: async (request, context) => (mayAct(context), await back(request.thread_id, context)),
    adminListThreads: list,
    adminReadThread: read,
    adminTakeThread: (request, context) => take(request.thread_id, context),
    adminSayInThread: write,
    adminHandThreadBack: (request, context) => back(request.thread_id, context),
    readChatUpdates: (request) => readUpdates(deps, request),
  };
}

async function readUpdates({ db, changes, admit }: HandoverDependencies, request: UpdatesRequest): Promise<Static<typeof ChatUpdates>> {
  const { agent_slug: agentSlug, visitor_id: visitorId, after, wait = 0, waits_for: knownState, ip } = request;
  // No slug or id has U+0000, which PostgreSQL would not take.
  const ofVisitor = { visitorId: visitorId.includes('\0') ? '' : visitorId, after, limit: updatesPerPage };
  const look = async () => (agentSlug.includes('\0') ? [] : await listUpdates(db, { agentSlug, ...ofVisitor }));
  const [thread] = await look();
  if (thread === undefined) throw notFound();
  const { agentId, threadId } = thread;
  if (ip !== undefined) {
    await admit('visitor', `updates:${visitorKey(agentId, threadId === null ? '' : visitorId, ip)}`);
    await admit('address', `updates:address:${ip}`);
  }
  const toReply = (rows: Awaited<ReturnType<typeof look>>): Static<typeof ChatUpdates> => {
    const messages = rows.flatMap(({ html, createdAt }) =>
      html === null || createdAt === null ? [] : [{ operator_html: html, created_at: createdAt.replace(/Z$/, '+00:00') }],
    );
    return { waits_for: rows[0]?.taken === true ? 'person' : null, messages, next: rows.at(-1)?.turn ?? after };
  };
  const isNews = ({ messages, waits_for: state }: Static<typeof ChatUpdates>): boolean =>
    messages.length > 0 || (knownState !== undefined && state !== knownState);
  const waitMs = threadId === null ? 0 : wait * 1_000;
  return await changes.waitFor(threadId ?? 0, waitMs, async () => toReply(await look()), isNews);
}

function mayRead({ actor }: Context): void {
  if (!mayReadOps(actor)) throw appError('permission_denied', 'not_an_operator', 'You may not see operations.');
}

function mayAct({ actor }: Context): void {
  if (!mayActOps(actor)) throw appError('permission_denied', 'not_an_operator', 'You may not act on operations.');
}

/** Null = whoever uses the admin CLI. */
const accountOf = ({ actor }: Context): number | null => (actor?.kind === 'user' ? actor.accountId : null);

async function getThread(db: Queryable, threadId: number): Promise<ThreadRow> {
  const thread = await findThread(db, { threadId });
  if (thread === undefined) throw appError('not_found', 'thread_not_found', 'There is no such thread.');
  return thread;
}

/** The thread's row is held until the end of the transaction: nobody takes it, writes in it or answers in it meanwhile. */
async function lockAndGetThread(tx: Tx, threadId: number): Promise<ThreadRow> {
  await lockThread(tx, { threadId });
  return await getThread(tx, threadId);
}

function requireFreeOrOwn({ isTaken, accountId, takenAt }: ThreadRow, context: Context): void {
  if (isTaken && accountId !== accountOf(context)) {
    const details = { taken_by: { account_id: accountId, since: takenAt } };
    throw appError('conflict', 'thread_taken', 'Somebody else has the thread.', details);
  }
}

async function takeOver({ db, changes }: HandoverDependencies, threadId: number, context: Context): Promise<{ thread: Thread }> {
  return await db.transaction(async (tx) => {
    const row = await lockAndGetThread(tx, threadId);
    requireFreeOrOwn(row, context);
    if (row.isTaken) return { thread: toThread(row) };
    await insertTakeover(tx, { threadId, accountId: accountOf(context) });
    tx.afterCommit(() => changes.publish(threadId));
    recordAudit(tx, context, { target: { type: 'thread', id: threadId }, changes: { agent: row.agent } });
    return { thread: toThread(await getThread(tx, threadId)) };
  });
}

interface NewOperatorMessage {
  readonly thread_id: number;
  readonly body: string;
  readonly idempotency_key?: string | null | undefined;
}

/** Recorded and, in Telegram, on its way: both happen or neither. */
async function writeInThread(
  { jobs, html: writer, memoryDelayMs, changes }: HandoverDependencies,
  { thread_id: threadId, body: given, idempotency_key: name = null }: NewOperatorMessage,
  context: Context,
): Promise<{ message: Message }> {
  const body = toStorableText(given);
  if (isBlank(body)) throw appError('bad_request', 'empty_message', 'The message must not be blank.');
  const accountId = accountOf(context);
  const turnKey = name === null ? null : turnKeyOf(threadId, accountId, name, body);
  return await jobs.transaction(async (tx) => {
    const row = await lockAndGetThread(tx, threadId);
    const repeated = turnKey === null ? undefined : await findOperatorMessageByKey(tx, { threadId, turnKey });
    if (repeated !== undefined) return { message: await getMessage(tx, threadId, repeated.turn) };
    requireFreeOrOwn(row, context);
    if (!row.isTaken) throw appError('conflict', 'thread_not_taken', 'The agent has the thread; take it over first.');
    const html = writer.render(body);
    const { id: messageId, turn } = await recordOperatorMessage(tx, { threadId, body, html, accountId, turnKey });
    if (row.channel === 'telegram') await enqueueOperatorMessage(tx, jobs, { messageId, threadKey: row.threadKey, html }, context);
    tx.afterCommit(() => changes.publish(threadId));
    await enqueueThreadMemory(tx, jobs, threadId, memoryDelayMs);
    recordAudit(tx, context, { target: { type: 'thread', id: threadId }, changes: { agent: row.agent, turn } });
    return { message: await getMessage(tx, threadId, turn) };
  });
}

async function handBack({ db, changes }: HandoverDependencies, threadId: number, context: Context): Promise<{ thread: Thread }> {
  return await db.transaction(async (tx) => {
    const row = await lockAndGetThread(tx, threadId);
    const holder = await findTakeover(tx, { threadId });
    if ((await endTakeover(tx, { threadId })) === undefined) return { thread: toThread(row) };
    tx.afterCommit(() => changes.publish(threadId));
    const facts = { agent: row.agent, taken_by: holder?.accountId ?? null };
    recordAudit(tx, context, { target: { type: 'thread', id: threadId }, changes: facts });
    return { thread: toThread(await getThread(tx, threadId)) };
  });
}

async function getMessage(db: Queryable, threadId: number, turn: number): Promise<Message> {
  const row = await findMessage(db, { threadId, turn });
  if (row === undefined) throw new Error('what was just written is not there');
  return toMessage(row);
}

/** Names a message within all turns: other words, or another account, are another message. */
function turnKeyOf(threadId: number, accountId: number | null, name: string, body: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([threadId, accountId, name, body]))
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
