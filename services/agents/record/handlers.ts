/**
 * Handlers for stored conversations: operators read them, erase them with all derived data, and export them for a
 * person.
 */
import { requireOpsOperator, requireOpsReader } from '#libs/infrastructure/actor';
import { type AuditContext, type NewAuditEntry, onBehalfOf, recordAudit } from '#libs/infrastructure/audit';
import type { ReplyOf, RequestOf } from '#libs/infrastructure/contract';
import { appError } from '#libs/infrastructure/errors';
import { type Handler, type Handlers, jsonPage, rawJson } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import type { Queryable } from '#libs/infrastructure/sql';
import { getAgent } from '../agent/index.ts';
import type { agents } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { dropSummaries, enqueueAgentMemory, enqueueThreadMemory } from '../memory/index.ts';
import type { MessagingHtml } from '../messaging-html.ts';
import { cleanAgentMessage, dropThoughtsOf, mayContainThoughts } from '../model-text.ts';
import type { recordRpcs } from './contract.ts';
import {
  countMessagesOf,
  countThreadData,
  deleteChatHits,
  deleteThreads,
  deleteTurns,
  listAgents,
  listMessagesOf,
  lockThreads,
  renderMessagePage,
  renderThreadPage,
} from './statements.ts';
import {
  deleteIdleChats,
  eraseReceipts,
  listChatIds,
  lockPrivateChats,
  readTelegramThreadKey,
  telegramSender,
} from '../telegram/index.ts';

const defaultLimit = 100;

export function createRecordHandlers(
  deps: Pick<Dependencies, 'config' | 'db' | 'html' | 'jobs'>,
): Pick<Handlers<typeof agents>, keyof typeof recordRpcs> {
  return { ...createReadHandlers(deps), ...createForgetHandlers(deps), exportPerson: createExportPerson(deps.db) };
}

function createReadHandlers({
  db,
  html,
}: Pick<Dependencies, 'db' | 'html'>): Pick<Handlers<typeof agents>, 'listAgents' | 'getRecord'> {
  return {
    listAgents: async ({ after = '', limit }, { actor }) => {
      requireOpsReader(actor);
      return { items: await listAgents(db, { after: after.replaceAll('\0', ''), limit }) };
    },
    getRecord: async (
      { slug, thread_key: threadKey, thread_id: threadId, after = 0, limit = defaultLimit },
      { actor },
    ) => {
      // Thread keys let their reader write as the visitor (D33a).
      requireOpsOperator(actor);
      const { id } = await getAgent(db, slug);
      const { json } =
        threadKey === undefined && threadId === undefined
          ? await renderThreadPage(db, { agentId: id, after, limit })
          : await renderMessagePage(db, { agentId: id, threadKey, threadId, after, limit });
      return rawJson(mayContainThoughts(json) ? withoutThoughts(json, html) : json);
    },
  };
}

function withoutThoughts(json: string, html: MessagingHtml): string {
  const record = JSON.parse(json) as ReplyOf<typeof agents.rpcs.getRecord>;
  const threads = record.threads.map((thread) => ({
    ...thread,
    messages: thread.messages.map((message) =>
      message.note_type === 'chat_agent' ? cleanAgentMessage(message, html) : message,
    ),
  }));
  return JSON.stringify({ ...record, threads });
}

type ForgetHandlers = Pick<Handlers<typeof agents>, 'forgetThreads' | 'erasePerson'>;

/** Filter of receipts. A null field matches all. */
type Receipts = Parameters<typeof eraseReceipts>[1];

function createForgetHandlers(deps: Pick<Dependencies, 'config' | 'db' | 'jobs'>): ForgetHandlers {
  const { db } = deps;

  async function forgetTarget(
    target: ForgetTarget,
    context: AuditContext,
    entry: NewAuditEntry,
  ): Promise<{ threads: number; messages: number; facts: number }> {
    return await db.transaction(async (tx) => {
      const receipts = await findReceipts(tx, target);
      // Chats are locked first, in the same order as in jobs that process a chat.
      const chats = await lockChats(tx, receipts);
      const { threads, messages, facts, shortenedThreadIds, agentIds } = await forgetThreadsOf(tx, target);
      for (const filter of receipts) await eraseReceipts(tx, filter);
      await deleteIdleChats(tx, { ids: chats });
      for (const threadId of shortenedThreadIds) await enqueueThreadMemory(tx, deps, threadId);
      for (const agentId of agentIds) await enqueueAgentMemory(tx, deps, agentId);
      // A repeated erasure removes nothing and is not recorded. The audit entry does not name the people of the
      // threads.
      const counts = { threads, messages, facts };
      if (threads + messages + facts > 0)
        recordAudit(tx, context, { ...entry, changes: { ...entry.changes, removed: counts } });
      return counts;
    });
  }

  return {
    forgetThreads: async (request, context) => {
      requireOpsOperator(context.actor);
      const { of, ...target } = selectThreads(request);
      const { slug } = request;
      if (slug === undefined) return await forgetTarget(target, context, { changes: { of } });
      const { id } = await getAgent(db, slug);
      const entry = { target: { type: 'agent', id: slug }, changes: { of } };
      return await forgetTarget({ ...target, agentId: id }, context, entry);
    },
    erasePerson: async ({ visitor_ids: visitors, telegram_user_ids: users, dry_run: dryRun, by }, context) => {
      if (dryRun)
        return { counts: { messages: (await countMessagesOf(db, { visitors, users: users.map(String) })).count } };
      const targets = [
        ...visitors.map((visitorId) => ({ of: 'visitor', visitorId })),
        ...users.map((telegramUserId) => ({ of: 'telegram user', telegramUserId })),
      ];
      let messages = 0;
      for (const { of, ...target } of targets)
        messages += (await forgetTarget(target, onBehalfOf(context, by), { changes: { of } })).messages;
      return { counts: { messages } };
    },
  };
}

