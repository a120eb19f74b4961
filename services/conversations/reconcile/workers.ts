/**
 * Job `conversations.booking-reconcile` (B1, B2). Cal.com sends each webhook once, so events are lost while the
 * platform is down. The job compares bookings with Cal.com, and submits missing events as receipts marked `reconciled`.
 */
import { createHash } from 'node:crypto';
import type { PayloadOf } from '#libs/infrastructure/contract';
import { type JobRun, PermanentJobError } from '#libs/infrastructure/jobs';
import type { Tx } from '#libs/infrastructure/orm';
import { formatInstant } from '#libs/infrastructure/time';
import { selectStoredBody } from '#libs/product/webhooks';
import { directory } from '#services/directory';
import { findConversationJourney } from '../booking/index.ts';
import { conversations } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { insertReceipt, reconciledHeader } from '../receipts/index.ts';
import type { CalBooking, CalCom } from '../cal-com.ts';
import type { ReconcileResult } from './contract.ts';
import { composeWebhook, findMissing, findTips, type KnownBooking, type MissingEvent } from './rules.ts';
import { findDaily, findKnown } from './statements.ts';

type Run = JobRun<PayloadOf<typeof conversations.jobs.bookingReconcile>>;

/** Number of chains that are compared per batch. */
const chunkSize = 200;
/** Maximum length of a chain of earlier bookings, which are requested one by one. */
const maxFormer = 50;
const emailsPerCall = 500;

export function createReconcileWorker(dependencies: Dependencies) {
  const { calCom } = dependencies;
  return async (run: Run): Promise<void> => {
    if (calCom === undefined) throw new PermanentJobError('CALCOM_API_KEY is not set.');
    const { since, dry_run: isDry } = run.payload;
    const queriedAt = new Date().toISOString();
    const all = await calCom.listBookings(since, {
      signal: run.signal,
      progress: (listed) => run.progress(0, `${listed} bookings read`),
    });
    const counts = {
      listed: all.length,
      missing: 0,
      fed: 0,
      created: 0,
      rescheduled: 0,
      cancelled: 0,
      attendees: 0,
      without_person: 0,
      without_journey: 0,
    };
    const chains = new Chains(calCom, run, all);
    const tips = findTips(all);
    for (let offset = 0; offset < tips.length; offset += chunkSize) {
      run.signal.throwIfAborted();
      run.progress(Math.floor((100 * offset) / tips.length), 'comparing');
      const missing = await findMissingOf(dependencies, run, chains, tips.slice(offset, offset + chunkSize), counts);
      if (!isDry) counts.fed += await submitMissing(dependencies, run, missing, queriedAt);
    }
    const result: ReconcileResult = { since, dry_run: isDry, ...counts };
    run.logger.info(result, 'booking reconciliation finished');
    await run.complete(async () => result);
  };
}

/** Enqueues the daily reconciliation, once for all replicas. */
export async function enqueueDaily({ jobs, db, clock }: Dependencies): Promise<void> {
  const { type } = conversations.jobs.bookingReconcile;
  const { due, last } = await findDaily(db, { type });
  if (!due) return;
  const day = 86_400_000_000n;
  // The range includes one more day, to find lost events of changed bookings. The first run covers one more month.
  const since = formatInstant((last === null ? clock.now() - 30n * day : BigInt(Date.parse(last)) * 1_000n) - day);
  await jobs.transaction((tx) =>
    jobs.enqueue(tx, conversations.jobs.bookingReconcile, { since, dry_run: false, daily: true }, { key: 'daily' }),
  );
}

/** Finds the earlier uids of chains, and requests bookings from Cal.com only as far back as needed. */
class Chains {
  readonly #calCom: CalCom;
  readonly #run: Run;
  readonly #bookings: Map<string, CalBooking>;

  constructor(calCom: CalCom, run: Run, all: readonly CalBooking[]) {
    this.#calCom = calCom;
    this.#run = run;
    this.#bookings = new Map(all.map((booking) => [booking.uid, booking]));
  }

  /** Returns the uids of earlier bookings, nearest first: all bookings in the list, and the first one outside it. */
  follow(tip: CalBooking): string[] {
    const uids: string[] = [];
    for (
      let next = tip.rescheduledFromUid;
      next !== null && isNew(next, tip, uids);
      next = this.#bookings.get(next)?.rescheduledFromUid ?? null
    )
      uids.push(next);
    return uids;
  }

