/** What an operator says in a thread of the messaging platform goes into the queue of its chat (H3). */
import type { Jobs } from '#libs/jobs';
import type { Tx } from '#libs/orm';
import type { agents } from '../contract.ts';
import { type Origin, startChat } from './admit-update.ts';
import { readTelegramThreadKey } from './rules/keys.ts';
import { splitReply } from './rules/split-html.ts';
import { openChat } from './statements/chats.ts';
import { planOperatorSends } from './statements/words.ts';

export interface OutgoingOperatorMessage {
  readonly messageId: number;
  readonly threadKey: string;
  readonly html: string;
}

/** In the transaction that records the message: both happen or neither. */
export async function enqueueOperatorMessage(
  tx: Tx,
  jobs: Jobs<typeof agents>,
  { messageId, threadKey, html }: OutgoingOperatorMessage,
  origin: Origin,
): Promise<void> {
  const place = readTelegramThreadKey(threadKey);
  if (place === undefined) throw new Error('The thread is none of the messaging platform');
  const { id: chat } = await openChat(tx, place);
  await planOperatorSends(tx, { messageId, chat, parts: splitReply(html).length });
  await startChat(tx, jobs, chat, origin);
}
