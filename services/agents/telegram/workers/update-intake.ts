/**
 * Stores updates from the webhook stream: verifies the secret, writes one receipt per update and queues a job (D20,
 * D31, D33d).
 */
import { createHash } from 'node:crypto';
import type { Static } from '#libs/infrastructure/contract';
import type { RunningConsumer } from '#libs/infrastructure/nats';
import { sqlStateOf } from '#libs/infrastructure/orm';
import {
  createRefusalReceipts,
  selectStoredBody,
  selectStoredHeaders,
  type ReceivedWebhook,
  type RefusalReceipts,
  startReceiptIntake,
} from '#libs/product/webhooks';
import { findMessagingAgent } from '../../agent/index.ts';
import { agents, TelegramWebhook } from '../../contract.ts';
import type { Dependencies } from '../../dependencies.ts';
import { type Admission, admitUpdate, updateKey } from '../chat-queue.ts';
import { encodeSecretDigest, readUpdate, verifyUpdate } from '../rules/update.ts';
import { setLockTimeout } from '../statements/chats.ts';
import { insertReceipt } from '../statements/receipts.ts';

type IntakeDependencies = Pick<Dependencies, 'bus' | 'config' | 'db' | 'jobs' | 'logger'>;

/** Storing an update takes milliseconds, so messages of a crashed process can be redelivered soon. */
const ackWaitMs = 5_000;
/** Update fields of receipts of rejected webhooks. */
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
  const deps = { ...dependencies, sequencer: createChatSequencer() };
  const from = { consumer: agents.consumers.updates, facts: TelegramWebhook, ackWaitMs };
  const refusals = createRefusalReceipts({ db: deps.db, source: 'telegram' });
  return startReceiptIntake({
    bus,
    logger,
    ...from,
    store: (webhook, received) => storeUpdate(deps, refusals, webhook, received),
  });
}

async function storeUpdate(
  { config, db, jobs, sequencer }: IntakeDependencies & { readonly sequencer: ChatSequencer },
  refusals: RefusalReceipts,
  webhook: Static<typeof TelegramWebhook>,
  received: ReceivedWebhook,
): Promise<void> {
  const { body, streamSequence, traceparent } = received;
  const agent = await findMessagingAgent(db, { slug: webhook.slug });
  // Replaces characters that cannot be stored; a replay finds the agent by this slug.
  const agentSlug = webhook.slug.replaceAll('\0', '\ufffd').slice(0, 200).toWellFormed();
  const base = {
    deliveryId: webhook.id,
    receivedAt: webhook.received_at,
    streamSequence,
    agentSlug,
    agentId: agent?.id,
  };
  const receivedDigest = { deliveryId: webhook.id, digest: webhook.secret_digest };
  const headersOf = (outcome: string): string => JSON.stringify(selectStoredHeaders(outcome, webhook.headers));
  const reject = async (outcome: string, message: string): Promise<void> => {
    const dedupeKey = dedupeDigest(outcome, agentSlug, body ?? webhook.id);
    const receiptFields = await refusals.createReceipt({
      outcome,
      message,
      receivedAt: webhook.received_at,
      dedupeKey,
      body,
    });
    if (receiptFields === undefined) return;
    const unverified =
      agent === undefined
        ? { ...readUnverifiedIds(receiptFields.body), secretDigest: encodeSecretDigest(receivedDigest) }
        : {};
    await jobs.transaction((tx) =>
      insertReceipt(tx, { ...base, ...noUpdateFields, ...unverified, headers: headersOf(outcome), ...receiptFields }),
    );
  };
  if (agent === undefined)
    return await reject(body === null ? 'rejected_too_large' : 'agent_not_found', 'No agent has the slug of the path.');
  const verdict = verifyUpdate(body, receivedDigest, {
    secret: agent.webhook_secret ?? undefined,
    allowUnsigned: config.ALLOW_UNSIGNED_WEBHOOKS,
  });
  if (verdict.kind === 'rejected') return await reject(verdict.outcome, verdict.message);
  const { update } = verdict;
  const receipt = { ...base, dedupeKey: updateKey(agent.id, update.updateId) };
  const origin = { requestId: webhook.id, traceparent };
  const admit = (): Promise<unknown> =>
    jobs.transaction((tx) => {
      const store: Admission['store'] = (properties) =>
        insertReceipt(tx, {
          ...receipt,
          ...selectStoredBody(properties.outcome, body),
          headers: headersOf(properties.outcome),
          chat: undefined,
          message: undefined,
          secretDigest: undefined,
          ...properties,
        });
      return tx.pipeline(
        () => setLockTimeout(tx),
        () => admitUpdate(tx, jobs, { agent, update, origin, store }),
      );
    });
  const { content } = update;
  await (content.kind === 'other' ? admit() : sequencer.run(`${agent.id}/${content.chatId}`, admit));
}

/** Reads ids from an unverified update whose agent does not exist yet, so that erasure finds its receipt. */
function readUnverifiedIds(body: Buffer | null): Partial<Record<'chatId' | 'senderId', number | undefined>> {
  const update = body === null ? undefined : readUpdate(body);
  return update === undefined ? {} : { chatId: update.chatId, senderId: update.senderId };
}

function dedupeDigest(outcome: string, slug: string, body: Buffer | string): string {
  return createHash('sha256').update(`${outcome}\n${slug}\n`).update(body).digest('hex');
}

/**
 * Stores updates of one chat one after the other, since each store locks the chat's row. Updates wait here without a
 * connection; otherwise a busy or locked chat would use up all connections of the service.
 */
interface ChatSequencer {
  /**
   * Runs `work` after earlier work of the same chat. @throws ChatLocked when this or earlier work found the row locked
   */
  run<T>(chat: string, work: () => Promise<T>): Promise<T>;
}

/** Another process locks the chat's row for longer than storing an update takes. */
class ChatLocked extends Error {
  constructor(cause: unknown) {
    super('The chat is held by another process', { cause });
  }
}

const lockNotAvailable = '55P03';

function createChatSequencer(): ChatSequencer {
  const last = new Map<string, Promise<unknown>>();
  return {
    run: async (chat, work) => {
      const previous = last.get(chat);
      const current = (async () => {
        // After a lock timeout, waiting updates of the chat fail at once. Otherwise each would wait as long and block
        // other chats.
        await previous?.catch((error: unknown) => (error instanceof ChatLocked ? Promise.reject(error) : undefined));
        return await work().catch((error: unknown) => {
          throw sqlStateOf(error) === lockNotAvailable ? new ChatLocked(error) : error;
        });
      })();
      last.set(chat, current);
      try {
        return await current;
      } finally {
        if (last.get(chat) === current) last.delete(chat);
      }
    },
  };
}
