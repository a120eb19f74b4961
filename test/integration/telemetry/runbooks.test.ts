/**
 * Checks the files of alerts and dashboards. signals.test.ts checks on a running platform that their metrics exist;
 * test/architecture/runbooks.test.ts checks the runbook pages.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { isClusterMetric, listExpressions, readAlerts, readDashboards, readExpression } from './promql.ts';

const alerts = readAlerts();

describe('alerts (rules/operations#alerts-and-dashboards)', () => {
  it('alert names are unique', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
  });

  it.each(alerts)('describes $alert with a name, a severity, a summary and a description', (alert) => {
    expect(alert.alert).toMatch(/^Coherence[A-Z]\w+$/);
    expect(['critical', 'warning']).toContain(alert.labels.severity);
    expect(alert.annotations.summary.length).toBeGreaterThan(10);
    expect(alert.annotations.description.length).toBeGreaterThan(10);
  });

  it.each(alerts)('restricts $alert to its installation, with a `for` duration or a reason for none', (alert) => {
    const { selectors } = readExpression(alert.expr);
    expect(selectors.filter(({ labels }) => !labels.includes('namespace'))).toEqual([]);
    expect(alert.expr.match(/namespace="\$namespace"/g)).toHaveLength(selectors.length);
    expect([alert.for, alert.instant].filter((given) => given !== undefined)).toHaveLength(1);
  });

  it('uses in alert texts only labels that the expression returns', () => {
    for (const { alert, expr, annotations } of alerts) {
      const used = [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label ?? '');
      const { grouping, selectors } = readExpression(expr);
      const isPlain = grouping.length === 0 && selectors.length === 1;
      for (const label of used) expect([alert, isPlain || grouping.includes(label)]).toEqual([alert, true]);
    }
  });
});

describe('expressions of alerts and dashboards (rules/operations#alerts-and-dashboards)', () => {
  it.each(listExpressions())('$place is valid PromQL', ({ expr }) => {
    expect(readExpression(expr).selectors.length).toBeGreaterThan(0);
  });

  it.each(listExpressions())('$place uses metric names with a known prefix', ({ expr }) => {
    const { selectors } = readExpression(expr);
    expect(
      selectors.filter(({ metric }) => !isClusterMetric(metric) && !/^(coherence|process|nodejs)_/.test(metric)),
    ).toEqual([]);
  });

  it.each(['sum by (service (up)', 'rate(up[5m]', 'up{a=}', 'up >'])('rejects %s as invalid PromQL', (expr) => {
    expect(() => readExpression(expr)).toThrow('no PromQL');
  });
});

describe('dashboards (rules/operations#alerts-and-dashboards)', () => {
  it.each(readDashboards())('marks the start of each release on the dashboard $title', ({ annotations }) => {
    expect(annotations.list).toEqual([expect.objectContaining({ name: 'Releases', enable: true })]);
    expect(annotations.list[0]?.expr).toContain('coherence_build_info{namespace=~"$namespace"}');
  });

  it('the overview dashboard shows the number of services, the lag of the feed and the delay of endpoints', () => {
    const overview = readDashboards().find(({ file }) => file === 'overview.json');
    const panel = (title: string) => overview?.panels.find((one) => one.title === title);
    const platformFile = join(
      import.meta.dirname,
      '..',
      '..',
      '..',
      'deploy',
      'helm',
      'coherence',
      'files',
      'platform.json',
    );
    const { components } = JSON.parse(readFileSync(platformFile, 'utf8')) as { components: object };
    const words = ['five', 'six', 'seven', 'eight', 'nine'];
    expect(panel('Services ready')?.description).toBe(`Of ${words[Object.keys(components).length - 5]}.`);
    expect(
      panel('Feed lag')
        ?.targets?.map(({ expr }) => expr)
        .join(),
    ).toMatch(/coherence_feed_delay_seconds.*coherence_feed_outbox_age_seconds/);
    expect(
      panel('Endpoint delay')
        ?.targets?.map(({ expr }) => expr)
        .join(),
    ).toContain('coherence_webhook_delivery_delay_seconds');
  });

  it.each(readDashboards())(
    'defines data source and namespace of the dashboard $title as variables, and units on every panel',
    (dashboard) => {
      expect(dashboard.uid).toBe(`coherence-${dashboard.file.replace('.json', '')}`);
      expect(dashboard.templating.list.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['datasource', 'namespace']),
      );
      const shown = dashboard.panels.filter(({ type }) => type !== 'row');
      expect(shown.length).toBeGreaterThan(5);
      for (const panel of shown) {
        expect([panel.title, panel.fieldConfig?.defaults.unit]).toEqual([
          panel.title,
          expect.stringMatching(/^[a-z]+$/),
        ]);
        for (const { expr } of panel.targets ?? []) expect(expr).toContain('namespace=~"$namespace"');
      }
      expect(new Set(dashboard.panels.map(({ title }) => title)).size).toBe(dashboard.panels.length);
    },
  );
});
