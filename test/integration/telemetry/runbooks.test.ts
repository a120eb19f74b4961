/** Alerts, their runbook pages and the dashboards as files; that their metrics exist is shown on a running platform. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { listExpressions, readAlerts, readDashboards, readExpression } from './promql.ts';

const runbooksDir = join(import.meta.dirname, '..', '..', '..', 'docs', 'runbooks');
const alerts = readAlerts();

describe('alerts (rules/operations#alerts-and-dashboards)', () => {
  it('have names of their own', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
  });

  it.each(alerts)('$alert has a severity, words for people, and a runbook page that tells what to do', (alert) => {
    expect(alert.alert).toMatch(/^Coherence[A-Z]\w+$/);
    expect(['critical', 'warning']).toContain(alert.labels.severity);
    expect(alert.annotations.summary.length).toBeGreaterThan(10);
    expect(alert.annotations.description.length).toBeGreaterThan(10);
    const page = readFileSync(join(runbooksDir, `${alert.runbook}.md`), 'utf8');
    expect(page.split('\n')[0]).toBe(`# ${alert.alert}`);
    expect(page.match(/^## .*$/gm)).toEqual(['## Meaning', '## Impact', '## What to look at', '## What to do']);
  });

  it.each(alerts)('$alert sees the metrics of its installation alone, and waits or says why it does not', (alert) => {
    const { selectors } = readExpression(alert.expr);
    expect(selectors.filter(({ labels }) => !labels.includes('namespace'))).toEqual([]);
    expect(alert.expr.match(/namespace="\$namespace"/g)).toHaveLength(selectors.length);
    expect([alert.for, alert.instant].filter((given) => given !== undefined)).toHaveLength(1);
  });

  it('have all pages between them, and the list of pages names each', () => {
    const pages = readdirSync(runbooksDir).filter((name) => name !== 'README.md');
    expect(alerts.map(({ runbook }) => `${runbook}.md`).toSorted()).toEqual(pages.toSorted());
    const list = readFileSync(join(runbooksDir, 'README.md'), 'utf8');
    for (const { alert, runbook, labels } of alerts) expect(list).toContain(`[${alert}](${runbook}.md) (${labels.severity})`);
  });

  it('link to pages that are there', () => {
    const pages = readdirSync(runbooksDir);
    for (const page of pages) {
      const text = readFileSync(join(runbooksDir, page), 'utf8');
      for (const [, target = ''] of text.matchAll(/\]\(([\w-]+\.md)\)/g)) expect(pages).toContain(target);
    }
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
