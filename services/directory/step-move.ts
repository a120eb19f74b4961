/** Where a membership or a relationship goes on its journey (rules/memberships#updates). */
import { badRequest } from '#libs/errors';

/** A step of a journey. */
export interface JourneyStep {
  readonly id: number;
  readonly slug: string;
  readonly position: number;
  readonly is_archived: boolean;
}

/** The step controls of an update. */
export interface StepControls {
  readonly step_slug?: string | undefined;
  readonly advance_step?: boolean | undefined;
  readonly journey_slug?: string | undefined;
}

/** @throws AppError 400 when the controls exclude each other or one needs another. */
export function checkStepControls({ step_slug: step, advance_step: advance, journey_slug: journey }: StepControls): void {
  if (advance === true && step !== undefined) throw badRequest('advance_step cannot be combined with step_slug.');
  if (advance === true && journey !== undefined) throw badRequest('advance_step cannot be combined with journey_slug.');
  if (journey !== undefined && step === undefined) throw badRequest('journey_slug needs step_slug.');
}

/** The step with this slug; an archived one cannot be a target. */
export function findActiveStep<Step extends JourneyStep>(steps: readonly Step[], slug: string): Step | undefined {
  return steps.find((step) => step.slug === slug && !step.is_archived);
}

/** The next active step by (order, id) after the current one, archived or not; the first when there is none. */
export function findNextStep<Step extends JourneyStep>(steps: readonly Step[], currentId: number | null): Step | undefined {
  const active = steps.filter((step) => !step.is_archived).toSorted(compareSteps);
  if (currentId === null) return active[0];
  const current = steps.find(({ id }) => id === currentId);
  return current === undefined ? undefined : active.find((step) => compareSteps(step, current) > 0);
}

function compareSteps(left: JourneyStep, right: JourneyStep): number {
  return left.position - right.position || left.id - right.id;
}

/**
 * The step that an update moves to; undefined = it stays where it is.
 * @param steps those of the journey that is meant
 * @param currentId present step, null = none
 * @throws AppError 400 when there is no such active step or no next one.
 */
export function chooseStep(controls: StepControls, steps: readonly JourneyStep[], currentId: number | null): JourneyStep | undefined {
  if (controls.advance_step === true) {
    const next = findNextStep(steps, currentId);
    if (next === undefined) throw badRequest('There is no next step.');
    return next;
  }
  if (controls.step_slug === undefined) return undefined;
  const target = findActiveStep(steps, controls.step_slug);
  if (target === undefined) throw badRequest(`The journey has no active step "${controls.step_slug}".`);
  return target;
}
