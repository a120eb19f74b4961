/** Types of the chat workers, and the order in which updates were accepted. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PayloadOf } from '#libs/infrastructure/contract';
import type { JobRun } from '#libs/infrastructure/jobs';
import type { Bus } from '#libs/infrastructure/nats';
import type { MessagingAgent } from '../../agent/index.ts';
import { agents } from '../../contract.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { ClaimedChat } from '../statements/chats.ts';
import type { ReceiptRow } from '../statements/receipts.ts';

export type ChatWorkerDependencies = Pick<Dependencies, 'bot' | 'db' | 'jobs' | 'runtime'>;

export type ChatJobRun = JobRun<PayloadOf<typeof agents.jobs.workChat>>;

/** An update that is being processed. */
export interface WorkItem {
  readonly run: ChatJobRun;
  readonly chat: ClaimedChat;
  readonly receipt: ReceiptRow;
  readonly agent: MessagingAgent & { readonly bot_token: string };
}

/**
 * Order in which updates were accepted. Updates are stored concurrently and redelivered after crashes, so an update is
 * processed only when every earlier message has a receipt; otherwise it could overtake an earlier update of the same
 * chat.
 */
export interface IntakeOrder {
  /** Whether all earlier messages of the stream are stored. */
  isComplete(streamSequence: number): boolean;
  /** Reads the acknowledged position from the broker. Concurrent calls share one request. Never rejects. */
  refresh(): Promise<void>;
}

const pauseMs = 10;
const failurePauseMs = 250;

export function createIntakeOrder(bus: Bus): IntakeOrder {
  const { durable } = agents.consumers.updates;
  let settledUpTo = 0;
  let pending: Promise<void> | undefined;
  const query = async (): Promise<void> => {
    try {
      ({ settledUpTo } = await bus.consumerLag('WEBHOOKS', durable));
      await sleep(pauseMs);
    } catch {
      await sleep(failurePauseMs);
    }
  };
  return {
    isComplete: (streamSequence) => streamSequence <= settledUpTo,
    refresh: () => (pending ??= query().finally(() => (pending = undefined))),
  };
}
