/** Finds people by what identifies them, and a person's identifiers in all services. */
import { isPossibleId, type ReplyOf } from '#libs/infrastructure/contract';
import type { Queryable } from '#libs/infrastructure/sql';
import { maxNamesakes, type personDataRpcs } from './contract.ts';
import {
  findErasure,
  findFormerId,
  findIdentity,
  findMergedInto,
  findPeopleByEmail,
  findPeopleByName,
  findPeopleByPhone,
  findPersonByAlias,
  findPersonById,
  findPersonByKeyOf,
} from './statements.ts';

export interface PersonIdentity {
  readonly id: number;
  /** Null if the person was erased. */
  readonly name: string | null;
  readonly emails: string[];
  readonly account_ids: number[];
  readonly digest: string | null;
  readonly former: { person_id: number; digest: string }[];
  readonly telegram_user_ids: number[];
}

/** Returns the identifiers of a person in all services. */
export async function findPersonIdentity(db: Queryable, id: number): Promise<PersonIdentity> {
  const person = await findPersonById(db, { id });
  const { emails, account_ids: accounts, telegram, digest, former } = await findIdentity(db, { personId: id });
  return {
    id,
    name: person?.name ?? null,
    emails: [...emails],
    account_ids: [...accounts],
    digest,
    former: JSON.parse(former) as PersonIdentity['former'],
    telegram_user_ids: telegram.map(Number),
  };
}

/** Returns the person with this id, or the surviving person of a merged one. */
export async function findSurvivor(db: Queryable, id: number): Promise<IdentifiedPerson | undefined> {
  return (await findPersonById(db, { id })) ?? (await findMergedInto(db, { mergedId: id }));
}

interface IdentifiedPerson {
  readonly id: number;
  /** Null if the person was erased. */
  readonly name: string | null;
}

type Found = ReplyOf<typeof personDataRpcs.findPeople>['items'];

/**
 * Returns the people with this id, workspace key, email, phone number or name: those of the first kind that any person
 * has. Ids, keys and emails of merged people return the surviving person; ids also return erased people.
 */
export async function findPeople(db: Queryable, identifier: string): Promise<Found> {
  const isNumber = /^[1-9][0-9]{0,9}$/.test(identifier);
  const hasSign = identifier.includes('@');
  const limit = maxNamesakes;
  const kinds: readonly [Found[number]['matched'], boolean, () => Promise<readonly IdentifiedPerson[]>][] = [
    ['id', isNumber, () => findById(db, Number(identifier))],
    ['key', true, async () => listOf(await findPersonByKeyOf(db, { key: identifier }))],
    ['email', hasSign, () => findPeopleByEmail(db, { email: identifier, limit })],
    [hasSign ? 'email' : 'key', true, async () => listOf(await findPersonByAlias(db, { alias: identifier }))],
    ['phone', !isNumber && phonePattern.test(identifier), () => findPeopleByPhone(db, { phone: identifier, limit })],
    ['name', !isNumber, () => findPeopleByName(db, { name: identifier, limit })],
  ];
  for (const [matched, isPossible, find] of kinds) {
    const people = isPossible ? await find() : [];
    const [first] = people;
    if (first === undefined) continue;
    const former = people.length > 1 ? undefined : await findFormerId(db, { identifier, intoId: first.id });
    return people.map(({ id, name }) => ({ id, name, matched, merged_id: former?.gone_id ?? null }));
  }
  return [];
}

/** Text that can be a phone number, with at least five digits as in the search (D87). */
const phonePattern = /^(tel:)?[+()./ -]*([0-9][+()./ -]*){5,}$/;

async function findById(db: Queryable, id: number): Promise<readonly IdentifiedPerson[]> {
  if (!isPossibleId(id)) return [];
  const person = await findSurvivor(db, id);
  if (person !== undefined) return [person];
  // An erasure that was interrupted after the directory's last step can be resumed only by id.
  return (await findErasure(db, { personId: id })) === undefined ? [] : [{ id, name: null }];
}

const listOf = <Item>(item: Item | undefined): Item[] => (item === undefined ? [] : [item]);
