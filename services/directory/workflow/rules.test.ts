import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseInstant } from '#libs/infrastructure/time';
import {
  checkFollowUp,
  checkStepControls,
  chooseStep,
  createToday,
  findNextStep,
  type FollowUpPeriod,
  followUpPeriods,
  isCalendarDate,
  type JourneyStep,
  spanOf,
} from './rules.ts';

const clockAt = (text: string) => {
  const parsed = parseInstant(text);
  if (parsed.kind === 'invalid') throw new Error(text);
  return { now: () => parsed.instant };
};

describe('follow_up_after (rules/memberships#updates)', () => {
  it.each(['2026-05-01', '2024-02-29', '0001-01-01', '9999-12-31'])('accepts the follow-up date %s', (text) => {
    expect(isCalendarDate(text)).toBe(true);
    expect(() => checkFollowUp(text)).not.toThrow();
  });

  it.each([
    '',
    '2026-5-1',
    '2026-02-29',
    '2026-13-01',
    '2026-00-10',
    '0000-01-01',
    '2026-05-01T00:00:00Z',
    ' 2026-05-01',
    '20260501',
    '10000-01-01',
  ])('rejects the follow-up date %j with 400', (text) => {
    expect(isCalendarDate(text)).toBe(false);
    expect(() => checkFollowUp(text)).toThrow(expect.objectContaining({ code: 'bad_request' }));
  });

  it('accepts null and a missing follow-up date', () => {
    expect(() => checkFollowUp(null)).not.toThrow();
    expect(() => checkFollowUp(undefined)).not.toThrow();
  });
});

describe('today (D50)', () => {
  it('returns the date in the configured time zone', () => {
    const clock = clockAt('2026-05-01T23:30:00Z');
    expect(createToday(clock, 'UTC')()).toBe('2026-05-01');
    expect(createToday(clock, 'Europe/Berlin')()).toBe('2026-05-02');
    expect(createToday(clock, 'America/Los_Angeles')()).toBe('2026-05-01');
    expect(createToday(clockAt('2026-05-01T00:30:00Z'), 'America/Los_Angeles')()).toBe('2026-04-30');
  });
});

describe('date spans of the periods overdue, today and future', () => {
  const today = '2026-03-01';
  const periodOf = (date: string): FollowUpPeriod => (date < today ? 'overdue' : date === today ? 'today' : 'future');
  const days = fc
    .integer({ min: -400, max: 400 })
    .map((shift) => new Date(Date.UTC(2026, 2, 1 + shift)).toISOString().slice(0, 10));

  it('returns exactly the dates of each period', () => {
    fc.assert(
      fc.property(
        fc.subarray([...followUpPeriods], { minLength: 1 }),
        fc.oneof(days, fc.constantFrom(today, '2026-02-28', '2026-03-02')),
        (periods, date) => {
          const { from, to, except } = spanOf(new Set(periods), today);
          const after = from === '-infinity' || date >= from;
          const before = to === 'infinity' || date <= to;
          expect(after && before && date !== except).toBe(periods.includes(periodOf(date)));
        },
      ),
    );
  });
});

const step = (id: number, slug: string, position: number, archived = false): JourneyStep => ({
  id,
  slug,
  position,
  is_archived: archived,
});
/** Steps in mixed order. Two steps share a position, so their ids decide. */
const steps = [step(7, 'c', 1), step(3, 'b', 1), step(9, 'a', 0), step(4, 'gone', 2, true), step(2, 'd', 3)];
const refusal = expect.objectContaining({ code: 'bad_request' });

describe('step fields of an update (rules/memberships#updates)', () => {
  it.each([
    { advance_step: true, step_slug: 'a' },
    { advance_step: true, journey_slug: 'j' },
    { advance_step: true, step_slug: 'a', journey_slug: 'j' },
    { journey_slug: 'j' },
    { journey_slug: 'j', advance_step: false },
  ])('rejects the step fields %j', (controls) => {
    expect(() => checkStepControls(controls)).toThrow(refusal);
  });

  it.each([
    {},
    { step_slug: 'a' },
    { advance_step: true },
    { advance_step: false, step_slug: 'a' },
    { journey_slug: 'j', step_slug: 'a' },
  ])('accepts the step fields %j', (controls) => {
    expect(() => checkStepControls(controls)).not.toThrow();
  });
});

describe('moves between steps (rules/memberships#updates)', () => {
  it('advances by (order, id) past archived steps', () => {
    const order = [null, 9, 3, 7].map((current) => findNextStep(steps, current)?.slug);
    expect(order).toEqual(['a', 'b', 'c', 'd']);
  });

  it('advances from an archived step to the next active step', () => {
    expect(findNextStep(steps, 4)?.slug).toBe('d');
  });

  it('returns 400 when it advances from the last active step', () => {
    expect(() => chooseStep({ advance_step: true }, steps, 2)).toThrow(refusal);
    expect(() => chooseStep({ advance_step: true }, [], null)).toThrow(refusal);
    expect(() => chooseStep({ advance_step: true }, [step(1, 'old', 0, true)], null)).toThrow(refusal);
  });

  it('moves to a named active step, and rejects archived and unknown steps', () => {
    expect(chooseStep({ step_slug: 'd' }, steps, 9)?.id).toBe(2);
    expect(() => chooseStep({ step_slug: 'gone' }, steps, 9)).toThrow(refusal);
    expect(() => chooseStep({ step_slug: 'nowhere' }, steps, 9)).toThrow(refusal);
  });

  it('does not change the step without step fields', () => {
    expect(chooseStep({}, steps, 9)).toBeUndefined();
    expect(chooseStep({ advance_step: false }, steps, 9)).toBeUndefined();
  });
});