  /**
   * Returns the uid before the last one, requested from Cal.com; returns undefined when the last booking is in the
   * list.
   */
  async extend(tip: CalBooking, uids: readonly string[]): Promise<string | undefined> {
    const last = uids.at(-1);
    if (last === undefined || this.#bookings.has(last)) return undefined;
    const next = (await this.#calCom.findBooking(last, this.#run))?.rescheduledFromUid ?? null;
    return next !== null && isNew(next, tip, uids) ? next : undefined;
  }
}

/** Returns whether the uid can extend the chain. Chains have a maximum length and must not form a cycle. */
function isNew(uid: string, tip: CalBooking, uids: readonly string[]): boolean {
  return uids.length < maxFormer && uid !== tip.uid && !uids.includes(uid);
}

interface Chain {
  readonly tip: CalBooking;
  readonly formerUids: string[];
  readonly known: KnownBooking[];
}

/** Returns chains with their stored bookings. A chain without a stored booking is followed beyond the list. */
async function lookUp({ db }: Dependencies, chains: Chains, tips: readonly CalBooking[]): Promise<Chain[]> {
  const find = async (uids: readonly string[]): Promise<KnownBooking[]> =>
    (await findKnown(db, { identifiers: uids.map((uid) => `uid:${uid}`) })).map((row) => ({
      ...row,
      attendees: JSON.parse(row.attendees) as KnownBooking['attendees'],
    }));
  const followed = tips.map((tip) => ({ tip, formerUids: chains.follow(tip) }));
  const rows = Map.groupBy(
    await find(followed.flatMap(({ tip, formerUids }) => [tip.uid, ...formerUids])),
    ({ uid }) => uid,
  );
  const found: Chain[] = [];
  for (const { tip, formerUids } of followed) {
    const known = [tip.uid, ...formerUids].flatMap((uid) => rows.get(uid) ?? []);
    for (let next = known.length > 0 ? undefined : await chains.extend(tip, formerUids); next !== undefined;) {
      formerUids.push(next);
      known.push(...(await find([next])));
      next = known.length > 0 ? undefined : await chains.extend(tip, formerUids);
    }
    found.push({ tip, formerUids, known });
  }
  return found;
}

type Counts = Record<
  'missing' | 'created' | 'rescheduled' | 'cancelled' | 'attendees' | 'without_person' | 'without_journey',
  number
>;
const countOf = {
  BOOKING_CREATED: 'created',
  BOOKING_RESCHEDULED: 'rescheduled',
  BOOKING_CANCELLED: 'cancelled',
} as const;

async function findMissingOf(
  dependencies: Dependencies,
  run: Run,
  chains: Chains,
  tips: readonly CalBooking[],
  counts: Counts,
): Promise<MissingBooking[]> {
  const found = (await lookUp(dependencies, chains, tips)).flatMap((chain) => {
    const event = findMissing(chain.tip, chain.known);
    return event === undefined ? [] : [{ ...chain, event }];
  });
  const hosts = await findHosts(
    dependencies,
    run,
    found.flatMap(({ tip }) => tip.hosts),
  );
  const missing: MissingBooking[] = [];
  for (const { event, tip, formerUids, known } of found) {
    const personId =
      tip.hosts.map((email) => hosts.get(email)).find((id) => id !== undefined) ??
      known.find((item) => item.personId)?.personId;
    const isUsable =
      known.some(({ conversationId }) => conversationId !== null) || (await hasJourney(dependencies, tip));
    if (!isUsable) counts.without_journey++;
    else if (personId === undefined || personId === null) counts.without_person++;
    else {
      counts.missing++;
      counts[event.isRoster ? 'attendees' : countOf[event.trigger]]++;
      missing.push({ event, tip, formerUids, personId });
    }
  }
  return missing;
}

/**
 * Returns whether the booking names a journey. Without a journey no conversation can be created. Accounts can have
 * other appointments, which must not cause notes.
 */
async function hasJourney(dependencies: Dependencies, { videoCallUrl }: CalBooking): Promise<boolean> {
  return (await findConversationJourney(dependencies, videoCallUrl)).journey !== undefined;
}

/** Returns person ids of hosts by email, resolved like attendees. */
async function findHosts({ bus }: Dependencies, run: Run, emails: readonly string[]): Promise<Map<string, number>> {
  const uniqueEmails = [...new Set(emails)];
  const found = new Map<string, number>();
  for (let offset = 0; offset < uniqueEmails.length; offset += emailsPerCall) {
    const some = uniqueEmails.slice(offset, offset + emailsPerCall);
    const request = { attendees: some.map((email) => ({ name: email, email })), create: false, key: 'hosts' };
    const { person_ids: ids } = await bus.call(directory.rpcs.resolveAttendees, request, run.context);
    for (const [index, email] of some.entries()) {
      const id = ids[index];
      if (typeof id === 'number') found.set(email, id);
    }
  }
  return found;
}

export interface MissingBooking {
  readonly event: MissingEvent;
  readonly tip: CalBooking;
  readonly formerUids: readonly string[];
  readonly personId: number;
}

/**
 * Submits missing events in one transaction. @returns the number of new events; events that were submitted before are
 * not processed again
 */
export async function submitMissing(
  dependencies: Dependencies,
  run: Pick<JobRun<unknown>, 'id' | 'requestId'>,
  missing: readonly MissingBooking[],
  queriedAt: string,
): Promise<number> {
  if (missing.length === 0) return 0;
  return await dependencies.jobs.transaction((tx) => submitMissingIn(dependencies, tx, run, missing, queriedAt));
}

/** Submits missing events in the caller's transaction. @returns the number of new events */
export async function submitMissingIn(
  { jobs, clock }: Dependencies,
  tx: Tx,
  run: Pick<JobRun<unknown>, 'id' | 'requestId'>,
  missing: readonly MissingBooking[],
  queriedAt: string,
): Promise<number> {
  let fed = 0;
  for (const { event, tip, formerUids, personId } of missing) {
    const body = composeWebhook(event, tip, formerUids, queriedAt);
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
      // The booking was read with the API key and can be trusted like a signed webhook.
      wasSigned: true,
      ...selectStoredBody('pending', body),
    });
    if (id === undefined) continue;
    await jobs.enqueue(tx, conversations.jobs.bookingEvent, { receipt_id: id }, { requestId: run.requestId });
    fed++;
  }
  return fed;
}
