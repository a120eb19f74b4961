/** People behind the attendees of a booking (D19, D19a). */
import type { RequestOf } from '#libs/contract';
import type { EventOutbox } from '#libs/feed';
import type { Jobs } from '#libs/jobs';
import { appError } from '#libs/errors';
import type { Handler } from '#libs/nats';
import type { Tx } from '#libs/orm';
import type { Queryable } from '#libs/sql';
import { emailKey, isBlank, phoneDigits } from '#libs/text';
import { directory } from '../contract.ts';
import { tellWritten } from '../feed/index.ts';
import { createAttendees, findAttendees, lockAttendees } from './statements.ts';

interface Attendee {
  readonly place: number;
  readonly name: string;
  readonly email: string | null;
  /** Of an attendee without an email. */
  readonly phone: string | null;
  /** Its digits, by which people are found. */
  readonly phone_digits: string | null;
  /** Identity of an attendee without an email and a phone number, so that the same call finds the same person again. */
  readonly origin_key: string | null;
}

type Given = RequestOf<typeof directory.rpcs.resolveAttendees>['attendees'][number];

export interface AttendeeOptions {
  readonly jobs: Jobs;
  readonly eventOutbox: EventOutbox;
  readonly db: Queryable;
}

/** What one event may create (D66). */
const maxNewPeople = 50;

/** Finds by email, ignoring case, or by phone number; the known oldest of several. Parallel calls create nobody twice. */
export function createResolveAttendees({ db, jobs, eventOutbox }: AttendeeOptions): Handler<typeof directory.rpcs.resolveAttendees> {
  return async ({ attendees, create, key }) => {
    const all = attendees.map((attendee, place) => toAttendee(attendee, place, key));
    const found = await find(db, all);
    const unknown = all.filter(({ place }) => !found.has(place));
    if (create && unknown.length > 0) {
      const created = await jobs.transaction(async (tx) => {
        await lockAttendees(tx, { keys: unknown.map(identityOf) });
        const meanwhile = await find(tx, unknown);
        const missing = unknown.filter(({ place }) => !meanwhile.has(place));
        const { size } = new Set(missing.map(identityOf));
        if (size > maxNewPeople) {
          const message = `The event names ${size} people whom nobody knows; at most ${maxNewPeople} are made of one event.`;
          throw appError('conflict', 'too_many_new_people', message);
        }
        const ids = missing.length === 0 ? meanwhile : new Map([...meanwhile, ...(await createMissing(eventOutbox, tx, missing))]);
        if (missing.length > 0) await jobs.emit(tx, directory.events.peopleChanged, { ids: [...new Set(ids.values())] });
        return ids;
      });
      for (const [place, id] of created) found.set(place, id);
    }
    return { person_ids: all.map(({ place }) => found.get(place) ?? null) };
  };
}

function toAttendee({ name, email, phone }: Given, place: number, key: string): Attendee {
  const address = email?.trim() ?? '';
  const digits = address === '' ? phoneDigits(phone ?? '') : '';
  const shown = [name.trim(), address, digits].find((text) => !isBlank(text)) ?? 'Unknown';
  const none = { place, name: shown, email: null, phone: null, phone_digits: null, origin_key: null };
  if (address !== '') return { ...none, email: address };
  if (digits !== '') return { ...none, phone: phone?.trim() ?? null, phone_digits: digits };
  return { ...none, origin_key: `attendee/${key}/${place}/${name.trim()}` };
}

function identityOf({ email, phone_digits: digits, origin_key: originKey }: Attendee): string {
  if (email !== null) return emailKey(email);
  return digits === null ? (originKey ?? '') : `phone/${digits}`;
}

async function find(db: Queryable, attendees: readonly Attendee[]): Promise<Map<number, number>> {
  const rows = await findAttendees(db, { attendees: JSON.stringify(attendees) });
  return new Map(rows.map(({ place, id }) => [place, id]));
}

/** Two attendees with one address are one person. */
async function createMissing(eventOutbox: EventOutbox, tx: Tx, missing: readonly Attendee[]): Promise<Map<number, number>> {
  const groups = [...Map.groupBy(missing, identityOf).values()];
  const firsts = groups.flatMap((group) => group.slice(0, 1));
  const rows = await createAttendees(tx, { attendees: JSON.stringify(firsts) });
  await tellWritten(
    eventOutbox,
    tx,
    'person',
    'created',
    rows.map(({ id }) => id),
  );
  const idOfFirst = new Map(rows.map(({ place, id }) => [place, id]));
  return new Map(groups.flatMap((group) => group.map(({ place }): [number, number] => [place, idOfFirst.get(group[0]?.place ?? -1) ?? 0])));
}
