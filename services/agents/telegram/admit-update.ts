/** The way of an update: into the queue of its chat, to the echo, or nowhere. Taken when it arrives and when an operator replays it. */
import type { Jobs } from '#libs/jobs';
import type { CallContext } from '#libs/nats';
import type { Tx } from '#libs/orm';
import type { MessagingAgent } from '../agent/index.ts';
import { agents } from '../contract.ts';
import type { Update } from './rules/update.ts';
import { findChatJob, openChat, setChatJob } from './statements/chats.ts';
import { findNextReceipt, type NewReceipt } from './statements/receipts.ts';
import { findNextOperatorSend } from './statements/words.ts';

/** What asked for it. */
export type Origin = Pick<CallContext, 'requestId' | 'traceparent'>;

/** What a receipt says of its update, and what becomes of it first. */
export interface UpdateFacts extends Pick<NewReceipt, 'updateId' | 'kind' | 'chatId' | 'senderId' | 'outcome'> {
  readonly chat?: number;
  readonly message?: string;
}

export interface Admission {
  readonly agent: MessagingAgent;
  readonly update: Update;
  readonly origin: Origin;
  /** Writes the receipt with what is known now. */
  readonly store: (facts: UpdateFacts) => Promise<{ id: number; is_new: boolean }>;
  /** Sees that a job works the chat; default `startChat`. @returns the job */
  readonly start?: (chat: number) => Promise<string | undefined>;
}

/** Puts an update on its way: into the queue of its chat, to the echo, or nowhere. @returns the job that works it */
export async function admitUpdate(
  tx: Tx,
  jobs: Jobs<typeof agents>,
  { agent, update, origin, store, start = (chat) => startChat(tx, jobs, chat, origin) }: Admission,
): Promise<string | undefined> {
  const { updateId, field: kind, chatId, senderId, places, content } = update;
  const facts = { updateId, kind, chatId, senderId };
  if (content.kind !== 'other') {
    const { id: chat } = await openChat(tx, { agentId: agent.id, chatId: content.chatId });
    await store({ ...facts, chat, outcome: 'pending' });
    return await start(chat);
  }
  if (agent.echo_channel === null || agent.bot_token === null) {
    await store({ ...facts, outcome: 'ignored', message: 'Nothing to answer, and the agent has no echo channel.' });
    return undefined;
  }
  // Else echoes would be echoed without end: to two bots that share the channel, and to one in the channel's discussion group.
  if (places.includes(agent.echo_channel.toLowerCase())) {
    await store({ ...facts, outcome: 'ignored', message: 'Nothing to answer, and it comes from the echo channel.' });
    return undefined;
  }
  const { id, is_new: isNew } = await store({ ...facts, outcome: 'pending' });
  return isNew ? await jobs.enqueue(tx, agents.jobs.echoUpdate, { receipt_id: id, what: 'raw' }, origin) : undefined;
}

/** Sees that a job works the chat while updates or words of operators wait; the chat must be locked. @returns the job when it was made now */
export async function startChat(tx: Tx, jobs: Jobs<typeof agents>, chat: number, origin: Origin): Promise<string | undefined> {
  if ((await findChatJob(tx, { chat })) !== undefined) return undefined;
  if ((await findNextReceipt(tx, { chat })) === undefined && (await findNextOperatorSend(tx, { chat })) === undefined) return undefined;
  const jobId = await jobs.enqueue(tx, agents.jobs.workChat, { chat_id: chat }, origin);
  await setChatJob(tx, { chat, jobId });
  return jobId;
}

/** One answer per agent and update (D32). */
export function updateKey(agentId: number, updateId: number): string {
  return `update:${agentId}:${updateId}`;
}
