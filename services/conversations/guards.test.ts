import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { findNamespaceProblem, parseExpectedUpdatedAt, type StoreField } from './guards.ts';

const fields: StoreField[] = ['infos', 'config', 'infos-endpoint'];
const forbidden: Record<StoreField, string[]> = {
  infos: [
    'enter-coherence',
    'booking',
    'idempotency',
    'pipeline',
    'pipeline.x',
    'question_changes',
    'question_timings',
  ],
  'infos-endpoint': [
    'enter-coherence',
    'booking',
    'idempotency',
    'pipeline',
    'pipeline.x',
    'question_changes',
    'question_timings',
    'audio',
  ],
  config: [
    'enter-coherence',
    'booking',
    'idempotency',
    'pipeline',
    'pipeline.x',
    'question_changes',
    'question_timings',
    'publishing',
    'publishing_status',
    'publish_decisions',
    'publishing_approval',
  ],
};
const everyKey = [...new Set(Object.values(forbidden).flat())];

describe('findNamespaceProblem (rules/conversations#namespaces; D9b)', () => {
  it.each(fields.flatMap((field) => everyKey.map((key) => [field, key] as const)))(
    'allows or rejects in the field %s the reserved key %s',
    (field, key) => {
      const problem = findNamespaceProblem(field, { other: 1, [key]: null });
      expect(problem?.reason).toBe(forbidden[field].includes(key) ? 'invalid_namespace_placement' : undefined);
      if (problem !== undefined) expect(problem.message).toContain(`"${key}"`);
    },
  );

  it('accepts any unreserved key in any field', () => {
    const other = fc.string().filter((key) => !everyKey.includes(key) && !key.startsWith('pipeline.'));
    fc.assert(
      fc.property(fc.constantFrom(...fields), other, fc.jsonValue(), (field, key, value) => {
        expect(findNamespaceProblem(field, Object.fromEntries([[key, value]]))).toBeUndefined();
      }),
    );
  });

  it('accepts an absent field', () => {
    expect(findNamespaceProblem('infos', undefined)).toBeUndefined();
  });
});

describe('parseExpectedUpdatedAt', () => {
  it('parses the expected `updated_at`', () => {
    expect(parseExpectedUpdatedAt('2026-05-01T12:00:00.000001+02:00')).toBe('2026-05-01T10:00:00.000001Z');
  });

  it.each([null, undefined])('returns null for the expected `updated_at` %s (D9)', (text) => {
    expect(parseExpectedUpdatedAt(text)).toBeNull();
  });

  it.each(['', 'yesterday', '2026-02-30T10:00:00Z'])(
    'throws for the expected `updated_at` %j, so that no write runs without the check',
    (text) => {
      expect(() => parseExpectedUpdatedAt(text)).toThrow('expected_updated_at is not an instant');
    },
  );
});
