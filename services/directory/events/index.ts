/** Adds feed events in the transaction of the change (V1, V2, V9). */
import type { FeedAccess, FeedEvent, noData } from '#libs/contract';
import type { EventOutbox } from '#libs/feed';
import type { Tx } from '#libs/orm';
import { directoryFeed } from './contract.ts';
import { listMemberships, listRelationships } from './statements.ts';

/** Kinds of records whose changes are feed events. */
export type EventKind = 'person' | 'holon' | 'membership' | 'relationship';

interface OnJourney {
  readonly journey_id: number | null;
  readonly journey: string | null;
}

/** Every reader of the directory can read people (rules/access#access-model). */
const visibleToAll: FeedAccess = { holons: [], people: [] };
const visibleThrough = (...holons: readonly number[]): FeedAccess => ({ holons, people: [] });

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
  const uniqueIds = [...new Set(ids)];
  for (let from = 0; from < uniqueIds.length; from += maxRowsPerRead)
    await emitBatch(eventOutbox, tx, kind, what, uniqueIds.slice(from, from + maxRowsPerRead));
}

async function emitBatch(
  eventOutbox: EventOutbox,
  tx: Tx,
  kind: EventKind,
  what: 'created' | 'updated',
  ids: readonly number[],
): Promise<void> {
  const isNew = what === 'created';
  if (kind === 'membership') {
    for (const { id, ...data } of await listMemberships(tx, { ids })) emitMembership(eventOutbox, tx, what, id, data);
  } else if (kind === 'relationship') {
    for (const { id, ...data } of await listRelationships(tx, { ids }))
      emitRelationship(eventOutbox, tx, what, id, data);
  } else if (kind === 'holon') {
    const event = isNew ? directoryFeed.holonCreated : directoryFeed.holonUpdated;
    for (const id of ids) eventOutbox.add(tx, event, { subject: id, data: {}, access: visibleThrough(id) });
  } else {
    for (const id of ids)
      emitPerson(eventOutbox, tx, isNew ? directoryFeed.personCreated : directoryFeed.personUpdated, id);
  }
}

export function emitMembership(
  eventOutbox: EventOutbox,
  tx: Tx,
  what: 'created' | 'updated',
  id: number,
  data: OnJourney & { readonly person_id: number; readonly holon_id: number },
): void {
  const event = what === 'created' ? directoryFeed.membershipCreated : directoryFeed.membershipUpdated;
  eventOutbox.add(tx, event, { subject: id, data, access: visibleThrough(data.holon_id) });
}

export function emitRelationship(
  eventOutbox: EventOutbox,
  tx: Tx,
  what: 'created' | 'updated',
  id: number,
  data: OnJourney & { readonly from_holon_id: number; readonly to_holon_id: number },
): void {
  const event = what === 'created' ? directoryFeed.relationshipCreated : directoryFeed.relationshipUpdated;
  eventOutbox.add(tx, event, { subject: id, data, access: visibleThrough(data.from_holon_id, data.to_holon_id) });
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
