/**
 * Handlers of people: reads, creation with a first membership and a note (rules/people#create-a-person; D43 to D44),
 * and the people of booking attendees (D19, D19a).
 */
import { randomBytes } from 'node:crypto';
import type { Actor, RequestOf } from '#libs/infrastructure/contract';
import { AppError, appError } from '#libs/infrastructure/errors';
import { entityTag } from '#libs/infrastructure/etag';
import type { EventOutbox } from '#libs/infrastructure/feed';
import { historyContextOfJob } from '#libs/product/history';
import { type Handler, type HandlersOf, rawJson, type RequestContext, withEtag } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import type { Queryable } from '#libs/infrastructure/sql';
import { emailKey, isBlank, phoneDigits } from '#libs/infrastructure/text';
import type { Dependencies } from '../dependencies.ts';
import { getPerson } from '../api-objects/index.ts';
import { peopleEvents } from '../events/contract.ts';
import { emitWritten } from '../events/index.ts';
import { bodyOf, readAfter, readSort, recordPage, sampleShort } from '../lists/index.ts';
import { createMembership, getMembershipJson } from '../memberships/index.ts';
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
import { createUpdatePerson } from './update.ts';

type PeopleReadHandlers = Pick<
  HandlersOf<typeof peopleRpcs>,
  'getPeople' | 'findPeopleByKeys' | 'listPeople' | 'getPerson'
>;

export function createPeopleHandlers(
  deps: Pick<Dependencies, 'db' | 'jobs' | 'idempotency' | 'eventOutbox' | 'history'>,
): HandlersOf<typeof peopleRpcs & typeof attendeeRpcs> {
  return {
    ...createReadHandlers(deps),
    createPerson: createCreatePerson(deps),
    updatePerson: createUpdatePerson(deps),
    resolveAttendees: createResolveAttendees(deps),
  };
}

function createReadHandlers({ db }: Pick<Dependencies, 'db'>): PeopleReadHandlers {
  const list = async ({ q, sort, limit = recordPage, offset = 0, ...after }: PersonListQuery) => {
    const order = readSort(sort);
    const isFrequent = q === '' || (await sampleShort(db, 'people', q)).name;
    const lists = isFrequent ? listPeople : findPeople;
    return bodyOf(await lists[order](db, { text: q, ...readAfter(after), limit, offset }));
  };
  return {
    listPeople: list,
    getPeople: async ({ ids }) => bodyOf(await getPeople(db, { ids })),
    findPeopleByKeys: async ({ keys }) => bodyOf(await findPeopleByKeys(db, { keys })),
    getPerson: async ({ person_id: id }) => bodyOf(await getPerson(db, { id })),
  };
}

function createCreatePerson(
  deps: Pick<Dependencies, 'jobs' | 'idempotency' | 'eventOutbox' | 'history'>,
): Handler<typeof peopleRpcs.createPerson> {
  const { jobs, idempotency, eventOutbox, history } = deps;
  return async (request, context) => {
    const { actor } = context;
    const viewer = readViewer(actor);
    if (!viewer.seesAll)
      throw new AppError({ code: 'permission_denied', message: 'Creating people requires global edit access.' });
    const create = async (tx: Tx) => {
      const values = checkNewPerson(request);
      const note = typeof request.note === 'string' ? readNote(request.note) : undefined;
      const { id, person } = await insertUnlessKnown(tx, values, request);
      history.created(tx, context, 'people', [id]);
      await emitWritten(eventOutbox, tx, 'person', 'created', [id]);
      const membershipId = await addFirstMembership(deps, tx, id, request.membership, context);
      const noteJson =
        note === undefined ? 'null' : await attachNote(eventOutbox, tx, note, id, membershipId, request, actor);
      const membership = membershipId === undefined ? 'null' : (await getMembershipJson(tx, membershipId, viewer)).body;
      await jobs.emit(tx, peopleEvents.peopleChanged, { ids: [id] });
      return withEtag(rawJson(`{"person":${person},"membership":${membership},"note":${noteJson}}`), entityTag(person));
    };
    return idempotency.run(context, request, create, { isAuthorized: true });
  };
}

/** Inserts a person and locks the addresses, so that concurrent creations see this person. @throws AppError 409 */
async function insertUnlessKnown(
  tx: Tx,
  values: PersonValues,
  request: NewPerson,
): Promise<{ id: number; person: string }> {
  const { email, linkedin } = values.contact;
  if (email !== undefined || linkedin !== undefined) {
    await lockAddresses(tx, { email, linkedin });
    refuseDuplicate(await findByAddress(tx, { email, linkedin, exceptId: null }), request);
  }
  const { name, description, photoUrl, actorKind, contact } = values;
  // A key without personal data, so that workspace files can name the person (W11).
  const key = `person-${randomBytes(8).toString('hex')}`;
  return insertPerson(tx, { key, name, description, photoUrl, actorKind, contact: JSON.stringify(contact) });
}

/**
 * Adds the first membership of a new person. Returns its id, or undefined if none was requested. @throws AppError 400
 */
