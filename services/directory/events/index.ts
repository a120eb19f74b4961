/** Adds feed events in the transaction of the change (V1, V2, V9). */
import type { FeedAccess, FeedEvent, noData } from '#libs/infrastructure/contract';
import type { EventOutbox } from '#libs/infrastructure/feed';
import type { Tx } from '#libs/infrastructure/orm';
import { directoryFeed } from './contract.ts';
import { listMemberships, listRelationships, recordDeletedHolons } from './statements.ts';

/** Kinds of records whose changes are feed events. */
export type EventKind = 'person' | 'holon' | 'membership' | 'relationship';

interface OnJourney {
  readonly journey_id: number | null;
  readonly journey: string | null;
}

/** Every reader of the directory can read people (rules/access#access-model). */
const visibleToAll: FeedAccess = { holons: [], people: [] };
const visibleThrough = (...holons: readonly number[]): FeedAccess => ({ holons, people: [] });

const holonEvents = {
  created: directoryFeed.holonCreated,
  updated: directoryFeed.holonUpdated,
  deleted: directoryFeed.holonDeleted,
};
const membershipEvents = {
  created: directoryFeed.membershipCreated,
  updated: directoryFeed.membershipUpdated,
  deleted: directoryFeed.membershipDeleted,
};
const relationshipEvents = {
  created: directoryFeed.relationshipCreated,
  updated: directoryFeed.relationshipUpdated,
  deleted: directoryFeed.relationshipDeleted,
};

/** Maximum rows read per batch. */
const maxRowsPerRead = 5_000;

/** Emits one event per created or changed id and skips ids that no longer exist. Pass only ids that really changed. */
export async function emitWritten(
  eventOutbox: EventOutbox,
  tx: Tx,
  kind: EventKind,
  what: 'created' | 'updated',
  ids: readonly number[],
): Promise<void> {
  for (const batch of batchesOf(ids)) await emitBatch(eventOutbox, tx, kind, what, batch);
}

/**
 * Emits the final event of each object (W21). Call with the objects locked, before they are deleted. The event is
 * visible to callers that can read the object now.
 */
export async function emitDeleted(
  eventOutbox: EventOutbox,
  tx: Tx,
  kind: Exclude<EventKind, 'person'>,
  ids: readonly number[],
): Promise<void> {
  for (const batch of batchesOf(ids)) {
    if (kind === 'holon') await recordDeletedHolons(tx, { ids: batch });
    await emitBatch(eventOutbox, tx, kind, 'deleted', batch);
  }
}

function batchesOf(ids: readonly number[]): number[][] {
  const uniqueIds = [...new Set(ids)];
  return Array.from({ length: Math.ceil(uniqueIds.length / maxRowsPerRead) }, (_, batch) =>
    uniqueIds.slice(batch * maxRowsPerRead, (batch + 1) * maxRowsPerRead),
  );
}

async function emitBatch(
  eventOutbox: EventOutbox,
  tx: Tx,
  kind: EventKind,
  what: 'created' | 'updated' | 'deleted',
  ids: readonly number[],
): Promise<void> {
  if (kind === 'membership') {
    for (const { id, ...data } of await listMemberships(tx, { ids })) emitMembership(eventOutbox, tx, what, id, data);
  } else if (kind === 'relationship') {
    for (const { id, ...data } of await listRelationships(tx, { ids }))
      emitRelationship(eventOutbox, tx, what, id, data);
  } else if (kind === 'holon') {
    const event = holonEvents[what];
    for (const id of ids) eventOutbox.add(tx, event, { subject: id, data: {}, access: visibleThrough(id) });
  } else {
    const event = what === 'created' ? directoryFeed.personCreated : directoryFeed.personUpdated;
    for (const id of ids) emitPerson(eventOutbox, tx, event, id);
  }
}

export function emitMembership(
  eventOutbox: EventOutbox,
  tx: Tx,
  what: keyof typeof membershipEvents,
  id: number,
  data: OnJourney & { readonly person_id: number; readonly holon_id: number },
): void {
  eventOutbox.add(tx, membershipEvents[what], { subject: id, data, access: visibleThrough(data.holon_id) });
}

export function emitRelationship(
  eventOutbox: EventOutbox,
  tx: Tx,
  what: keyof typeof relationshipEvents,
  id: number,
  data: OnJourney & { readonly from_holon_id: number; readonly to_holon_id: number },
): void {
  const access = visibleThrough(data.from_holon_id, data.to_holon_id);
  eventOutbox.add(tx, relationshipEvents[what], { subject: id, data, access });
}

/** Emits the event of an erased person. It is visible to all readers, as the person was. */
export function emitErased(eventOutbox: EventOutbox, tx: Tx, id: number): void {
  emitPerson(eventOutbox, tx, directoryFeed.personErased, id);
}

export function emitMerged(
  eventOutbox: EventOutbox,
  tx: Tx,
  { mergedId, intoId }: { readonly mergedId: number; readonly intoId: number },
): void {
  eventOutbox.add(tx, directoryFeed.personMerged, { subject: mergedId, data: { into: intoId }, access: visibleToAll });
}

export interface NoteEvent {
  readonly id: number;
  readonly noteType: string;
  readonly personIds: readonly number[];
  readonly holonIds: readonly number[];
  readonly membershipId?: number | undefined;
  readonly relationshipId?: number | undefined;
}

export function emitNote(
  eventOutbox: EventOutbox,
  tx: Tx,
  { id, noteType, personIds, holonIds, membershipId, relationshipId }: NoteEvent,
): void {
  const onlyOf = (ids: readonly number[]): number | null => (ids.length === 1 ? (ids[0] ?? null) : null);
  const data = {
    note_type: noteType,
    person_id: onlyOf(personIds),
    person_ids: [...personIds],
    holon_id: onlyOf(holonIds),
    holon_ids: [...holonIds],
    membership_id: membershipId ?? null,
    relationship_id: relationshipId ?? null,
  };
  eventOutbox.add(tx, directoryFeed.noteCreated, { subject: id, data, access: visibleThrough(...holonIds) });
}

function emitPerson(eventOutbox: EventOutbox, tx: Tx, event: FeedEvent<typeof noData>, id: number): void {
  eventOutbox.add(tx, event, { subject: id, data: {}, access: visibleToAll });
}
