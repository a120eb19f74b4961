/** Validates new people and detects duplicates (rules/people#create-a-person; D43 to D44). */
import { appError, type AppError, badRequest } from '#libs/infrastructure/errors';
import { isBlank } from '#libs/infrastructure/text';
import { findContactProblem, isEmail, isWebAddress, requireRichText } from '../texts/index.ts';
import type { NewPerson, PersonUpdate } from './contract.ts';

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
  const name = readName(given.name);
  const contact = Object.fromEntries(
    Object.entries(readContact(given.contact ?? {})).filter((entry): entry is [string, string] => entry[1] !== null),
  );
  return {
    name,
    photoUrl: readPhoto(given.photo_url),
    description: requireRichText('description', given.description ?? ''),
    actorKind: given.actor_kind?.trim() || 'human',
    contact,
  };
}

/** Column values of an update. Undefined values remain unchanged; channels with null are removed. */
export interface PersonChange {
  readonly name: string | undefined;
  readonly description: string | undefined;
  readonly photoUrl: string | null | undefined;
  readonly contact: Readonly<Record<string, string | null>>;
}

/** Validates an update. @throws AppError 400 that names the field */
export function checkPersonUpdate(given: PersonUpdate): PersonChange {
  return {
    name: given.name === undefined ? undefined : readName(given.name),
    description: given.description === undefined ? undefined : requireRichText('description', given.description),
    photoUrl: given.photo_url === undefined ? undefined : readPhoto(given.photo_url),
    contact: readContact(given.contact ?? {}),
  };
}

/** @throws AppError 409 `duplicate_person` if an address is in use; a matching email is reported first (D44) */
export function refuseDuplicate(
  { by_email: byEmail, by_linkedin: byLinkedin }: KnownPeople,
  { contact }: Pick<NewPerson, 'contact'>,
): void {
  if (byEmail.length > 0) throw duplicate('contact.email', contact?.['email'], byEmail);
  if (byLinkedin.length > 0) throw duplicate('contact.linkedin', contact?.['linkedin'], byLinkedin);
}

function duplicate(field: string, value: string | null | undefined, ids: readonly number[]): AppError {
  const details = { match_field: field, match_value: value, existing_person_ids: [...ids] };
  return appError('conflict', 'duplicate_person', `A person with this ${field} already exists.`, details);
}

function readName(given: string): string {
  const name = given.trim();
  if (isBlank(name)) throw badRequest('name must not be blank.');
  return name;
}

function readPhoto(given: string | null | undefined): string | null {
  const url = given?.trim() ?? '';
  if (url !== '' && !isWebAddress(url)) throw badRequest('photo_url must be an http or https address.');
  return url === '' ? null : url;
}

/** Returns the trimmed values by channel, null for blank ones. @throws AppError 400 that names the channel */
function readContact(given: NonNullable<NewPerson['contact']>): Record<string, string | null> {
  const values = Object.entries(given).map(([channel, value]): [string, string | null] => {
    const text = typeof value === 'string' ? value.trim() : '';
    const problem = findContactProblem(text);
    if (problem !== undefined) throw badRequest(`contact.${channel} ${problem}.`);
    if (channel === 'email' && text !== '' && !isEmail(text))
      throw badRequest('contact.email must be an email address.');
    return [channel, text === '' ? null : text];
  });
  return Object.fromEntries(values);
}