async function addFirstMembership(
  deps: Pick<Dependencies, 'eventOutbox' | 'history'>,
  tx: Tx,
  personId: number,
  request: NewPerson['membership'],
  context: RequestContext,
): Promise<number | undefined> {
  if (request === undefined || request === null) return undefined;
  const membership = {
    personId,
    holonId: request.holon_id,
    journeySlug: request.journey_slug,
    stepSlug: request.step_slug,
    followUpAfter: request.follow_up_after,
    responsiblePersonId: request.responsible_person_id,
  };
  return createMembership(deps, tx, membership, context);
}

/** With a membership the note is in the feeds of person and holon, otherwise only in the person's. */
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
    holonIds:
      membershipId === undefined || membership === undefined || membership === null ? [] : [membership.holon_id],
  });
}

interface Attendee {
  readonly position: number;
  readonly name: string;
  readonly email: string | null;
  /** Set only for attendees without an email. */
  readonly phone: string | null;
  /** Digits of the phone number, for matching. */
  readonly phone_digits: string | null;
  /** Identity of an attendee without email and phone, so that a repeated call finds the same person. */
  readonly origin_key: string | null;
}

type AttendeeRequest = RequestOf<typeof attendeeRpcs.resolveAttendees>['attendees'][number];

/** Maximum people created per booking (D66). */
const maxNewPeople = 50;

/**
 * Finds the person of each attendee by email (case-insensitive) or phone number; of several people the oldest.
 * Concurrent calls create no duplicates.
 */
function createResolveAttendees({
  db,
  jobs,
  eventOutbox,
  history,
}: Pick<Dependencies, 'db' | 'jobs' | 'eventOutbox' | 'history'>): Handler<typeof attendeeRpcs.resolveAttendees> {
  return async ({ attendees, create, key }) => {
    const all = attendees.map((attendee, position) => toAttendee(attendee, position, key));
    const found = await find(db, all);
    const unknown = all.filter(({ position }) => !found.has(position));
    if (create && unknown.length > 0) {
      const created = await jobs.transaction(async (tx) => {
        await lockAttendees(tx, { keys: unknown.map(identityOf) });
        const meanwhile = await find(tx, unknown);
        const missing = unknown.filter(({ position }) => !meanwhile.has(position));
        const { size } = new Set(missing.map(identityOf));
        if (size > maxNewPeople) {
          const message = `The booking has ${size} unknown people. At most ${maxNewPeople} are created per booking.`;
          throw appError('conflict', 'too_many_new_people', message);
        }
        const ids =
          missing.length === 0
            ? meanwhile
            : new Map([...meanwhile, ...(await createMissing({ eventOutbox, history }, tx, missing))]);
        if (missing.length > 0) await jobs.emit(tx, peopleEvents.peopleChanged, { ids: [...new Set(ids.values())] });
        return ids;
      });
      for (const [position, id] of created) found.set(position, id);
    }
    return { person_ids: all.map(({ position }) => found.get(position) ?? null) };
  };
}

function toAttendee({ name, email, phone }: AttendeeRequest, position: number, key: string): Attendee {
  const address = email?.trim() ?? '';
  const digits = address === '' ? phoneDigits(phone ?? '') : '';
  const displayName = [name.trim(), address, digits].find((text) => !isBlank(text)) ?? 'Unknown';
  const base = { position, name: displayName, email: null, phone: null, phone_digits: null, origin_key: null };
  if (address !== '') return { ...base, email: address };
  if (digits !== '') return { ...base, phone: phone?.trim() ?? null, phone_digits: digits };
  return { ...base, origin_key: `attendee/${key}/${position}/${name.trim()}` };
}

function identityOf({ email, phone_digits: digits, origin_key: originKey }: Attendee): string {
  if (email !== null) return emailKey(email);
  return digits === null ? (originKey ?? '') : `phone/${digits}`;
}

async function find(db: Queryable, attendees: readonly Attendee[]): Promise<Map<number, number>> {
  const rows = await findAttendees(db, { attendees: JSON.stringify(attendees) });
  return new Map(rows.map(({ position, id }) => [position, id]));
}

/** Creates the missing people. Attendees with the same address are one person. */
async function createMissing(
  { eventOutbox, history }: Pick<Dependencies, 'eventOutbox' | 'history'>,
  tx: Tx,
  missing: readonly Attendee[],
): Promise<Map<number, number>> {
  const groups = [...Map.groupBy(missing, identityOf).values()];
  const firsts = groups.flatMap((group) => group.slice(0, 1));
  const rows = await createAttendees(tx, { attendees: JSON.stringify(firsts) });
  const ids = rows.map(({ id }) => id);
  history.created(tx, historyContextOfJob, 'people', ids);
  await emitWritten(eventOutbox, tx, 'person', 'created', ids);
  const idOfFirst = new Map(rows.map(({ position, id }) => [position, id]));
  return new Map(
    groups.flatMap((group) =>
      group.map(({ position }): [number, number] => [position, idOfFirst.get(group[0]?.position ?? -1) ?? 0]),
    ),
  );
}