/** Returns the threads to erase and their kind for the audit log. @throws AppError 400 `ambiguous_selection` */
function selectThreads({
  slug,
  all,
  thread_key: threadKey,
  visitor_id: visitorId,
  telegram_user_id: telegramUserId,
}: RequestOf<typeof recordRpcs.forgetThreads>): ForgetTarget & { readonly of: string } {
  const ofAgent = all !== true ? [] : [{ of: 'agent' }];
  const ofThread = threadKey === undefined ? [] : [{ of: 'thread', threadKey }];
  const ofPerson = [
    ...(visitorId === undefined ? [] : [{ of: 'visitor', visitorId }]),
    ...(telegramUserId === undefined ? [] : [{ of: 'telegram user', telegramUserId }]),
  ];
  const [selected, ...others] = [...ofAgent, ...ofThread, ...ofPerson];
  const isOfAgent = slug === undefined ? ofAgent.length === 0 : ofPerson.length === 0;
  if (selected !== undefined && others.length === 0 && isOfAgent) return selected;
  throw appError(
    'bad_request',
    'ambiguous_selection',
    'Exactly one of `thread_key`, `visitor_id`, `telegram_user_id` and `all` with `slug` is required.',
  );
}

/** Returns filters for the receipts of the conversations to erase. */
async function findReceipts(
  tx: Tx,
  { agentId, threadKey, visitorId, telegramUserId }: ForgetTarget,
): Promise<Receipts[]> {
  if (telegramUserId !== undefined) return [{ agentId: null, chatId: null, senderId: telegramUserId }];
  if (visitorId !== undefined) return [];
  if (threadKey === undefined) return agentId === undefined ? [] : [{ agentId, chatId: null, senderId: null }];
  const chat = readTelegramThreadKey(threadKey);
  if (chat === undefined || (agentId !== undefined && agentId !== chat.agentId)) return [];
  return (await listChatIds(tx, chat)).map(({ chat_id: chatId }) => ({
    agentId: chat.agentId,
    chatId,
    senderId: null,
  }));
}

async function lockChats(tx: Tx, receipts: readonly Receipts[]): Promise<number[]> {
  const ids: number[] = [];
  for (const { agentId, chatId, senderId } of receipts) {
    for (const { id } of await lockPrivateChats(tx, { agentId, userId: chatId ?? senderId })) ids.push(id);
  }
  return ids;
}

/** Selects threads by one of the last three fields; without them, all threads of the agent. */
interface ForgetTarget {
  readonly agentId?: number | undefined;
  readonly threadKey?: string | undefined;
  readonly visitorId?: string | undefined;
  readonly telegramUserId?: number | undefined;
}

interface ForgetResult {
  readonly threads: number;
  readonly messages: number;
  readonly facts: number;
  /** Threads of other people from which turns were deleted. Their memory must be rebuilt. */
  readonly shortenedThreadIds: readonly number[];
  /** Agents whose summary was cleared and must be rebuilt. */
  readonly agentIds: readonly number[];
}

async function forgetThreadsOf(
  tx: Tx,
  { agentId, threadKey, visitorId, telegramUserId }: ForgetTarget,
): Promise<ForgetResult> {
  const sender = telegramUserId === undefined ? null : telegramSender(telegramUserId);
  const userId = telegramUserId === undefined ? null : String(telegramUserId);
  const found = await lockThreads(tx, { agentId, threadKey, visitorId, sender, userId });
  const whole = found.filter((thread) => thread.whole).map(({ id }) => id);
  const shortened = found.filter((thread) => !thread.whole).map(({ id }) => id);
  const agentIds = [...new Set(found.map((thread) => thread.agentId))].toSorted((a, b) => a - b);
  const counts = await deleteWhole(tx, whole);
  const turnCounts = shortened.length === 0 ? noCounts : await deleteTurns(tx, { threadIds: shortened, sender });
  if (agentIds.length > 0) await dropSummaries(tx, { agentIds });
  return {
    threads: whole.length,
    messages: counts.messages + turnCounts.messages,
    facts: counts.facts + turnCounts.facts,
    shortenedThreadIds: shortened,
    agentIds,
  };
}

interface Counts {
  readonly messages: number;
  readonly facts: number;
}
const noCounts: Counts = { messages: 0, facts: 0 };

async function deleteWhole(tx: Tx, threadIds: readonly number[]): Promise<Counts> {
  if (threadIds.length === 0) return noCounts;
  const counts = await countThreadData(tx, { threadIds });
  await deleteChatHits(tx, { threadIds });
  await deleteThreads(tx, { threadIds });
  return counts;
}

const itemsPerPage = 500;

function createExportPerson(db: Queryable): Handler<typeof recordRpcs.exportPerson> {
  return async ({ visitor_ids: visitors, telegram_user_ids: users, account_ids: accounts = [], after }) => {
    const rows = await listMessagesOf(db, { visitors, users: users.map(String), accounts, after, limit: itemsPerPage });
    const next = rows.length < itemsPerPage ? null : (rows.at(-1)?.id ?? null);
    return jsonPage(
      rows.map(({ item }) => (mayContainThoughts(item) ? itemWithoutThoughts(item) : item)),
      next,
    );
  };
}

function itemWithoutThoughts(json: string): string {
  const item = JSON.parse(json) as { readonly note_type: string; readonly body: string };
  return item.note_type === 'chat_agent' ? JSON.stringify({ ...item, body: dropThoughtsOf(item.body) }) : json;
}
