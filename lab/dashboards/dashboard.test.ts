import { describe, expect, it } from '@jest/globals';
import { fillVariables, readDashboards, toLines } from './dashboard.ts';

const range = { fromSeconds: 100, toSeconds: 120, stepSeconds: 10 };

describe('dashboards (rules/operations#alerts-and-dashboards)', () => {
  it.each(readDashboards())('defines every variable that the panels of $name use', (dashboard) => {
    for (const { targets = [] } of dashboard.panels) {
      for (const { expr } of targets) expect(fillVariables(expr, dashboard, '30s')).not.toContain('$');
    }
  });

  it('rejects a panel with an undefined variable', () => {
    for (const dashboard of readDashboards())
      expect(() => fillVariables('up{pod=~"$pod"}', dashboard, '30s')).toThrow('$pod must be a variable');
  });
});

describe('toLines', () => {
  it('labels a line by its series, with gaps for missing values', () => {
    const series = [
      { metric: { service: 'media', outcome: '200' }, values: [[100, '1.5'] as const, [120, '2'] as const] },
    ];
    expect(toLines(series, '{{outcome}} {{service}}', range)).toEqual([{ name: '200 media', values: [1.5, null, 2] }]);
  });

  it('omits series without any value, such as a quantile without samples', () => {
    expect(toLines([{ metric: {}, values: [[100, 'NaN']] }], 'p95', range)).toEqual([]);
  });

  it('rejects a legend with a label that the series does not have', () => {
    expect(() => toLines([{ metric: { service: 'media' }, values: [[100, '1']] }], '{{type}}', range)).toThrow(
      'names type',
    );
  });
});
