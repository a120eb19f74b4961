/** People: reads, creation with a first membership and a note (rules/people#create-a-person; D43 to D44), and the people behind attendees (D19, D19a). */
import type { Actor, RequestOf } from '#libs/contract';
import { AppError, appError } from '#libs/errors';
import type { EventOutbox } from '#libs/feed';
import type { IdempotencyStore } from '#libs/idempotency';
import type { Jobs } from '#libs/jobs';
import { type Handler, type HandlersOf, type RawJson, rawJson } from '#libs/nats';
import type { Database, Tx } from '#libs/orm';
import type { Queryable } from '#libs/sql';
import { emailKey, isBlank, phoneDigits } from '#libs/text';
import { getPerson } from '../api-objects/index.ts';
import { peopleEvents } from '../events/contract.ts';
import { tellWritten } from '../events/index.ts';
import { bodyOf, readAfter, readSort, recordPage, sampleShort } from '../lists/index.ts';
import { createMembership, showMembership } from '../memberships/index.ts';
import { createNote, readNote } from '../notes/index.ts';
import { readViewer } from '../visibility/index.ts';
import type { attendeeRpcs, NewPerson, peopleRpcs, PersonListQuery } from './contract.ts';
import { checkNewPerson, type PersonValues, refuseDuplicate } from './rules.ts';
import {
  createAttendees,
  findAttendees,
  findByAddress,
  findPeople,
  findPeopleByKeys,
  getPeople,
  insertPerson,
  listPeople,
  lockAddresses,
  lockAttendees,
} from './statements.ts';

type PeopleReadHandlers = Pick<
  HandlersOf<typeof peopleRpcs>,
  'getPeople' | 'findPeopleByKeys' | 'listPeople' | 'searchPeople' | 'getPerson'
>;

export function createPeopleReadHandlers(db: Database): PeopleReadHandlers {
  const list = async ({ q, sort, limit = recordPage, offset = 0, ...after }: PersonListQuery) => {
    const order = readSort(sort);
    const isFrequent = q === '' || (await sampleShort(db, 'people', q)).name;
    const lists = isFrequent ? listPeople : findPeople;
    return bodyOf(await lists[order](db, { text: q, ...readAfter(after), limit, offset }));
  };
  return {
    listPeople: list,
    searchPeople: list,
    getPeople: async ({ ids }) => bodyOf(await getPeople(db, { ids })),
    findPeopleByKeys: async ({ keys }) => bodyOf(await findPeopleByKeys(db, { keys })),
    getPerson: async ({ person_id: id }) => bodyOf(await getPerson(db, { id })),
  };
}

export function createCreatePerson({
  jobs,
  idempotency,
  eventOutbox,
}: {
  jobs: Jobs;
  idempotency: IdempotencyStore;
  eventOutbox: EventOutbox;
}): Handler<typeof peopleRpcs.createPerson> {
  return async (request, context) => {
    const { actor } = context;
    const viewer = readViewer(actor);
    if (!viewer.seesAll) throw new AppError({ code: 'permission_denied', message: 'Creating people needs global edit access.' });
    const create = async (tx: Tx): Promise<RawJson> => {
      const values = checkNewPerson(request);
      const note = typeof request.note === 'string' ? readNote(request.note) : undefined;
      const { id, person } = await insertUnlessKnown(tx, values, request);
      await tellWritten(eventOutbox, tx, 'person', 'created', [id]);
      const membershipId = await join(eventOutbox, tx, id, request.membership);
      const noteJson = note === undefined ? 'null' : await attachNote(eventOutbox, tx, note, id, membershipId, request, actor);
      const membership = membershipId === undefined ? 'null' : await showMembership(tx, membershipId, viewer);
      await jobs.emit(tx, peopleEvents.peopleChanged, { ids: [id] });
      return rawJson(`{"person":${person},"membership":${membership},"note":${noteJson}}`);
    };
    return idempotency.run(context, request, create, { isAuthorized: true });
  };
}

/** Others who would create somebody with one of the addresses wait, so that they find this one. @throws AppError 409 */
async function insertUnlessKnown(tx: Tx, values: PersonValues, request: NewPerson): Promise<{ id: number; person: string }> {
  const { email, linkedin } = values.contact;
  if (email !== undefined || linkedin !== undefined) {
    await lockAddresses(tx, { email, linkedin });
    refuseDuplicate(await findByAddress(tx, { email, linkedin }), request);
  }
  const { name, description, photoUrl, actorKind, contact } = values;
  return insertPerson(tx, { name, description, photoUrl, actorKind, contact: JSON.stringify(contact) });
}

/** The membership's id; undefined when none is asked for. @throws AppError 400 */
async function join(eventOutbox: EventOutbox, tx: Tx, personId: number, wish: NewPerson['membership']): Promise<number | undefined> {
  if (wish === undefined || wish === null) return undefined;
  return createMembership(eventOutbox, tx, {
    personId,
    holonId: wish.holon_id,
    journeySlug: wish.journey_slug,
    stepSlug: wish.step_slug ?? undefined,
    followUpAfter: wish.follow_up_after,
    responsiblePersonId: wish.responsible_person_id,
  });
}

/** With a membership the note is on the person's and the holon's feed, without one on the person's alone. */
function attachNote(
  eventOutbox: EventOutbox,
  tx: Tx,
  text: string,
  personId: number,
  membershipId: number | undefined,
  { membership }: NewPerson,
  actor: Actor | undefined,
): Promise<string> {
  return createNote(eventOutbox, tx, {
    text,
    authorPersonId: actor?.kind === 'user' ? actor.personId : null,
    ...(membershipId === undefined ? {} : { membershipId }),
    personIds: [personId],
    holonIds: membershipId === undefined || membership === undefined || membership === null ? [] : [membership.holon_id],
  });
}

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

type Given = RequestOf<typeof attendeeRpcs.resolveAttendees>['attendees'][number];

export interface AttendeeOptions {
  readonly jobs: Jobs;
  readonly eventOutbox: EventOutbox;
  readonly db: Queryable;
}

/** What one event may create (D66). */
const maxNewPeople = 50;

/** Finds by email, ignoring case, or by phone number; the known oldest of several. Parallel calls create nobody twice. */
export function createResolveAttendees({ db, jobs, eventOutbox }: AttendeeOptions): Handler<typeof attendeeRpcs.resolveAttendees> {
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
        if (missing.length > 0) await jobs.emit(tx, peopleEvents.peopleChanged, { ids: [...new Set(ids.values())] });
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
