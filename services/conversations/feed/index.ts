/** Adds feed events of conversations in the transaction that changes the conversation (V1, V2). */
import type { FeedAccess } from '#libs/infrastructure/contract';
import type { EventOutbox } from '#libs/infrastructure/feed';
import type { Tx } from '#libs/infrastructure/orm';
import type { DeletionReason } from '../deletion/contract.ts';
import type { CachedJourney } from '../directory-cache/index.ts';
import { idsFromSql } from '../representation.ts';
import type { JourneyStep } from '../directory-cache/index.ts';
import { refusedOutcomes } from '../receipts/contract.ts';
import { conversationFeed } from './contract.ts';
import { listAccess } from '../statements.ts';

type JourneyName = Pick<CachedJourney, 'id' | 'slug'> | undefined;

interface AccessRow {
  readonly id: number;
  readonly event_id: number | null;
  readonly participants: string;
}

/** Returns the holons and people that determine which callers can read a conversation (D18f, D69). */
export function accessOf({ event_id: eventId, participants }: Omit<AccessRow, 'id'>): FeedAccess {
  return { holons: eventId === null ? [] : [eventId], people: idsFromSql(participants) };
}

export function emitCreated(
  eventOutbox: EventOutbox,
  tx: Tx,
  row: AccessRow & { readonly journey_id: number | null },
  journey: JourneyName,
): void {
  const data = { journey_id: row.journey_id, journey: journey?.slug ?? null, event_id: row.event_id };
  eventOutbox.add(tx, conversationFeed.created, { subject: row.id, data, access: accessOf(row) });
}

/** Emits a change that does not affect access to the conversation. */
export function emitUpdated(eventOutbox: EventOutbox, tx: Tx, id: number): void {
  eventOutbox.add(tx, conversationFeed.updated, { subject: id, data: {} });
}

/**
 * Emits changes with the current access, for changed participants or events and for restored conversations. Deleted
 * conversations are skipped.
 */
export async function emitAccessUpdated(eventOutbox: EventOutbox, tx: Tx, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  for (const row of await listAccess(tx, { ids }))
    eventOutbox.add(tx, conversationFeed.updated, { subject: row.id, data: {}, access: accessOf(row) });
}

/** Emits that a conversation was restored, with its access: its events are visible again (V10). */
export async function emitRestored(eventOutbox: EventOutbox, tx: Tx, id: number): Promise<void> {
  for (const row of await listAccess(tx, { ids: [id] }))
    eventOutbox.add(tx, conversationFeed.restored, { subject: id, data: {}, access: accessOf(row) });
  emitUpdated(eventOutbox, tx, id);
}

/** Emits the deletion of a conversation. @param row state before the deletion */
export function emitDeleted(
  eventOutbox: EventOutbox,
  tx: Tx,
  row: AccessRow,
  reason: DeletionReason | 'erasure',
): void {
  eventOutbox.add(tx, conversationFeed.deleted, { subject: row.id, data: { reason }, access: accessOf(row) });
}

/** Emits that a booking changed the conversation. A cancellation is a final event, like the deletion (V9). */
export function emitBookingApplied(eventOutbox: EventOutbox, tx: Tx, id: number, change: 'booked' | 'cancelled'): void {
  eventOutbox.add(tx, conversationFeed.bookingApplied, {
    subject: id,
    data: { change },
    isFinalEvent: change === 'cancelled',
  });
}

/**
 * Emits a refused booking on the webhook path of an existing person; does nothing when the outcome is not a refusal.
 */
export function emitBookingRefused(eventOutbox: EventOutbox, tx: Tx, personId: number, outcome: string): void {
  const reason = refusedOutcomes.find((refused) => refused === outcome);
  if (reason !== undefined)
    eventOutbox.add(tx, conversationFeed.bookingRefused, { subject: personId, data: { reason } });
}

export function emitStepEntered(
  eventOutbox: EventOutbox,
  tx: Tx,
  id: number,
  journey: JourneyName,
  step: JourneyStep,
): void {
  const data = { journey_id: journey?.id ?? null, journey: journey?.slug ?? null, step_id: step.id, step: step.slug };
  eventOutbox.add(tx, conversationFeed.stepEntered, { subject: id, data });
}

export { conversationFeed } from './contract.ts';
