/** Finds the people that commands name by id, key, email, phone number or name. */
import { InvalidArgumentError } from 'commander';
import { appError } from '#libs/infrastructure/errors';
import type { FindPeopleReply } from '../../clients/typescript/operations.ts';
import type { CliContext } from '../context.ts';

/** A person; `merged_id` is the former id when the identifier belonged to a person who was merged into this one. */
export type FoundPerson = FindPeopleReply['body']['items'][number];

/** Chats that the operator names, since visitors of the chat page have no account. */
export interface ChatOptions {
  readonly visitor?: string[];
  readonly telegramUser?: number[];
}

/** @throws AppError `person_not_found`, `person_ambiguous` */
export async function findPerson(context: CliContext, text: string): Promise<FoundPerson> {
  const identifier = text.trim();
  const { items } = (await context.http((api) => api.findPeople({ query: { identifier } }))).body;
  const [person, ...others] = items;
  if (person === undefined)
    throw appError(
      'not_found',
      'person_not_found',
      `No person has the id, key, email, phone number or name "${identifier}".`,
    );
  if (others.length === 0) return person;
  const ids = items.map(({ id }) => id);
  const message = `Several people have the ${person.matched} "${identifier}": ${ids.join(', ')}. Use an id.`;
  throw appError('conflict', 'person_ambiguous', message, { person_ids: ids });
}

/** Finds a person; ids of merged people are not found. @throws AppError as `findPerson` */
export async function identifyPerson(context: CliContext, text: string): Promise<FoundPerson> {
  const person = await findPerson(context, text);
  const { id, merged_id: mergedId } = person;
  if (mergedId === null || String(mergedId) !== text.trim()) return person;
  throw appError('not_found', 'person_not_found', `Person ${mergedId} was merged into person ${id}.`);
}

/** Returns the id of a person. Numbers are ids, also of people that do not exist. @throws AppError as `findPerson` */
export async function findPersonId(context: CliContext, text: string): Promise<number> {
  return /^[1-9]\d{0,9}$/.test(text) ? Number(text) : (await findPerson(context, text)).id;
}

export const describePerson = ({ id, name }: Pick<FoundPerson, 'id' | 'name'>): string =>
  name === null ? `person ${id}` : `person ${id} (${name})`;

export const chatsOf = ({ visitor, telegramUser }: ChatOptions) => ({
  ...(visitor === undefined ? {} : { visitor_ids: visitor }),
  ...(telegramUser === undefined ? {} : { telegram_user_ids: telegramUser }),
});

export const collectText = (value: string, known: string[] | undefined): string[] => [...(known ?? []), value];

export function collectNumber(value: string, known: number[] | undefined): number[] {
  const number = Number(value);
  if (!/^[1-9][0-9]*$/.test(value) || !Number.isSafeInteger(number))
    throw new InvalidArgumentError('must be a positive integer.');
  return [...(known ?? []), number];
}
