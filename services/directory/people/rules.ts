/** Validates new people and detects duplicates (rules/people#create-a-person; D43 to D44). */
import { appError, type AppError, badRequest } from '#libs/errors';
import { isBlank } from '#libs/text';
import { findContactProblem, isEmail, isWebAddress, requireRichText } from '../texts/index.ts';
import type { NewPerson } from './contract.ts';

/** Column values of a new person's row. */
export interface PersonValues {
  readonly name: string;
  readonly description: string;
  readonly photoUrl: string | null;
  readonly actorKind: string;
  /** Contact values by channel, trimmed and without blank values. */
  readonly contact: Readonly<Record<string, string>>;
}

/** Existing people with the addresses of a new person, in ascending order of ids. */
export interface KnownPeople {
  readonly by_email: readonly number[];
  readonly by_linkedin: readonly number[];
}

/** Validates a new person. @throws AppError 400 that describes the problem */
export function checkNewPerson(given: NewPerson): PersonValues {
  const name = given.name.trim();
  if (isBlank(name)) throw badRequest('name must not be blank.');
  const contact = readContact(given.contact ?? {});
  const { email } = contact;
  if (email !== undefined && !isEmail(email)) throw badRequest('contact.email must be an email address.');
  const photoUrl = given.photo_url?.trim() ?? '';
  if (photoUrl !== '' && !isWebAddress(photoUrl)) throw badRequest('photo_url must be an http or https address.');
  return {
    name,
    description: requireRichText('description', given.description ?? ''),
    photoUrl: photoUrl === '' ? null : photoUrl,
    actorKind: given.actor_kind?.trim() || 'human',
    contact,
  };
}

/** @throws AppError 409 `duplicate_person` if an address is in use; a matching email is reported first (D44) */
export function refuseDuplicate(
  { by_email: byEmail, by_linkedin: byLinkedin }: KnownPeople,
  { contact }: NewPerson,
): void {
  if (byEmail.length > 0) throw duplicate('contact.email', contact?.['email'], byEmail);
  if (byLinkedin.length > 0) throw duplicate('contact.linkedin', contact?.['linkedin'], byLinkedin);
}

function duplicate(field: string, value: string | null | undefined, ids: readonly number[]): AppError {
  const details = { match_field: field, match_value: value, existing_person_ids: [...ids] };
  return appError('conflict', 'duplicate_person', `A person with this ${field} already exists.`, details);
}

function readContact(given: NonNullable<NewPerson['contact']>): Record<string, string> {
  const values = Object.entries(given).flatMap(([channel, value]): [string, string][] => {
    const text = typeof value === 'string' ? value.trim() : '';
    const problem = findContactProblem(text);
    if (problem !== undefined) throw badRequest(`contact.${channel} ${problem}.`);
    return text === '' ? [] : [[channel, text]];
  });
  return Object.fromEntries(values);
}
