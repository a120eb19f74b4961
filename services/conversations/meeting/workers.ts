/**
 * Processes webhooks of the meeting provider (rules/providers#realtimekit): verifies them, stores them as receipts, and
 * publishes events that wake waiting importers. They have no other effect. Without a webhook importers poll, and a
 * forged webhook can only cause an early poll.
 */
import { createHash } from 'node:crypto';
import type { PayloadOf, Static } from '#libs/infrastructure/contract';
import type { JobRun } from '#libs/infrastructure/jobs';
import { isJsonObject, type JsonObject } from '#libs/infrastructure/json';
import type { RunningConsumer } from '#libs/infrastructure/nats';
import {
  createRefusalLimit,
  createRefusalReceipts,
  selectStoredBody,
  selectStoredHeaders,
  readWebhookBody,
  type ReceivedWebhook,
  startReceiptIntake,
} from '#libs/product/webhooks';
import { conversations } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import type { BookingOutcome } from '../receipts/contract.ts';
import { findReceipt, insertReceipt, settleReceipt } from '../receipts/index.ts';
import { MeetingWebhook } from './contract.ts';
import { findMeetingConversations } from '../pipeline/index.ts';

type Webhook = Static<typeof MeetingWebhook>;

const deliveryHeader = 'rtk-uuid';
const signatureHeader = 'rtk-signature';
/**
 * Webhooks are matched with conversations that entered their step in the last eight days, one day longer than importers
 * wait.
 */
const waitingDays = 8;

/** Outcome and message of a receipt. */
type Decision = readonly [outcome: BookingOutcome, message: string];
const tooLarge: Decision = ['rejected_too_large', 'The body was too large to be stored.'];
const forged: Decision = ['rejected_signature', 'The signature does not match the body.'];
const unverified: Decision = [
  'rejected_unverified',
  "The provider's key could not be read, and the webhook was too large or exceeded the limit of waiting webhooks.",
];
/** Maximum size of a body that is stored before it can be verified. Real bodies have a few KiB. */
const maxUnverifiedBytes = 65_536;

/**
 * Starts the intake. A message is acknowledged after its receipts are stored. Bodies with an invalid signature are not
 * stored (D68). While the provider's key cannot be read, a limited number of bodies is stored, and the job verifies
 * them.
 */
export function startMeetingIntake(dependencies: Dependencies): Promise<RunningConsumer> {
  const { bus, db, jobs, logger, webhookKeys: keys } = dependencies;
  const from = { consumer: conversations.consumers.meetings, facts: MeetingWebhook };
  const refusals = createRefusalReceipts({ db, source: 'meeting' });
  const acceptsUnverified = createRefusalLimit();
  const reject = async (
    { headers, received_at: receivedAt }: Webhook,
    body: Buffer | null,
  ): Promise<Decision | undefined> => {
    if (body === null) return tooLarge;
    const isSigned = await keys.isSigned(body, headers[signatureHeader]).catch(() => 'unknown' as const);
    if (isSigned !== 'unknown') return isSigned ? undefined : forged;
    return body.length <= maxUnverifiedBytes && acceptsUnverified('unverified', receivedAt) ? undefined : unverified;
  };
  const store = async (webhook: Webhook, { body, traceparent }: ReceivedWebhook): Promise<void> => {
    const { id: deliveryId, received_at: receivedAt } = webhook;
    const rejected = await reject(webhook, body);
    const [outcome, message] = rejected ?? ['pending', ''];
    const key = dedupeKey(webhook, body, rejected);
    const stored =
      rejected === undefined
        ? { outcome, message: null, dedupeKey: key, ...selectStoredBody(outcome, body) }
        : await refusals.createReceipt({ outcome, message, receivedAt, dedupeKey: key, body });
    if (stored === undefined) return;
    const headers = selectStoredHeaders(outcome, webhook.headers);
    const facts = { source: 'meeting', deliveryId, receivedAt, personId: '', headers, trigger: null } as const;
    await jobs.transaction(async (tx) => {
      const id = await insertReceipt(tx, { ...facts, ...stored });
      if (id === undefined || rejected !== undefined) return;
      await jobs.enqueue(
        tx,
        conversations.jobs.meetingReport,
        { receipt_id: id },
        { requestId: deliveryId, traceparent },
      );
    });
  };
  return startReceiptIntake({ bus, logger, ...from, store });
}

/**
 * Returns the key that identifies repeated webhooks. It includes the body, so that a forged delivery id or signature
 * cannot hide the real webhook.
 */
function dedupeKey(webhook: Webhook, body: Buffer | null, rejected: Decision | undefined): string {
  const hash = createHash('sha256').update(
    `${rejected === undefined ? 'meeting' : rejected[0]}\n${webhook.headers[deliveryHeader] ?? ''}\n`,
  );
  return hash.update(body ?? webhook.id).digest('hex');
}

/** Creates the job that processes one receipt. */
export function createMeetingReportWorker({ db, jobs, webhookKeys: keys }: Dependencies) {
  return async (run: JobRun<PayloadOf<typeof conversations.jobs.meetingReport>>): Promise<void> => {
    const id = run.payload.receipt_id;
    const receipt = await findReceipt(db, { id });
    if (receipt === undefined || receipt.body === null) return;
    const headers = JSON.parse(receipt.headers) as Record<string, string>;
    const isSigned = await keys.isSigned(receipt.body, headers[signatureHeader]);
    const document = isSigned ? readWebhookBody(receipt.body) : undefined;
    const report = document === undefined ? undefined : readText(document['event']);
    const meetingId = document === undefined ? undefined : readMeetingId(document);
    const found = meetingId === undefined ? [] : await findMeetingConversations(db, { meetingId, days: waitingDays });
    await run.complete(async (tx) => {
      for (const { id: conversationId } of found) {
        const payload = { conversation_id: conversationId, report: report ?? '' };
        await jobs.emit(tx, conversations.events.meetingReported, payload, { requestId: run.requestId });
      }
      const [outcome, message] = describeOutcome(isSigned, document, meetingId, found.length);
      await settleReceipt(tx, id, { outcome, message, conversationId: found[0]?.id, trigger: report });
      return { outcome, conversations: found.map((item) => item.id) };
    });
  };
}

function describeOutcome(
  isSigned: boolean,
  document: JsonObject | undefined,
  meetingId: string | undefined,
  found: number,
): Decision {
  if (!isSigned) return forged;
  if (document === undefined) return ['rejected_unreadable', 'The body is not a JSON object, or is nested too deeply.'];
  if (meetingId === undefined) return ['ignored', 'The webhook has no meeting id.'];
  if (found === 0) return ['ignored', 'No conversation of this meeting is waiting.'];
  return ['applied', `Published for ${found} ${found === 1 ? 'conversation' : 'conversations'}.`];
}

/** Returns the meeting id: most events have `meeting.id`, others `recording.meetingId` or `meetingId`. */
function readMeetingId(document: JsonObject): string | undefined {
  const { meeting, recording } = document;
  const ofMeeting = isJsonObject(meeting) ? readText(meeting['id']) : undefined;
  const ofRecording = isJsonObject(recording) ? readText(recording['meetingId']) : undefined;
  return ofMeeting ?? ofRecording ?? readText(document['meetingId']);
}

function readText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= 200 ? value : undefined;
}
