/** Creates a membership in the transaction of another write (rules/people#create-a-person; D43, D43a). */
import { isPossibleId } from '#libs/contract';
import { type AppError, badRequest } from '#libs/errors';
import type { EventOutbox } from '#libs/feed';
import { constraintOf, type Tx } from '#libs/orm';
import type { Queryable } from '#libs/sql';
import { emitMembership } from '../events/index.ts';
import type { Viewer } from '../visibility/index.ts';
import {
  checkFollowUp,
  checkResponsible,
  findActiveStep,
  findAllowedJourney,
  findHolon,
  findNextStep,
} from '../workflow/index.ts';
import { insertMemberships, membershipUnique, readMembership } from './statements/writes.ts';

export interface MembershipRequest {
  readonly personId: number;
  readonly holonId: number;
  readonly journeySlug: string;
  /** Slug of the step. By default the first active step, or no step if the journey has none. */
  readonly stepSlug?: string | undefined;
  /** Follow-up date as `YYYY-MM-DD`. */
  readonly followUpAfter?: string | null | undefined;
  readonly responsiblePersonId?: number | null | undefined;
}

/**
 * Creates a membership of an existing person. The journey's bulk restriction is ignored.
 * @returns its id
 * @throws AppError 400 when holon, journey, step, date or responsible person is invalid, or the membership exists
 */
export async function createMembership(eventOutbox: EventOutbox, tx: Tx, request: MembershipRequest): Promise<number> {
  const { holonId, stepSlug } = request;
  checkFollowUp(request.followUpAfter);
  const holon = isPossibleId(holonId) ? await findHolon(tx, { id: holonId }) : undefined;
  if (holon === undefined) throw badRequest(`Holon ${holonId} does not exist.`);
  const journey = await findAllowedJourney(tx, holonId, request.journeySlug);
  const step = stepSlug === undefined ? findNextStep(journey.steps, null) : findActiveStep(journey.steps, stepSlug);
  if (stepSlug !== undefined && step === undefined) throw badRequest(`The journey has no active step "${stepSlug}".`);
  await checkResponsible(tx, request.responsiblePersonId);
  const row = {
    person_id: request.personId,
    journey_id: journey.id,
    step_id: step?.id ?? null,
    follow_up_after: request.followUpAfter ?? null,
    responsible_person_id: request.responsiblePersonId ?? null,
  };
  const [created] = await insertMemberships(tx, { rows: JSON.stringify([row]), holonId });
  if (created === undefined) throw alreadyThere();
  const data = { person_id: request.personId, holon_id: holonId, journey_id: journey.id, journey: request.journeySlug };
  emitMembership(eventOutbox, tx, 'created', created.id, data);
  return created.id;
}

/** Returns the JSON text of a Membership with person and holon. */
export async function getMembershipJson(tx: Queryable, id: number, viewer: Viewer): Promise<string> {
  const row = await readMembership(tx, { id, ...viewer });
  if (row === undefined) throw new Error(`membership ${id} does not exist`);
  return row.body;
}

/** Translates a violated unique constraint of memberships into an AppError. Returns other errors unchanged. */
export function translateDuplicate(error: unknown): unknown {
  return constraintOf(error) === membershipUnique ? alreadyThere() : error;
}

function alreadyThere(): AppError {
  return badRequest('The person already has a membership on that journey in the same holon.');
}
