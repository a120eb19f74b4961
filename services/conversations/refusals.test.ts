import { describe, expect, it } from '@jest/globals';
import { PermanentJobError } from '#libs/infrastructure/jobs';
import { createMetrics } from '#libs/infrastructure/telemetry';
import { createRefusals, DataTooLarge, maxDataBytes, toStoredJson } from './refusals.ts';

describe('toStoredJson (D63)', () => {
  const frame = '{"a":""}'.length;

  it('accepts JSON up to the size that can fit into the database', () => {
    expect(toStoredJson('infos', { a: 'x'.repeat(2 * maxDataBytes - frame) })).toHaveLength(2 * maxDataBytes);
  });

  it.each([
    ['a byte more', { a: 'x'.repeat(2 * maxDataBytes - frame + 1) }],
    ['as many characters of more than a byte', { a: 'ä'.repeat(maxDataBytes) }],
  ])('rejects JSON that is too large for the database: %s', (_name, store) => {
    expect(() => toStoredJson('infos', store)).toThrow(DataTooLarge);
  });
});

const broken = (constraint: string): Error => Object.assign(new Error('refused'), { code: '23514', constraint });

describe('createRefusals (D63)', () => {
  it('translates and counts size errors of the database, and returns other errors unchanged', async () => {
    const metrics = createMetrics('test');
    const refusals = createRefusals(metrics);
    expect(refusals.explain(broken('conversations__config__size'))).toMatchObject({
      code: 'payload_too_large',
      field: 'config',
    });
    expect(refusals.explain(new DataTooLarge('config'))).toMatchObject({ field: 'config' });
    const other = broken('conversations__infos__check');
    expect(refusals.explain(other)).toBe(other);
    const { text } = await metrics.render();
    expect(text).toContain('coherence_conversation_data_refused_total{field="config",service="test"} 2');
    expect(text).toContain('coherence_conversation_data_refused_total{field="infos",service="test"} 0');
  });

  it('returns 404 for a caller without access, and counts it (D69)', async () => {
    const metrics = createMetrics('test');
    expect(createRefusals(metrics).access()).toMatchObject({ code: 'not_found', message: 'Not Found' });
    expect((await metrics.render()).text).toContain('coherence_conversation_access_refused_total{service="test"} 1');
  });

  it('fails a job permanently when its data is too large for the database', async () => {
    const worker = createRefusals(createMetrics('test')).worker(() =>
      Promise.reject(broken('conversations__infos__size')),
    );
    await expect(worker({} as never)).rejects.toThrow(PermanentJobError);
    await expect(worker({} as never)).rejects.toThrow(/`infos` would be larger than 1048576 bytes/);
  });
});
