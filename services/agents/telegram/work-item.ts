/** What the workers of a chat pass to each other. */
import type { PayloadOf } from '#libs/contract';
import type { JobRun, Jobs } from '#libs/jobs';
import type { Database } from '#libs/orm';
import type { MessagingAgent } from '../agent/index.ts';
import type { BotApi } from '../bot/index.ts';
import type { ChatRuntime } from '../chat/index.ts';
import type { agents } from '../contract.ts';
import type { IntakeOrder } from './intake-order.ts';
import type { ClaimedChat } from './statements/chats.ts';
import type { ReceiptRow } from './statements/receipts.ts';

export interface ChatWorkerDependencies {
  readonly db: Database;
  readonly jobs: Jobs<typeof agents>;
  readonly bot: BotApi;
  readonly order: IntakeOrder;
  /** Undefined when no language model is configured. */
  readonly runtime: ChatRuntime | undefined;
}

export type ChatJobRun = JobRun<PayloadOf<typeof agents.jobs.workChat>>;

/** One update of a chat with what it takes to work it. */
export interface WorkItem {
  readonly run: ChatJobRun;
  readonly chat: ClaimedChat;
  readonly receipt: ReceiptRow;
  readonly agent: MessagingAgent & { readonly bot_token: string };
}
