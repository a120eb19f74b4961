/** Sends what operators say in a chat (H3): in its queue, so that it stands in order with the agent's replies, and each part once. */
import { LeaseLost } from '#libs/jobs';
import type { Queryable } from '#libs/sql';
import { findMessagingAgent } from '../../agent/index.ts';
import { splitReply } from '../rules/split-html.ts';
import { readUpdate } from '../rules/update.ts';
import type { ClaimedChat } from '../statements/chats.ts';
import { findPrecedingMessage } from '../statements/receipts.ts';
import { findNextOperatorSend, abandonOperatorSends, markOrphanedOperatorSends, updateOperatorSend } from '../statements/words.ts';
import type { ChatJobRun, ChatWorkerDependencies } from '../work-item.ts';
import { deliverPart, type SendChange } from './deliver-part.ts';

/** Until nothing of operators waits in the chat. @throws RetryLater while it cannot be sent */
export async function deliverOperatorMessages({ db, bot }: ChatWorkerDependencies, run: ChatJobRun, chat: ClaimedChat): Promise<void> {
  const fenced = { chat: chat.id, fence: chat.fence };
  await markOrphanedOperatorSends(db, { chat: chat.id });
  const agent = await findMessagingAgent(db, { id: chat.agent_id });
  const token = agent?.bot_token ?? null;
  if (agent === undefined || token === null) {
    await abandonOperatorSends(db, { ...fenced, error: 'The agent has no config.messaging.bot_token.' });
    return;
  }
  for (let next = await findNextOperatorSend(db, fenced); next !== undefined; next = await findNextOperatorSend(db, fenced)) {
    const { messageId, part, plain, expired } = next;
    const write = async ({ status, chatId, messageId: sentMessageId, error, plain: isPlain = false }: SendChange): Promise<void> => {
      const written = { status, chatId, sentMessageId, error, plain: isPlain };
      if ((await updateOperatorSend(db, { ...fenced, messageId, part, ...written })) === undefined) throw new LeaseLost();
    };
    const html = splitReply(next.html)[part - 1];
    if (html === undefined || expired) {
      await write({ status: 'given_up', error: 'Too old to be sent.' });
      continue;
    }
    const place = { db, bot, run, agent: { ...agent, bot_token: token }, chatId: chat.chat_id };
    const topicId = await findTopic(db, { chat: chat.id, messageId });
    const goesOn = await deliverPart(place, { html, plain, bare: false, topicId, write, logFields: { messageId } });
    if (!goesOn) await abandonOperatorSends(db, { ...fenced, error: 'The bot may not write to the chat.' });
  }
}

/** Where somebody had written last: that is what an operator answers. */
async function findTopic(db: Queryable, words: { chat: number; messageId: number }): Promise<number | undefined> {
  const last = await findPrecedingMessage(db, words);
  const content = last === undefined ? undefined : readUpdate(last.body)?.content;
  return content?.kind === 'question' ? content.topicId : undefined;
}
