/** What is missing is worked as if its webhook had come, through receipts marked `reconciled` (B2). */
import { createHash } from 'node:crypto';
import type { JobRun } from '#libs/jobs';
import type { Tx } from '#libs/orm';
import { formatInstant } from '#libs/time';
import { keepBody } from '#libs/webhooks';
import { conversations } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { insertReceipt, reconciledHeader } from '../receipts/index.ts';
import { type CalBooking, composeWebhook, type MissingEvent } from './rules.ts';

export interface Missing {
  readonly event: MissingEvent;
  readonly tip: CalBooking;
  readonly formerUids: readonly string[];
  readonly personId: number;
}

/** @returns how many are worked now: what was fed before is not worked again */
export async function feed(
  dependencies: Dependencies,
  run: Pick<JobRun<unknown>, 'id' | 'requestId'>,
  missing: readonly Missing[],
  askedAt: string,
): Promise<number> {
  if (missing.length === 0) return 0;
  return await dependencies.jobs.transaction((tx) => feedIn(dependencies, tx, run, missing, askedAt));
}

/** The same in a transaction. */
export async function feedIn(
  { jobs, clock }: Dependencies,
  tx: Tx,
  run: Pick<JobRun<unknown>, 'id' | 'requestId'>,
  missing: readonly Missing[],
  askedAt: string,
): Promise<number> {
  let fed = 0;
  for (const { event, tip, formerUids, personId } of missing) {
    const body = composeWebhook(event, tip, formerUids, askedAt);
    const id = await insertReceipt(tx, {
      source: 'booking',
      dedupeKey: createHash('sha256').update(`reconciled\n${personId}\n`).update(body).digest('hex'),
      deliveryId: `reconciled:${run.id}`,
      receivedAt: formatInstant(clock.now()),
      personId: String(personId),
      headers: { [reconciledHeader]: 'cal.com' },
      trigger: event.trigger,
      identifiers: [`uid:${tip.uid}`],
      outcome: 'pending',
      message: null,
      // Cal.com itself has told it, to who has the key.
      wasSigned: true,
      ...keepBody('pending', body),
    });
    if (id === undefined) continue;
    await jobs.enqueue(tx, conversations.jobs.bookingEvent, { receipt_id: id }, { requestId: run.requestId });
    fed++;
  }
  return fed;
}
