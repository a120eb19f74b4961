/** Creates a membership, also in the transaction of another write (rules/people#create-a-person; D43, D43a, W3). */
import { isPossibleId } from '#libs/infrastructure/contract';
import { appError, badRequest } from '#libs/infrastructure/errors';
import type { HistoryContext } from '#libs/product/history';
import { constraintOf, type Tx } from '#libs/infrastructure/orm';
import type { Queryable } from '#libs/infrastructure/sql';
import { emitMembership } from '../events/index.ts';
import type { Viewer } from '../visibility/index.ts';
import {
  checkNewWorkflow,
  findAllowedJourney,
  findPeople,
  lockHolonsOf,
  lockPeopleOf,
  type NewWorkflow,
  type WorkflowDependencies,
} from '../workflow/index.ts';
import { findPresent, insertMemberships, membershipUnique, readMembership } from './statements/writes.ts';

export interface MembershipRequest extends NewWorkflow {
  readonly personId: number;
  readonly holonId: number;
  readonly journeySlug: string;
}

/**
 * Creates a membership. The journey's bulk restriction is ignored.
 * @returns its id
 * @throws AppError 400 when person, holon, journey, step, date or responsible person is invalid, 403 without the right
 * to edit the holon, 409 `already_present`
 */
export async function createMembership(
  { eventOutbox, history }: WorkflowDependencies,
  tx: Tx,
  request: MembershipRequest,
  context: HistoryContext,
): Promise<number> {
  const { personId, holonId, journeySlug, responsiblePersonId } = request;
  const authorPersonId = context.actor?.kind === 'user' ? context.actor.personId : null;
  await lockPeopleOf(tx, [personId, responsiblePersonId, authorPersonId]);
  await lockHolonsOf(tx, [holonId], context.actor);
  const people = isPossibleId(personId) ? await findPeople(tx, { ids: [personId] }) : [];
  if (people.length === 0) throw badRequest('The person does not exist.');
  const journey = await findAllowedJourney(tx, holonId, journeySlug);
  const row = {
    person_id: personId,
    journey_id: journey.id,
    step_id: await checkNewWorkflow(tx, request, journey.steps),
    follow_up_after: request.followUpAfter ?? null,
    responsible_person_id: responsiblePersonId ?? null,
  };
  const [created] = await insertMemberships(tx, { rows: JSON.stringify([row]), holonId });
  if (created === undefined) {
    const [present] = await findPresent(tx, { holonId, personIds: [personId], journeyIds: [journey.id] });
    throw appError('conflict', 'already_present', alreadyThere, { membership_id: present?.id ?? null });
  }
  const data = { person_id: personId, holon_id: holonId, journey_id: journey.id, journey: journeySlug };
  emitMembership(eventOutbox, tx, 'created', created.id, data);
  history.created(tx, context, 'memberships', [created.id]);
  return created.id;
}

/** Returns the JSON text of a Membership with person and holon: as the caller sees it, and for its entity tag. */
export async function getMembershipJson(
  tx: Queryable,
  id: number,
  viewer: Viewer,
): Promise<{ readonly body: string; readonly tag: string }> {
  const row = await readMembership(tx, { id, ...viewer });
  if (row === undefined) throw new Error(`membership ${id} does not exist`);
  return row;
}

/** Translates a violated unique constraint of memberships into an AppError. Returns other errors unchanged. */
export function translateDuplicate(error: unknown): unknown {
  return constraintOf(error) === membershipUnique ? badRequest(alreadyThere) : error;
}

const alreadyThere = 'The person already has a membership on that journey in the same holon.';
