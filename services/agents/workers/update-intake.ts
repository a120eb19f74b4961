/** From the stream of webhooks to receipts: stored once per update, judged by bytes and secret, worked by a job (D20, D31, D33d). */
import { createHash } from 'node:crypto';
import type { Static } from '#libs/contract';
import type { Jobs } from '#libs/jobs';
import { toStorableText } from '#libs/json';
import type { Logger } from '#libs/logger';
import type { Bus, CallContext, RunningConsumer } from '#libs/nats';
import type { Database, Tx } from '#libs/orm';
import { createRefusals, keepBody, type ReceivedWebhook, type Refusals, startReceiptIntake } from '#libs/webhooks';
import { agents, TelegramWebhook } from '../contract.ts';
import { judgeUpdate, type Update } from '../domain/telegram-update.ts';
import { findMessagingAgent, type MessagingAgent } from '../repositories/agents.ts';
import { findNextReceipt, insertReceipt, type NewReceipt } from '../repositories/receipts.ts';
import { hasJob, openChat, setChatJob } from '../repositories/telegram-chats.ts';

export interface IntakeDependencies {
  readonly db: Database;
  readonly bus: Bus;
  readonly jobs: Jobs<typeof agents>;
  readonly logger: Logger;
  /** Whether agents without a webhook secret believe anybody (D64). */
  readonly allowUnsigned: boolean;
}

/** Storing takes milliseconds; what a dead process held must not keep the others waiting for long. */
const ackWaitMs = 5_000;

export function startUpdateIntake(deps: IntakeDependencies): Promise<RunningConsumer> {
  const { bus, logger } = deps;
  const from = { consumer: agents.consumers.updates, facts: TelegramWebhook, ackWaitMs };
  const refusals = createRefusals({ db: deps.db, schema: 'agents', source: 'telegram' });
  return startReceiptIntake({ bus, logger, ...from, store: (webhook, received) => storeUpdate(deps, refusals, webhook, received) });
}

async function storeUpdate(
  { db, jobs, allowUnsigned }: IntakeDependencies,
  refusals: Refusals,
  webhook: Static<typeof TelegramWebhook>,
  received: ReceivedWebhook,
): Promise<void> {
  const { body, streamSequence, traceparent } = received;
  const agent = await findMessagingAgent(db, { slug: webhook.slug });
  const agentSlug = toStorableText(webhook.slug).slice(0, 200);
  const base = { deliveryId: webhook.id, receivedAt: webhook.received_at, streamSequence, agentSlug, agentId: agent?.id };
  const reject = async (outcome: string, message: string): Promise<void> => {
    const dedupeKey = digest(outcome, agentSlug, body ?? webhook.id);
    const kept = await refusals.place({ outcome, message, receivedAt: webhook.received_at, dedupeKey, body });
    if (kept !== undefined) await jobs.transaction((tx) => insertReceipt(tx, { ...base, ...kept }));
  };
  if (agent === undefined)
    return await reject(body === null ? 'rejected_too_large' : 'agent_not_found', 'No agent has the slug of the path.');
  const given = { deliveryId: webhook.id, digest: webhook.secret_digest };
  const verdict = judgeUpdate(body, given, { secret: agent.webhook_secret ?? undefined, allowUnsigned });
  if (verdict.kind === 'rejected') return await reject(verdict.outcome, verdict.message);
  const { update } = verdict;
  const receipt = { ...base, dedupeKey: updateKey(agent.id, update.updateId) };
  const origin = { requestId: webhook.id, traceparent };
  await jobs.transaction((tx) => {
    const store: Admission['store'] = (more) => insertReceipt(tx, { ...receipt, ...keepBody(more.outcome, body), ...more });
    return admitUpdate(tx, jobs, { agent, update, origin, store });
  });
}

/** What asked for it. */
type Origin = Pick<CallContext, 'requestId' | 'traceparent'>;

export interface Admission {
  readonly agent: MessagingAgent;
  readonly update: Update;
  readonly origin: Origin;
  /** Writes the receipt with what is known now. */
  readonly store: (
    facts: Pick<NewReceipt, 'updateId' | 'kind' | 'chatId' | 'senderId' | 'chat' | 'message'> & { outcome: string },
  ) => Promise<{ id: number; is_new: boolean }>;
}

/** Puts an update on its way: into the queue of its chat, to the echo, or nowhere. @returns the job that works it */
export async function admitUpdate(
  tx: Tx,
  jobs: Jobs<typeof agents>,
  { agent, update, origin, store }: Admission,
): Promise<string | undefined> {
  const { updateId, field: kind, chatId, senderId, content } = update;
  const facts = { updateId, kind, chatId, senderId };
  if (content.kind !== 'other') {
    const chat = await openChat(tx, agent.id, content.chatId);
    await store({ ...facts, chat, outcome: 'pending' });
    return await startChat(tx, jobs, chat, origin);
  }
  if (agent.echo_channel === null || agent.bot_token === null) {
    await store({ ...facts, outcome: 'ignored', message: 'Nothing to answer, and the agent has no echo channel.' });
    return undefined;
  }
  const { id, is_new: isNew } = await store({ ...facts, outcome: 'pending' });
  return isNew ? await jobs.enqueue(tx, agents.jobs.echoUpdate, { receipt_id: id, what: 'raw' }, origin) : undefined;
}

/** Sees that a job works the chat while updates wait; the chat must be locked. @returns the job when it was made now */
export async function startChat(tx: Tx, jobs: Jobs<typeof agents>, chat: number, origin: Origin): Promise<string | undefined> {
  if (await hasJob(tx, chat)) return undefined;
  if ((await findNextReceipt(tx, chat)) === undefined) return undefined;
  const jobId = await jobs.enqueue(tx, agents.jobs.workChat, { chat_id: chat }, origin);
  await setChatJob(tx, chat, jobId);
  return jobId;
}

/** One answer per agent and update (D32). */
export function updateKey(agentId: number, updateId: number): string {
  return `update:${agentId}:${updateId}`;
}

function digest(outcome: string, slug: string, body: Buffer | string): string {
  return createHash('sha256').update(`${outcome}\n${slug}\n`).update(body).digest('hex');
}
