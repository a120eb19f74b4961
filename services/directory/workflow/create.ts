/** Checks of new memberships and relationships (W3). */
import { type Actor, isPossibleId } from '#libs/infrastructure/contract';
import { AppError, badRequest } from '#libs/infrastructure/errors';
import type { Tx } from '#libs/infrastructure/orm';
import { lockPeopleForShare } from '../person-rows/index.ts';
import { readViewer } from '../visibility/index.ts';
import { checkFollowUp, findActiveStep, findNextStep, type JourneyStep } from './rules.ts';
import { findHolons } from './statements.ts';
import { checkResponsible } from './update.ts';

export interface NewWorkflow {
  /** Slug of the step. By default the first active step, or no step if the journey has none. */
  readonly stepSlug?: string | null | undefined;
  /** Follow-up date as `YYYY-MM-DD`. */
  readonly followUpAfter?: string | null | undefined;
  readonly responsiblePersonId?: number | null | undefined;
}

/** Share-locks the people of a new row, in the order of `person-rows`. */
export async function lockPeopleOf(tx: Tx, people: readonly (number | null | undefined)[]): Promise<void> {
  const personIds = people.map((id) => id ?? 0).filter(isPossibleId);
  await lockPeopleForShare(tx, { personIds, membershipId: null });
}

/**
 * Share-locks the holons of a new row.
 * @throws AppError 400 for an unknown or invisible holon, 403 when the caller can edit none of them
 */
export async function lockHolonsOf(tx: Tx, ids: readonly number[], actor: Actor | undefined): Promise<void> {
  const holons = await findHolons(tx, { ids: ids.filter(isPossibleId), ...readViewer(actor) });
  const visible = new Set(holons.filter((holon) => holon.visible).map(({ id }) => id));
  if (!ids.every((id) => visible.has(id))) throw badRequest('The holon does not exist.');
  if (!holons.some(({ editable }) => editable))
    throw new AppError({ code: 'permission_denied', message: 'You cannot edit this holon.' });
}

/** Returns the first step of a new row; null if the journey has no active step. @throws AppError 400 */
export async function checkNewWorkflow(
  tx: Tx,
  { stepSlug, followUpAfter, responsiblePersonId }: NewWorkflow,
  steps: readonly JourneyStep[],
): Promise<number | null> {
  checkFollowUp(followUpAfter);
  await checkResponsible(tx, responsiblePersonId);
  if (stepSlug === undefined || stepSlug === null) return findNextStep(steps, null)?.id ?? null;
  const step = findActiveStep(steps, stepSlug);
  if (step === undefined) throw badRequest(`The journey has no active step "${stepSlug}".`);
  return step.id;
}
