/** From the stream of webhooks to receipts: stored once per update, judged by bytes and secret, worked by a job (D20, D31, D33d). */
import { createHash } from 'node:crypto';
import type { Static } from '#libs/contract';
import type { Jobs } from '#libs/jobs';
import type { Logger } from '#libs/logger';
import type { Bus, RunningConsumer } from '#libs/nats';
import type { Database } from '#libs/orm';
import {
  createRefusalReceipts,
  selectStoredBody,
  selectStoredHeaders,
  type ReceivedWebhook,
  type RefusalReceipts,
  startReceiptIntake,
} from '#libs/webhooks';
import { findMessagingAgent } from '../../agent/index.ts';
import { agents, TelegramWebhook } from '../../contract.ts';
import { type Admission, admitUpdate, updateKey } from '../admit-update.ts';
import { type ChatSequencer, createChatSequencer } from '../chat-turns.ts';
import { verifyUpdate, encodeSecretDigest, readUpdate } from '../rules/update.ts';
import { setLockTimeout } from '../statements/chats.ts';
import { insertReceipt } from '../statements/receipts.ts';

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
/** Of a webhook that was not read. */
const noUpdateFields = {
  updateId: undefined,
  kind: undefined,
  chatId: undefined,
  senderId: undefined,
  chat: undefined,
  secretDigest: undefined,
};

export function startUpdateIntake(dependencies: IntakeDependencies): Promise<RunningConsumer> {
  const { bus, logger } = dependencies;
  const deps = { ...dependencies, turns: createChatSequencer() };
  const from = { consumer: agents.consumers.updates, facts: TelegramWebhook, ackWaitMs };
  const refusals = createRefusalReceipts({ db: deps.db, source: 'telegram' });
  return startReceiptIntake({ bus, logger, ...from, store: (webhook, received) => storeUpdate(deps, refusals, webhook, received) });
}

async function storeUpdate(
  { db, jobs, allowUnsigned, turns }: IntakeDependencies & { readonly turns: ChatSequencer },
  refusals: RefusalReceipts,
  webhook: Static<typeof TelegramWebhook>,
  received: ReceivedWebhook,
): Promise<void> {
  const { body, streamSequence, traceparent } = received;
  const agent = await findMessagingAgent(db, { slug: webhook.slug });
  // With a mark in the place of what cannot be stored: a replay looks for the agent by it.
  const agentSlug = webhook.slug.replaceAll('\0', '\ufffd').slice(0, 200).toWellFormed();
  const base = { deliveryId: webhook.id, receivedAt: webhook.received_at, streamSequence, agentSlug, agentId: agent?.id };
  const given = { deliveryId: webhook.id, digest: webhook.secret_digest };
  const headersOf = (outcome: string): string => JSON.stringify(selectStoredHeaders(outcome, webhook.headers));
  const reject = async (outcome: string, message: string): Promise<void> => {
    const dedupeKey = dedupeDigest(outcome, agentSlug, body ?? webhook.id);
    const kept = await refusals.createReceipt({ outcome, message, receivedAt: webhook.received_at, dedupeKey, body });
    if (kept === undefined) return;
    const unjudged = agent === undefined ? { ...readUnverifiedIds(kept.body), secretDigest: encodeSecretDigest(given) } : {};
    await jobs.transaction((tx) => insertReceipt(tx, { ...base, ...noUpdateFields, ...unjudged, headers: headersOf(outcome), ...kept }));
  };
  if (agent === undefined)
    return await reject(body === null ? 'rejected_too_large' : 'agent_not_found', 'No agent has the slug of the path.');
  const verdict = verifyUpdate(body, given, { secret: agent.webhook_secret ?? undefined, allowUnsigned });
  if (verdict.kind === 'rejected') return await reject(verdict.outcome, verdict.message);
  const { update } = verdict;
  const receipt = { ...base, dedupeKey: updateKey(agent.id, update.updateId) };
  const origin = { requestId: webhook.id, traceparent };
  const admit = (): Promise<unknown> =>
    jobs.transaction((tx) => {
      const store: Admission['store'] = (more) =>
        insertReceipt(tx, {
          ...receipt,
          ...selectStoredBody(more.outcome, body),
          headers: headersOf(more.outcome),
          chat: undefined,
          message: undefined,
          secretDigest: undefined,
          ...more,
        });
      return tx.pipeline(
        () => setLockTimeout(tx),
        () => admitUpdate(tx, jobs, { agent, update, origin, store }),
      );
    });
  const { content } = update;
  await (content.kind === 'other' ? admit() : turns.run(`${agent.id}/${content.chatId}`, admit));
}

/** Of an update that is kept until its agent is there: whose it says to be, so that it goes when they are forgotten. */
function readUnverifiedIds(body: Buffer | null): Partial<Record<'chatId' | 'senderId', number | undefined>> {
  const update = body === null ? undefined : readUpdate(body);
  return update === undefined ? {} : { chatId: update.chatId, senderId: update.senderId };
}

function dedupeDigest(outcome: string, slug: string, body: Buffer | string): string {
  return createHash('sha256').update(`${outcome}\n${slug}\n`).update(body).digest('hex');
}
