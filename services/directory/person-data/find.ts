/** Finds a person by id, key or email, and the person's identifiers in all services. */
import { isPossibleId } from '#libs/contract';
import { appError } from '#libs/errors';
import type { Queryable } from '#libs/sql';
import {
  findErasure,
  findIdentity,
  findMergedInto,
  findPeopleByEmail,
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

/**
 * Finds a person by id, key or email. @param merged whether ids, keys and emails (`names`) of merged people resolve to
 * the surviving person
 * @throws AppError 404 `person_not_found`, 409 `person_ambiguous`
 */
export async function findPerson(
  db: Queryable,
  reference: string,
  merged: { readonly ids: boolean; readonly names: boolean } = { ids: false, names: false },
): Promise<{ id: number; name: string | null }> {
  const id = /^[1-9][0-9]{0,9}$/.test(reference) ? Number(reference) : undefined;
  if (id !== undefined && isPossibleId(id)) {
    const byId = await findPersonById(db, { id });
    if (byId !== undefined) return byId;
    const now = merged.ids ? await findMergedInto(db, { mergedId: id }) : undefined;
    if (now !== undefined) return now;
    // An erasure that was interrupted after the directory's last step can be resumed only by id.
    if ((await findErasure(db, { personId: id })) !== undefined) return { id, name: null };
  }
  const byKey = await findPersonByKeyOf(db, { key: reference });
  if (byKey !== undefined) return byKey;
  const [first, ...others] = reference.includes('@') ? await findPeopleByEmail(db, { email: reference }) : [];
  const former = first === undefined && merged.names ? await findPersonByAlias(db, { alias: reference }) : undefined;
  if (former !== undefined) return former;
  if (first === undefined)
    throw appError('not_found', 'person_not_found', `No person has the id, key or email "${reference}".`);
  if (others.length === 0) return first;
  const ids = [first, ...others].map((person) => person.id);
  throw appError('conflict', 'person_ambiguous', `Several people have that email: ${ids.join(', ')}. Use an id.`, {
    person_ids: ids,
  });
}
