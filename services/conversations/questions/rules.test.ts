import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseJson } from '#libs/infrastructure/json';
import { formatInstant, parseInstant, type Instant } from '#libs/infrastructure/time';
import { deriveQuestionState, type RecordedChange } from './rules.ts';

interface State {
  active_question_id: number | null;
  changes: { question_id: number; occurred_at: string; duration_seconds: unknown }[];
}

const derive = (changes: readonly RecordedChange[]): State => parseJson(deriveQuestionState(changes)) as State;
const at = (text: string): Instant => {
  const parsed = parseInstant(text);
  return parsed.kind === 'invalid' ? 0n : parsed.instant;
};
/** Returns the exact microseconds of a decimal number of seconds. */
function micros(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'));
}
const durations = (text: string): string[] =>
  [...text.matchAll(/"duration_seconds":([0-9.]+|null)/g)].map((match) => match[1] ?? '');

const instants = fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n });
const someChanges = fc.array(fc.record({ questionId: fc.integer({ min: 1, max: 5 }), occurredAt: instants }), {
  maxLength: 20,
});

describe('deriveQuestionState (rules/questions#record-a-change; D14a)', () => {
  it('returns an empty state before the first change', () => {
    expect(derive([])).toEqual({ active_question_id: null, changes: [] });
  });

  it('orders changes by occurred_at, then by arrival, and sets no duration for the last change', () => {
    const state = derive([
      { questionId: 2, occurredAt: at('2026-05-01T10:01:30.5Z') },
      { questionId: 1, occurredAt: at('2026-05-01T10:00:00Z') },
      { questionId: 3, occurredAt: at('2026-05-01T10:01:30.5Z') },
    ]);
    expect(state).toEqual({
      active_question_id: 3,
      changes: [
        { question_id: 1, occurred_at: '2026-05-01T10:00:00Z', duration_seconds: 90.5 },
        { question_id: 2, occurred_at: '2026-05-01T10:01:30.500000Z', duration_seconds: 0 },
        { question_id: 3, occurred_at: '2026-05-01T10:01:30.500000Z', duration_seconds: null },
      ],
    });
  });

  it('returns the same state in any order of arrival for changes at different times', () => {
    const distinct = fc.uniqueArray(instants, { maxLength: 12 }).chain((times) =>
      fc.tuple(
        fc.constant(times.map((occurredAt, index) => ({ questionId: index + 1, occurredAt }))),
        fc.shuffledSubarray(
          times.map((_, index) => index),
          { minLength: times.length },
        ),
      ),
    );
    fc.assert(
      fc.property(distinct, ([changes, order]) => {
        const arrived = order.flatMap((index) => changes[index] ?? []);
        expect(deriveQuestionState(arrived)).toBe(deriveQuestionState(changes));
      }),
    );
  });

  it('returns every change in order with the last one active, and durations that add up exactly', () => {
    fc.assert(
      fc.property(someChanges, (arrived) => {
        const text = deriveQuestionState(arrived);
        const { active_question_id: active, changes } = derive(arrived);
        const times = arrived
          .map((change) => change.occurredAt)
          .toSorted((left, right) => (left < right ? -1 : left > right ? 1 : 0));
        expect(changes.map((change) => change.occurred_at)).toEqual(times.map((time) => formatInstant(time)));
        expect(active).toBe(changes.at(-1)?.question_id ?? null);
        const shown = durations(text);
        expect(shown.at(-1) ?? 'null').toBe('null');
        const sum = shown.slice(0, -1).reduce((total, duration) => total + micros(duration), 0n);
        expect(sum).toBe((times.at(-1) ?? 0n) - (times[0] ?? 0n));
      }),
    );
  });
});
