/** Metrics and alerts of the release. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  byKind,
  type KubernetesObject,
  provideChartTools,
  provideChartToolsTimeoutMs,
  render,
  workload,
} from './chart.ts';

beforeAll(provideChartTools, provideChartToolsTimeoutMs);

describe('metrics in the chart', () => {
  it('are scraped with the token of the Secret when a token is required', () => {
    const of = (serviceMonitor: Record<string, unknown>) =>
      byKind(
        render({
          file: 'external-services',
          values: { metrics: { serviceMonitor: { enabled: true, ...serviceMonitor } } },
        }),
        'ServiceMonitor',
      );
    const endpointOf = (objects: readonly KubernetesObject[]) =>
      (objects[0]?.spec?.['endpoints'] as Record<string, unknown>[] | undefined)?.[0];
    expect(endpointOf(of({}))).not.toHaveProperty('authorization');
    expect(endpointOf(of({ token: true }))).toMatchObject({
      authorization: { credentials: { name: 'coherence-external', key: 'METRICS_TOKEN' } },
    });
    const { container } = workload(render({ file: 'minimal' }), 'agents');
    expect(container.env).toContainEqual({
      name: 'METRICS_TOKEN',
      valueFrom: { secretKeyRef: { name: 'coherence', key: 'METRICS_TOKEN', optional: true } },
    });
  });
});

describe('alerts in the chart (rules/operations#alerts-and-dashboards)', () => {
  const rulesOf = (
    rule: Record<string, unknown> = {},
    values: Record<string, unknown> = {},
  ): { alert: string; expr: string }[] => {
    const metrics = { prometheusRule: { enabled: true, ...rule } };
    const [rendered] = byKind(render({ file: 'minimal', values: { ...values, metrics } }), 'PrometheusRule');
    const groups = (rendered?.spec?.['groups'] ?? []) as { rules: { alert: string; expr: string }[] }[];
    return groups.flatMap(({ rules }) => rules);
  };

  it('use the namespace and object names of the release, and contain no unresolved placeholders', () => {
    const rules = rulesOf();
    expect(rules.length).toBeGreaterThan(40);
    for (const { alert, expr } of rules)
      expect([alert, expr]).toEqual([alert, expect.stringContaining('namespace="apps"')]);
    const text = JSON.stringify(rules.map(({ expr }) => expr));
    expect(text.match(/\$(namespace|release|components|claims)/g)).toBeNull();
    expect(text).toContain('demo-coherence-(setup|workspace)');
    expect(text).toContain('demo-coherence-(agents|conversations|directory|events|gateway|media|transcripts)-.*');
    expect(JSON.stringify(rules)).not.toMatch(/"(runbook|instant)":/);
  });

  it('distinguish two releases in one namespace by labels of the values, and monitor the backup volume', () => {
    const backup = { enabled: true, url: '/backups', existingClaim: 'disk' };
    const rules = rulesOf({ matchers: { job: 'blue' } }, { backup });
    for (const { alert, expr } of rules)
      expect([alert, expr]).toEqual([alert, expect.stringContaining('namespace="apps", job="blue"')]);
    expect(rules.find(({ alert }) => alert === 'CoherenceVolumeFilling')?.expr).toContain(
      '(data|spool)-demo-coherence-.*|disk"',
    );
  });
});
