/** What memberships and relationships are checked for before they are written (rules/memberships#updates; D46). */
import { isPossibleId } from '#libs/contract';
import { badRequest } from '#libs/errors';
import type { Queryable } from '#libs/sql';
import type { JourneyStep } from '../step-move.ts';
import { findJourneysFor, findPeople } from './statements/facts.ts';

/** @throws AppError 400 unless the person has a user account (rules/memberships#updates). */
export async function checkResponsible(tx: Queryable, personId: number | null | undefined): Promise<void> {
  if (personId === null || personId === undefined) return;
  const [person] = isPossibleId(personId) ? await findPeople(tx, { ids: [personId] }) : [];
  if (person?.has_account !== true) throw badRequest('responsible_person_id must be a person with a user account.');
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
  const [journey] = await findJourneysFor(tx, { holonId, slugs: [slug] });
  if (journey === undefined) throw badRequest(`There is no journey "${slug}".`);
  if (!journey.allowed) throw badRequest(`The journey "${slug}" is not in the catalogue of the holon's class.`);
  return { id: journey.id, steps: JSON.parse(journey.steps) as JourneyStep[] };
}
