/**
 * Alerts and dashboards as files; signals.test.ts shows on a running platform that their metrics exist, test/architecture/runbooks.test.ts reads the
 * runbook pages.
 */
import { describe, expect, it } from '@jest/globals';
import { listExpressions, readAlerts, readDashboards, readExpression } from './promql.ts';

const alerts = readAlerts();

describe('alerts (rules/operations#alerts-and-dashboards)', () => {
  it('have names of their own', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
  });

  it.each(alerts)('$alert has a name, a severity, a summary and a description', (alert) => {
    expect(alert.alert).toMatch(/^Coherence[A-Z]\w+$/);
    expect(['critical', 'warning']).toContain(alert.labels.severity);
    expect(alert.annotations.summary.length).toBeGreaterThan(10);
    expect(alert.annotations.description.length).toBeGreaterThan(10);
  });

  it.each(alerts)('$alert sees the metrics of its installation alone, and waits or says why it does not', (alert) => {
    const { selectors } = readExpression(alert.expr);
    expect(selectors.filter(({ labels }) => !labels.includes('namespace'))).toEqual([]);
    expect(alert.expr.match(/namespace="\$namespace"/g)).toHaveLength(selectors.length);
    expect([alert.for, alert.instant].filter((given) => given !== undefined)).toHaveLength(1);
  });

  it('speak of labels in their words that their expression yields', () => {
    for (const { alert, expr, annotations } of alerts) {
      const used = [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label ?? '');
      const { grouping, selectors } = readExpression(expr);
      const isPlain = grouping.length === 0 && selectors.length === 1;
      for (const label of used) expect([alert, isPlain || grouping.includes(label)]).toEqual([alert, true]);
    }
  });
});

describe('expressions of alerts and dashboards (rules/operations#alerts-and-dashboards)', () => {
  it.each(listExpressions())('$place is PromQL', ({ expr }) => {
    expect(readExpression(expr).selectors.length).toBeGreaterThan(0);
  });

  it.each(['sum by (service (up)', 'rate(up[5m]', 'up{a=}', 'up >'])('would be refused as %s', (expr) => {
    expect(() => readExpression(expr)).toThrow('no PromQL');
  });
});

describe('dashboards (rules/operations#alerts-and-dashboards)', () => {
  it.each(readDashboards())('$title has its data source and namespace as variables, and units on every panel', (dashboard) => {
    expect(dashboard.uid).toBe(`coherence-${dashboard.file.replace('.json', '')}`);
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(expect.arrayContaining(['datasource', 'namespace']));
    const shown = dashboard.panels.filter(({ type }) => type !== 'row');
    expect(shown.length).toBeGreaterThan(5);
    for (const panel of shown) {
      expect([panel.title, panel.fieldConfig?.defaults.unit]).toEqual([panel.title, expect.stringMatching(/^[a-z]+$/)]);
      for (const { expr } of panel.targets ?? []) expect(expr).toContain('namespace=~"$namespace"');
    }
    expect(new Set(dashboard.panels.map(({ title }) => title)).size).toBe(dashboard.panels.length);
  });
});
