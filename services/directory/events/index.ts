/** Telling the feed of the directory, in the transaction that changes it (V1, V2, V9). */
import type { FeedAccess, FeedEvent, noData } from '#libs/contract';
import type { EventOutbox } from '#libs/feed';
import type { Tx } from '#libs/orm';
import { directoryFeed } from './contract.ts';
import { listMemberships, listRelationships } from './statements.ts';

/** What is told of. */
export type ToldKind = 'person' | 'holon' | 'membership' | 'relationship';

interface OnJourney {
  readonly journey_id: number | null;
  readonly journey: string | null;
}

/** Everybody who may read the directory reads people (rules/access#access-model). */
const everybody: FeedAccess = { holons: [], people: [] };
const whoSees = (...holons: readonly number[]): FeedAccess => ({ holons, people: [] });

/** Rows that are read for one event each. */
const mostRead = 5_000;

/** These were made, or their values changed: not for what is as it was. Those that are gone again are left out. */
export async function tellWritten(
  eventOutbox: EventOutbox,
  tx: Tx,
  kind: ToldKind,
  what: 'created' | 'updated',
  ids: readonly number[],
): Promise<void> {
  const once = [...new Set(ids)];
  for (let from = 0; from < once.length; from += mostRead) await tellSome(eventOutbox, tx, kind, what, once.slice(from, from + mostRead));
}

async function tellSome(
  eventOutbox: EventOutbox,
  tx: Tx,
  kind: ToldKind,
  what: 'created' | 'updated',
  ids: readonly number[],
): Promise<void> {
  const isNew = what === 'created';
  if (kind === 'membership') {
    for (const { id, ...data } of await listMemberships(tx, { ids })) tellMembership(eventOutbox, tx, what, id, data);
  } else if (kind === 'relationship') {
    for (const { id, ...data } of await listRelationships(tx, { ids })) tellRelationship(eventOutbox, tx, what, id, data);
  } else if (kind === 'holon') {
    const event = isNew ? directoryFeed.holonCreated : directoryFeed.holonUpdated;
    for (const id of ids) eventOutbox.add(tx, event, { subject: id, data: {}, access: whoSees(id) });
  } else {
    for (const id of ids) tellPerson(eventOutbox, tx, isNew ? directoryFeed.personCreated : directoryFeed.personUpdated, id);
  }
}

export function tellMembership(
  eventOutbox: EventOutbox,
  tx: Tx,
  what: 'created' | 'updated',
  id: number,
  data: OnJourney & { readonly person_id: number; readonly holon_id: number },
): void {
  const event = what === 'created' ? directoryFeed.membershipCreated : directoryFeed.membershipUpdated;
  eventOutbox.add(tx, event, { subject: id, data, access: whoSees(data.holon_id) });
}

export function tellRelationship(
  eventOutbox: EventOutbox,
  tx: Tx,
  what: 'created' | 'updated',
  id: number,
  data: OnJourney & { readonly from_holon_id: number; readonly to_holon_id: number },
): void {
  const event = what === 'created' ? directoryFeed.relationshipCreated : directoryFeed.relationshipUpdated;
  eventOutbox.add(tx, event, { subject: id, data, access: whoSees(data.from_holon_id, data.to_holon_id) });
}

/** Who went was read by everybody. */
export function tellErased(eventOutbox: EventOutbox, tx: Tx, id: number): void {
  tellPerson(eventOutbox, tx, directoryFeed.personErased, id);
}

export function tellMerged(
  eventOutbox: EventOutbox,
  tx: Tx,
  { goneId, intoId }: { readonly goneId: number; readonly intoId: number },
): void {
  eventOutbox.add(tx, directoryFeed.personMerged, { subject: goneId, data: { into: intoId }, access: everybody });
}

export interface ToldNote {
  readonly id: number;
  readonly noteType: string;
  readonly personIds: readonly number[];
  readonly holonIds: readonly number[];
  readonly membershipId?: number | undefined;
  readonly relationshipId?: number | undefined;
}

export function tellNote(
  eventOutbox: EventOutbox,
  tx: Tx,
  { id, noteType, personIds, holonIds, membershipId, relationshipId }: ToldNote,
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
  eventOutbox.add(tx, directoryFeed.noteCreated, { subject: id, data, access: whoSees(...holonIds) });
}

function tellPerson(eventOutbox: EventOutbox, tx: Tx, event: FeedEvent<typeof noData>, id: number): void {
  eventOutbox.add(tx, event, { subject: id, data: {}, access: everybody });
}
