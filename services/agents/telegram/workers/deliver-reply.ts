/**
 * Sends the parts of a reply in order (D32, D33b). Each is written down as `sending` before its call and as what it came to
 * after it; what is still `sending` when an attempt begins may have arrived, and is not sent again by itself.
 */
import { LeaseLost } from '#libs/jobs';
import type { UpdateOutcome } from '../../receipts/contract.ts';
import { splitReply } from '../rules/split-html.ts';
import type { Question } from '../rules/update.ts';
import { findReceipt, type Settlement } from '../statements/receipts.ts';
import { listSends, markOrphans, type SendRow, updateSend } from '../statements/sends.ts';
import type { ChatWorkerDependencies, WorkItem } from '../work-item.ts';
import { deliverPart, type SendChange } from './deliver-part.ts';

export async function deliverReply(deps: ChatWorkerDependencies, item: WorkItem, question: Question): Promise<Settlement> {
  const { db } = deps;
  const receipt = await findReceipt(db, item.receipt);
  if (receipt === undefined || receipt.reply_html === null)
    return { outcome: 'failed', message: 'The reply was erased before it was sent.' };
  await markOrphans(db, { receiptId: receipt.id });
  const parts = splitReply(receipt.reply_html);
  for (const send of await listSends(db, { receiptId: receipt.id })) {
    if (send.status !== 'planned') continue;
    const html = parts[send.part - 1];
    const write = createWriter(deps, item, send.part);
    if (html === undefined || receipt.expired) {
      await write({ status: 'given_up', error: 'Too old to be sent.' });
      continue;
    }
    const { chatType, messageId, topicId } = question;
    const replyTo = chatType !== 'private' && send.part === 1 ? messageId : undefined;
    const { plain, bare } = send;
    const place = { ...deps, run: item.run, agent: item.agent, chatId: item.chat.chat_id };
    const part = { html, plain, bare, topicId, replyTo, write, logFields: { receiptId: receipt.id } };
    if (!(await deliverPart(place, part))) break;
  }
  return settle(await listSends(db, { receiptId: receipt.id }), receipt.settles_as ?? 'answered', receipt.message);
}

/** @throws LeaseLost when a later attempt has the chat. */
function createWriter({ db }: ChatWorkerDependencies, { chat, receipt }: WorkItem, part: number): (change: SendChange) => Promise<void> {
  return async ({ status, chatId, messageId, error, plain = false, bare = false }) => {
    const at = { chat: chat.id, fence: chat.fence, receiptId: receipt.id, part };
    if ((await updateSend(db, { ...at, status, chatId, messageId, error, plain, bare })) === undefined) throw new LeaseLost();
  };
}

/** What the sends amount to: the worst one decides. */
function settle(sends: readonly SendRow[], settlesAs: UpdateOutcome, message: string | null): Settlement {
  const has = (status: SendRow['status']): boolean => sends.some((send) => send.status === status);
  const echo = settlesAs === 'answered' ? ({ echo: 'mirror' } as const) : {};
  const parts = `of ${sends.length} part${sends.length === 1 ? '' : 's'}`;
  const count = (status: SendRow['status']): number => sends.filter((send) => send.status === status).length;
  if (has('blocked')) return { outcome: 'blocked', message: 'The bot may not write to the chat.', ...echo };
  if (has('unknown')) return { outcome: 'send_unknown', message: `${count('unknown')} ${parts} may or may not have arrived.`, ...echo };
  if (has('refused')) return { outcome: 'send_refused', message: `${count('refused')} ${parts} was refused.`, ...echo };
  if (has('given_up')) return { outcome: 'expired', message: `${count('given_up')} ${parts} was not sent in time.`, ...echo };
  return { outcome: settlesAs, message, ...echo };
}
