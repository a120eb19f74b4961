/** Follow-up dates and moves between steps (rules/memberships#updates; D50). */
import { badRequest } from '#libs/infrastructure/errors';
import type { Clock } from '#libs/infrastructure/time';

const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/;

/** Whether the text is a valid date `YYYY-MM-DD` in the years 0001 to 9999. */
export function isCalendarDate(text: string): boolean {
  const match = datePattern.exec(text);
  if (match === null) return false;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return year > 0 && date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** Validates a follow-up date. @throws AppError 400 unless it is null, absent or a valid date */
export function checkFollowUp(date: string | null | undefined): void {
  if (date === null || date === undefined || isCalendarDate(date)) return;
  throw badRequest('follow_up_after must be a date of the form YYYY-MM-DD.');
}

/** Returns today's date in a time zone as `YYYY-MM-DD`. */
export type Today = () => string;

/** The date format is created once, since creating it takes forty times as long as using it. */
export function createToday(clock: Clock, timeZone: string): Today {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  return () => {
    const parts = new Map(format.formatToParts(Number(clock.now() / 1000n)).map(({ type, value }) => [type, value]));
    return `${parts.get('year')?.padStart(4, '0')}-${parts.get('month')}-${parts.get('day')}`;
  };
}

/** Periods of follow-up dates. */
export const followUpPeriods = ['overdue', 'today', 'future'] as const;
export type FollowUpPeriod = (typeof followUpPeriods)[number];

export function isFollowUpPeriod(text: string): text is FollowUpPeriod {
  return (followUpPeriods as readonly string[]).includes(text);
}

/** Dates from `from` to `to`, inclusive, without `except`. Unbounded ends are infinities. */
export interface DateSpan {
  readonly from: string;
  readonly to: string;
  readonly except: string | null;
}

/** Combines periods into one span. If only today is missing, the span has a gap. */
export function spanOf(periods: ReadonlySet<FollowUpPeriod>, today: string): DateSpan {
  const [overdue, now, future] = followUpPeriods.map((period) => periods.has(period));
  const from = overdue === true ? '-infinity' : now === true ? today : shiftDate(today, 1);
  const to = future === true ? 'infinity' : now === true ? today : shiftDate(today, -1);
  return { from, to, except: overdue === true && future === true && now !== true ? today : null };
}

function shiftDate(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
}

/** A step of a journey. */
export interface JourneyStep {
  readonly id: number;
  readonly slug: string;
  readonly position: number;
  readonly is_archived: boolean;
}

/** Step fields of an update. */
export interface StepControls {
  readonly step_slug?: string | undefined;
  readonly advance_step?: boolean | undefined;
  readonly journey_slug?: string | undefined;
}

/** Checks the step fields of an update. @throws AppError 400 when fields exclude each other or one requires another */
export function checkStepControls({
  step_slug: step,
  advance_step: advance,
  journey_slug: journey,
}: StepControls): void {
  if (advance === true && step !== undefined) throw badRequest('advance_step cannot be combined with step_slug.');
  if (advance === true && journey !== undefined) throw badRequest('advance_step cannot be combined with journey_slug.');
  if (journey !== undefined && step === undefined) throw badRequest('journey_slug requires step_slug.');
}

/** Returns the step with this slug, unless it is archived. */
export function findActiveStep<Step extends JourneyStep>(steps: readonly Step[], slug: string): Step | undefined {
  return steps.find((step) => step.slug === slug && !step.is_archived);
}

/**
 * Returns the next active step by (order, id) after the current step, which can be archived. Without a current step
 * returns the first active step.
 */
export function findNextStep<Step extends JourneyStep>(
  steps: readonly Step[],
  currentId: number | null,
): Step | undefined {
  const active = steps.filter((step) => !step.is_archived).toSorted(compareSteps);
  if (currentId === null) return active[0];
  const current = steps.find(({ id }) => id === currentId);
  return current === undefined ? undefined : active.find((step) => compareSteps(step, current) > 0);
}

function compareSteps(left: JourneyStep, right: JourneyStep): number {
  return left.position - right.position || left.id - right.id;
}

/**
 * Returns the step to move to; undefined = no move.
 * @param steps steps of the target journey
 * @param currentId current step, or null
 * @throws AppError 400 when the requested step is not active or a next step does not exist
 */
export function chooseStep(
  controls: StepControls,
  steps: readonly JourneyStep[],
  currentId: number | null,
): JourneyStep | undefined {
  if (controls.advance_step === true) {
    const next = findNextStep(steps, currentId);
    if (next === undefined) throw badRequest('The journey has no next active step.');
    return next;
  }
  if (controls.step_slug === undefined) return undefined;
  const target = findActiveStep(steps, controls.step_slug);
  if (target === undefined) throw badRequest(`The journey has no active step "${controls.step_slug}".`);
  return target;
}
