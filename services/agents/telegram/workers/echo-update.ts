/**
 * Sends updates to the echo channel (rules/agents#messaging-webhook; D33c): questions with their replies, or raw
 * updates. An echo is attempted once, truncated to one message, and independent of replies.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PayloadOf } from '#libs/infrastructure/contract';
import type { JobRun } from '#libs/infrastructure/jobs';
import { toStorableText } from '#libs/infrastructure/json';
import type { Database } from '#libs/infrastructure/orm';
import { truncateText } from '#libs/infrastructure/text';
import { decodeBody } from '#libs/product/webhooks';
import { findMessagingAgent } from '../../agent/index.ts';
import type { BotApi, SendResult } from '../bot-api.ts';
import { findTurn } from '../../chat/index.ts';
import type { agents } from '../../contract.ts';
import type { Dependencies } from '../../dependencies.ts';
import { toVisibleText } from '../../messaging-html.ts';
import { messageLimits, splitReply } from '../rules/split-html.ts';
import { finishEcho, findReceipt, type ReceiptRow, claimEcho } from '../statements/receipts.ts';
import { turnKeyOf } from './answer-question.ts';

const maxParts = 8;
const maxCalls = 6;
const reconnectMs = 2_000;

export function createEchoWorker({ bot, db }: Pick<Dependencies, 'bot' | 'db'>) {
  return async (run: JobRun<PayloadOf<typeof agents.jobs.echoUpdate>>): Promise<void> => {
    const { receipt_id: receiptId, what } = run.payload;
    const receipt = await findReceipt(db, { id: receiptId });
    if (receipt === undefined || receipt.agent_id === null) return;
    const agent = await findMessagingAgent(db, { id: receipt.agent_id });
    if (agent === undefined || agent.bot_token === null || agent.echo_channel === null) return;
    if ((await claimEcho(db, { id: receiptId })) === undefined) {
      if (receipt.echo === 'sending') await finishEcho(db, { id: receiptId, sent: false, message: null });
      return;
    }
    const parts = what === 'raw' ? formatRaw(receipt) : await formatMirror(db, receipt);
    for (const { text, html } of parts) {
      const result = await sendPart(
        bot,
        agent.bot_token,
        { chatId: toChatId(agent.echo_channel), text, html },
        run.signal,
      );
      if (result.kind === 'sent') continue;
      run.logger.warn({ agent: agent.slug, receiptId, kind: result.kind }, 'telegram: echo failed');
      return await finishEcho(db, {
        id: receiptId,
        sent: false,
        message: what === 'raw' && 'error' in result ? result.error : null,
      });
    }
    await finishEcho(db, { id: receiptId, sent: true, message: null });
  };
}

interface Part {
  readonly text: string;
  readonly html: boolean;
}

/** Formats an update as JSON, truncated to one message. */
function formatRaw({ body }: ReceiptRow): Part[] {
  const text = body === null ? '' : toStorableText(decodeBody(body)).trim();
  const fits = text.length <= messageLimits.visible;
  return text === ''
    ? []
    : [{ text: fits ? text : `${truncateText(text, messageLimits.visible - 1).toWellFormed()}…`, html: false }];
}

/** Formats a question and its reply as `Q: …`, a blank line, `A: …`. */
async function formatMirror(db: Database, { agent_id: agentId, update_id: updateId }: ReceiptRow): Promise<Part[]> {
  const turn = await findTurn(db, { turnKey: `agent:${agentId}:${turnKeyOf(updateId)}` });
  if (turn === undefined || turn.agentHtml === null) return [];
  const parts = splitReply(`Q: ${turn.humanHtml}\n\nA: ${turn.agentHtml}`);
  return parts.slice(0, maxParts).map((text) => ({ text, html: true }));
}

async function sendPart(
  bot: BotApi,
  token: string,
  message: Part & { chatId: number | string },
  signal: AbortSignal,
): Promise<SendResult> {
  let { chatId, text, html } = message;
  let result: SendResult = { kind: 'not_sent', error: 'not tried' };
  for (let call = 0; call < maxCalls; call++) {
    result = await bot.send(token, { chatId, text, html }, signal);
    if (result.kind === 'migrated') chatId = result.chatId;
    else if (result.kind === 'wait') await sleep(result.seconds * 1000, undefined, { signal });
    else if (result.kind === 'not_sent') await sleep(reconnectMs, undefined, { signal });
    else if (result.kind === 'refused_html' && html) {
      text = toVisibleText(text);
      html = false;
    } else break;
  }
  return result;
}

/** Returns the echo channel as a numeric id or as `@name`. */
function toChatId(channel: string): number | string {
  const id = Number(channel);
  return /^-?[0-9]+$/.test(channel) && Number.isSafeInteger(id) ? id : channel;
}
