/** Creates one membership inside a transaction, for the operations that may bring one along (rules/people#create-a-person; D43, D43a). */
import { isPossibleId } from '#libs/contract';
import { type AppError, badRequest } from '#libs/errors';
import type { EventOutbox } from '#libs/feed';
import { constraintOf, type Tx } from '#libs/orm';
import type { Queryable } from '#libs/sql';
import { tellMembership } from '../events/index.ts';
import type { Viewer } from '../visibility/index.ts';
import { checkFollowUp, checkResponsible, findActiveStep, findAllowedJourney, findHolon, findNextStep } from '../workflow/index.ts';
import { insertMemberships, membershipUnique, readMembership } from './statements/writes.ts';

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

/**
 * Writes the membership. The person exists; the bulk restriction of the journey does not apply.
 * @returns its id
 * @throws AppError 400 when holon, journey, step, date or responsible person cannot be, or the membership is there already.
 */
export async function createMembership(eventOutbox: EventOutbox, tx: Tx, wish: MembershipWish): Promise<number> {
  const { holonId, stepSlug } = wish;
  checkFollowUp(wish.followUpAfter);
  const holon = isPossibleId(holonId) ? await findHolon(tx, { id: holonId }) : undefined;
  if (holon === undefined) throw badRequest(`There is no holon ${holonId}.`);
  const journey = await findAllowedJourney(tx, holonId, wish.journeySlug);
  const step = stepSlug === undefined ? findNextStep(journey.steps, null) : findActiveStep(journey.steps, stepSlug);
  if (stepSlug !== undefined && step === undefined) throw badRequest(`The journey has no active step "${stepSlug}".`);
  await checkResponsible(tx, wish.responsiblePersonId);
  const row = {
    person_id: wish.personId,
    journey_id: journey.id,
    step_id: step?.id ?? null,
    follow_up_after: wish.followUpAfter ?? null,
    responsible_person_id: wish.responsiblePersonId ?? null,
  };
  const [created] = await insertMemberships(tx, { rows: JSON.stringify([row]), holonId });
  if (created === undefined) throw alreadyThere();
  const data = { person_id: wish.personId, holon_id: holonId, journey_id: journey.id, journey: wish.journeySlug };
  tellMembership(eventOutbox, tx, 'created', created.id, data);
  return created.id;
}

/** A membership as answers to writes show it: JSON text of Membership, with person and holon. */
export async function showMembership(tx: Queryable, id: number, viewer: Viewer): Promise<string> {
  const row = await readMembership(tx, { id, ...viewer });
  if (row === undefined) throw new Error(`membership ${id} is not there`);
  return row.body;
}

/** Tells a broken uniqueness of memberships as what it means to the caller; anything else as it is. */
export function translateDuplicate(error: unknown): unknown {
  return constraintOf(error) === membershipUnique ? alreadyThere() : error;
}

function alreadyThere(): AppError {
  return badRequest('The person has a membership on that journey in the same holon already.');
}
