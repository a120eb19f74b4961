import { describe, expect, it } from '@jest/globals';
import { firstStep, type JourneyStep, nextStep } from './journeys.ts';

const step = (id: number, order: number, isArchived = false): JourneyStep => ({
  id,
  order,
  isArchived,
  slug: `s${id}`,
  title: `S${id}`,
  pipelineJob: null,
});

describe('firstStep (D1: first active step by order, then id)', () => {
  it('skips archived steps, and selects the smaller id for equal positions', () => {
    expect(firstStep([step(9, 2), step(4, 1), step(3, 1), step(1, 0, true)])?.id).toBe(3);
    expect(firstStep([step(1, 0, true)])).toBeUndefined();
  });
});

describe('nextStep (D16a: the next one that is not archived)', () => {
  const steps = [step(1, 0), step(2, 1, true), step(3, 2), step(4, 2)];

  it.each([
    [1, 3],
    [2, 3],
    [3, 4],
    [4, undefined],
    [99, undefined],
    [null, 1],
  ])('returns for the step %p the next step %p', (current, next) => {
    expect(nextStep(steps, current)?.id).toBe(next);
  });
});
