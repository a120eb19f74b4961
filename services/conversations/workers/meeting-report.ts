/**
 * Webhooks of the meeting provider (design/providers §3): stored as receipts, checked by their signature, and told to whoever waits for the
 * meeting. Nothing else follows from them, so that polling stays the fallback and a forged one could do no more than hurry it.
 */
import { createHash } from 'node:crypto';
import type { PayloadOf, Static } from '#libs/contract';
import { isJsonObject, type JsonObject } from '#libs/json';
import type { JobRun } from '#libs/jobs';
import type { RunningConsumer } from '#libs/nats';
import type { WebhookKeys } from '#libs/realtimekit';
import { readWebhookBody, type ReceivedWebhook, startReceiptIntake } from '#libs/webhooks';
import { conversations, MeetingWebhook } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import type { StoredReceipt } from '../handlers/receipt.ts';
import { getReceipt, settleReceipt } from '../repositories/booking.ts';
import { findMeetingConversations, insertMeetingReceipt } from '../repositories/meeting.ts';

type Webhook = Static<typeof MeetingWebhook>;

const deliveryHeader = 'rtk-uuid';
const signatureHeader = 'rtk-signature';
/** A day longer than importers wait. */
const waitingDays = 8;

/** Takes the webhooks off the stream; a message is acknowledged when the receipts of its webhooks are stored. */
export function startMeetingIntake(dependencies: Dependencies): Promise<RunningConsumer> {
  const { bus, logger } = dependencies;
  const from = { consumer: conversations.consumers.meetings, facts: MeetingWebhook };
  return startReceiptIntake({ bus, logger, ...from, store: (webhook, received) => storeReceipt(dependencies, webhook, received) });
}

async function storeReceipt({ jobs }: Dependencies, webhook: Webhook, { body, traceparent }: ReceivedWebhook): Promise<void> {
  // The same delivery has the same bytes: who makes up an id cannot hide the delivery that really has it.
  const hash = createHash('sha256').update(`meeting\n${webhook.headers[deliveryHeader] ?? ''}\n`);
  const dedupeKey = hash.update(body ?? webhook.id).digest('hex');
  const [outcome, message] = body === null ? ['rejected_too_large', 'The body was too large to be kept.'] : ['pending', null];
  await jobs.transaction(async (tx) => {
    const values = [dedupeKey, webhook.id, webhook.received_at, JSON.stringify(webhook.headers), body, outcome, message];
    const [receipt] = await tx.query<{ id: number; is_new: boolean }>(insertMeetingReceipt, values);
    if (receipt?.is_new !== true || body === null) return;
    await jobs.enqueue(tx, conversations.jobs.meetingReport, { receipt_id: receipt.id }, { requestId: webhook.id, traceparent });
  });
}

/** Works one receipt. */
export function createMeetingReportWorker({ db, jobs }: Dependencies, keys: WebhookKeys) {
  return async (run: JobRun<PayloadOf<typeof conversations.jobs.meetingReport>>): Promise<void> => {
    const id = run.payload.receipt_id;
    const [receipt] = await db.query<StoredReceipt>(getReceipt, [id]);
    if (receipt === undefined || receipt.body === null) return;
    const headers = JSON.parse(receipt.headers) as Record<string, string>;
    const isSigned = await keys.isSigned(receipt.body, headers[signatureHeader]);
    const document = isSigned ? readWebhookBody(receipt.body) : undefined;
    const report = document === undefined ? undefined : readText(document['event']);
    const meetingId = document === undefined ? undefined : readMeetingId(document);
    const found = meetingId === undefined ? [] : await db.query<{ id: number }>(findMeetingConversations, [meetingId, waitingDays]);
    await run.complete(async (tx) => {
      for (const { id: conversationId } of found) {
        const payload = { conversation_id: conversationId, report: report ?? '' };
        await jobs.emit(tx, conversations.events.meetingReported, payload, { requestId: run.requestId });
      }
      const [outcome, message] = settle(isSigned, document, meetingId, found.length);
      await tx.query(settleReceipt, [id, outcome, message, found[0]?.id ?? null, [], report ?? null]);
      return { outcome, conversations: found.map((item) => item.id) };
    });
  };
}

function settle(isSigned: boolean, document: JsonObject | undefined, meetingId: string | undefined, found: number): [string, string] {
  if (!isSigned) return ['rejected_signature', 'The signature does not fit the body.'];
  if (document === undefined) return ['rejected_unreadable', 'The body is no JSON object.'];
  if (meetingId === undefined) return ['ignored', 'It names no meeting.'];
  if (found === 0) return ['ignored', 'No conversation of this meeting waits for anything.'];
  return ['applied', `Told to ${found} ${found === 1 ? 'conversation' : 'conversations'}.`];
}

/** `meeting.id` of most events, `recording.meetingId`, or `meetingId` itself. */
function readMeetingId(document: JsonObject): string | undefined {
  const { meeting, recording } = document;
  const ofMeeting = isJsonObject(meeting) ? readText(meeting['id']) : undefined;
  const ofRecording = isJsonObject(recording) ? readText(recording['meetingId']) : undefined;
  return ofMeeting ?? ofRecording ?? readText(document['meetingId']);
}

function readText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= 200 ? value : undefined;
}
