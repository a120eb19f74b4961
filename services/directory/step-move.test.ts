import { describe, expect, it } from '@jest/globals';
import { checkStepControls, chooseStep, findNextStep, type JourneyStep } from './step-move.ts';

const step = (id: number, slug: string, position: number, archived = false): JourneyStep => ({ id, slug, position, is_archived: archived });
/** In no order; two share a position, the id decides. */
const steps = [step(7, 'c', 1), step(3, 'b', 1), step(9, 'a', 0), step(4, 'gone', 2, true), step(2, 'd', 3)];
const refusal = expect.objectContaining({ code: 'bad_request' });

describe('the step controls of an update (rules/memberships#updates)', () => {
  it.each([
    { advance_step: true, step_slug: 'a' },
    { advance_step: true, journey_slug: 'j' },
    { advance_step: true, step_slug: 'a', journey_slug: 'j' },
    { journey_slug: 'j' },
    { journey_slug: 'j', advance_step: false },
  ])('refuse %j', (controls) => {
    expect(() => checkStepControls(controls)).toThrow(refusal);
  });

  it.each([{}, { step_slug: 'a' }, { advance_step: true }, { advance_step: false, step_slug: 'a' }, { journey_slug: 'j', step_slug: 'a' }])(
    'allow %j',
    (controls) => {
      expect(() => checkStepControls(controls)).not.toThrow();
    },
  );
});

describe('moves between steps (rules/memberships#updates)', () => {
  it('advance by (order, id) past archived steps', () => {
    const order = [null, 9, 3, 7].map((current) => findNextStep(steps, current)?.slug);
    expect(order).toEqual(['a', 'b', 'c', 'd']);
  });

  it('advance from an archived step to the next active one', () => {
    expect(findNextStep(steps, 4)?.slug).toBe('d');
  });

  it('end at the last active step with 400', () => {
    expect(() => chooseStep({ advance_step: true }, steps, 2)).toThrow(refusal);
    expect(() => chooseStep({ advance_step: true }, [], null)).toThrow(refusal);
    expect(() => chooseStep({ advance_step: true }, [step(1, 'old', 0, true)], null)).toThrow(refusal);
  });

  it('go to a named active step, and to no archived or unknown one', () => {
    expect(chooseStep({ step_slug: 'd' }, steps, 9)?.id).toBe(2);
    expect(() => chooseStep({ step_slug: 'gone' }, steps, 9)).toThrow(refusal);
    expect(() => chooseStep({ step_slug: 'nowhere' }, steps, 9)).toThrow(refusal);
  });

  it('stay without a control', () => {
    expect(chooseStep({}, steps, 9)).toBeUndefined();
    expect(chooseStep({ advance_step: false }, steps, 9)).toBeUndefined();
  });
});
