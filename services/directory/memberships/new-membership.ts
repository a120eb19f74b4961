/** Creates one membership inside a transaction, for the operations that may bring one along (rules/people#create-a-person; D43, D43a). */
import { AppError } from '#libs/errors';
import { constraintOf, type Queryable } from '#libs/orm';
import { checkFollowUp } from '../follow-up.ts';
import { readNote } from '../notes/rules.ts';
import { findActiveStep, findNextStep, type JourneyStep } from '../step-move.ts';
import type { ViewerParameters } from '../viewer.ts';
import { insertMemberships, insertNote, membershipUnique, readMembership } from './statements/writes.ts';
import { findAccountable, findHolon, findJourneysFor, type JourneyRow } from '../workflow/statements/facts.ts';

/** Largest id that a row can have. */
const maxId = 2_147_483_647;

export interface MembershipWish {
  readonly personId: number;
  readonly holonId: number;
  readonly journeySlug: string;
  /** Default: the first active step, none when the journey has none. */
  readonly stepSlug?: string | undefined;
  /** `YYYY-MM-DD`. */
  readonly followUpAfter?: string | null | undefined;
  readonly responsiblePersonId?: number | null | undefined;
}

/** True for an integer that a row may have as its id; any other is as absent as an unknown one. */
export function isPossibleId(id: number): boolean {
  return id >= 1 && id <= maxId;
}

/** @throws AppError 400 unless the person has a user account (rules/memberships#updates). */
export async function checkResponsible(tx: Queryable, personId: number | null | undefined): Promise<void> {
  if (personId === null || personId === undefined) return;
  const found = isPossibleId(personId) ? await tx.query<{ id: number }>(findAccountable, [[personId]]) : [];
  if (found.length === 0) throw refuse('responsible_person_id must be a person with a user account.');
}

/**
 * A journey that the effective catalogue of the holon's class has, with its steps.
 * @throws AppError 400 when it is unknown or not in the catalogue.
 */
export async function findAllowedJourney(
  tx: Queryable,
  holonId: number,
  slug: string,
): Promise<{ id: number; steps: readonly JourneyStep[] }> {
  const [journey] = await tx.query<JourneyRow>(findJourneysFor, [holonId, [slug]]);
  if (journey === undefined) throw refuse(`There is no journey "${slug}".`);
  if (!journey.allowed) throw refuse(`The journey "${slug}" is not in the catalogue of the holon's class.`);
  return { id: journey.id, steps: JSON.parse(journey.steps) as JourneyStep[] };
}

/**
 * Writes the membership. The person exists; the bulk restriction of the journey does not apply.
 * @returns its id
 * @throws AppError 400 when holon, journey, step, date or responsible person cannot be, or the membership is there already.
 */
export async function createMembership(tx: Queryable, wish: MembershipWish): Promise<number> {
  const { holonId, stepSlug } = wish;
  checkFollowUp(wish.followUpAfter);
  const [holon] = isPossibleId(holonId) ? await tx.query<{ id: number }>(findHolon, [holonId]) : [];
  if (holon === undefined) throw refuse(`There is no holon ${holonId}.`);
  const journey = await findAllowedJourney(tx, holonId, wish.journeySlug);
  const step = stepSlug === undefined ? findNextStep(journey.steps, null) : findActiveStep(journey.steps, stepSlug);
  if (stepSlug !== undefined && step === undefined) throw refuse(`The journey has no active step "${stepSlug}".`);
  await checkResponsible(tx, wish.responsiblePersonId);
  const row = {
    person_id: wish.personId,
    journey_id: journey.id,
    step_id: step?.id ?? null,
    follow_up_after: wish.followUpAfter ?? null,
    responsible_person_id: wish.responsiblePersonId ?? null,
  };
  const [created] = await tx.query<{ id: number }>(insertMemberships, [JSON.stringify([row]), holonId]);
  if (created === undefined) throw alreadyThere();
  return created.id;
}

export interface NewNote {
  /** As the caller sent it. */
  readonly text: string;
  readonly authorPersonId: number | null;
  readonly membershipId?: number;
  readonly relationshipId?: number;
  /** Feeds that it is written into. */
  readonly personIds: readonly number[];
  readonly holonIds: readonly number[];
}

/** Writes a note into the feeds. @returns the NoteItem as JSON text. @throws AppError 400 when nothing is left of the trimmed text. */
export async function createNote(tx: Queryable, note: NewNote): Promise<string> {
  const [row] = await tx.query<{ body: string }>(insertNote, [
    readNote(note.text),
    note.authorPersonId,
    note.membershipId ?? null,
    note.relationshipId ?? null,
    note.personIds,
    note.holonIds,
  ]);
  if (row === undefined) throw new Error('the note was not written');
  return row.body;
}

/** A membership as answers to writes show it: JSON text of Membership, with person and holon. */
export async function showMembership(tx: Queryable, id: number, viewer: ViewerParameters): Promise<string> {
  const [row] = await tx.query<{ body: string }>(readMembership, [id, ...viewer]);
  if (row === undefined) throw new Error(`membership ${id} is not there`);
  return row.body;
}

/** Tells a broken uniqueness of memberships as what it means to the caller; anything else as it is. */
export function translateDuplicate(error: unknown): unknown {
  return constraintOf(error) === membershipUnique ? alreadyThere() : error;
}

function alreadyThere(): AppError {
  return refuse('The person has a membership on that journey in the same holon already.');
}

function refuse(message: string): AppError {
  return new AppError({ code: 'bad_request', message });
}
