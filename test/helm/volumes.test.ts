/**
 * Data written to volumes must be smaller than the volume: Kubernetes evicts a pod that exceeds the size of an
 * emptyDir.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { provideChartTools, provideChartToolsTimeoutMs, render, workload } from './chart.ts';

beforeAll(provideChartTools, provideChartToolsTimeoutMs);

const gibibyte = 1024 ** 3;

/** Returns a component's own limit from its section of the values. */
function boundOf(
  setting: string,
  component: string,
  section: Record<string, unknown>,
  settings: Record<string, unknown> = {},
): number {
  const { container } = workload(
    render({ file: 'minimal', values: { settings, components: { [component]: section } } }),
    component,
  );
  return Number(container.env?.find(({ name }) => name === setting)?.value);
}

describe('limits of volume contents (rules/operations#values-of-the-chart)', () => {
  const spool = (section: Record<string, unknown>, settings?: Record<string, unknown>): number =>
    boundOf('WEBHOOK_SPOOL_MAX_BYTES', 'gateway', { spool: section }, settings);
  const scratch = (section: Record<string, unknown>, settings?: Record<string, unknown>): number =>
    boundOf('MEDIA_SCRATCH_MAX_BYTES', 'media', { scratch: section }, settings);

  it.each([
    ['the default', {}, gibibyte],
    ['binary units', { size: '700Mi' }, 700 * 1024 ** 2],
    ['decimal units and a fraction', { size: '1.5G' }, 1_500_000_000],
    ['plain bytes', { size: '250000000' }, 250_000_000],
    ['volumes of the pods', { type: 'persistentVolume', size: '5Gi' }, 5 * gibibyte],
  ])('limit the spool to nine tenths of its volume: %s', (_what, section, bytes) => {
    expect(spool(section)).toBe(Math.floor(bytes * 0.9));
  });

  it('limit the scratch folder of media to nine tenths of its volume, up to the maximum recording size', () => {
    expect(scratch({})).toBe(Math.floor(9 * gibibyte));
    expect(scratch({ sizeLimit: '900M' })).toBe(810_000_000);
    expect(scratch({ sizeLimit: '2Ti' })).toBe(52_428_800_000);
  });

  it('use an explicit setting instead of the computed limit', () => {
    expect(spool({}, { WEBHOOK_SPOOL_MAX_BYTES: 4096 })).toBe(4096);
    expect(scratch({}, { MEDIA_SCRATCH_MAX_BYTES: 5_000_000_000 })).toBe(5_000_000_000);
  });
});
