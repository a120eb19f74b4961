import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  byKind,
  findObject,
  type KubernetesObject,
  listPods,
  provideChartTools,
  provideChartToolsTimeoutMs,
  render,
} from './chart.ts';

beforeAll(provideChartTools, provideChartToolsTimeoutMs);

describe('audit job of the chart (A2; rules/audit#chain-and-retention)', () => {
  const cronJobOf = (values: Record<string, unknown> = {}, file = 'minimal'): KubernetesObject =>
    findObject(render({ file, values }), 'CronJob', 'demo-coherence-audit');
  const envOf = (job: KubernetesObject): unknown[] =>
    listPods([job]).flatMap(({ spec }) => spec.containers.flatMap(({ env = [] }) => env));

  it('verifies and truncates audit logs every night with a restricted role, and never twice at once', () => {
    const job = cronJobOf();
    expect(job.spec).toMatchObject({ schedule: '17 3 * * *', concurrencyPolicy: 'Forbid' });
    expect(job.spec).not.toHaveProperty('timeZone');
    const [pod] = listPods([job]);
    expect(pod?.spec.containers).toMatchObject([
      { command: ['node', 'tools/audit.ts'], securityContext: { readOnlyRootFilesystem: true } },
    ]);
    // One secret only: the address of a service or of the administrator would grant more rights.
    expect(envOf(job)).toEqual([
      { name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: 'coherence', key: 'DATABASE_URL_AUDIT' } } },
      { name: 'NODE_ENV', value: 'production' },
    ]);
  });

  it('uses the retention of the settings and the schedule of the chart values for audit logs', () => {
    const settings = { AUDIT_RETENTION_DAYS: 800, LOG_LEVEL: 'warn', S3_BUCKET: 'of-others' };
    const job = cronJobOf({
      settings,
      audit: { schedule: '@hourly', timeZone: 'Europe/Berlin', activeDeadlineSeconds: 60 },
    });
    expect(job.spec).toMatchObject({
      schedule: '@hourly',
      timeZone: 'Europe/Berlin',
      jobTemplate: { spec: { activeDeadlineSeconds: 60 } },
    });
    expect(envOf(job).slice(1)).toEqual([
      { name: 'AUDIT_RETENTION_DAYS', value: '800' },
      { name: 'LOG_LEVEL', value: 'warn' },
      { name: 'NODE_ENV', value: 'production' },
    ]);
  });

  it('creates the audit role in the set-up job when the Secret contains its database URL', () => {
    const [setup] = listPods([findObject(render({ file: 'minimal' }), 'Job', 'demo-coherence-setup')]);
    expect(setup?.spec.initContainers?.[0]?.env).toContainEqual({
      name: 'DATABASE_URL_AUDIT',
      valueFrom: { secretKeyRef: { name: 'coherence', key: 'DATABASE_URL_AUDIT', optional: true } },
    });
    const { stringData } = findObject(render({ file: 'evaluation' }), 'Secret', 'demo-coherence-setup');
    expect(stringData?.['DATABASE_URL_AUDIT']).toMatch(/^postgresql:\/\/coherence_audit:/);
  });

  it('renders no audit job and requires no audit secret when it is disabled', () => {
    expect(byKind(render({ file: 'minimal', values: { audit: { enabled: false } } }), 'CronJob')).toEqual([]);
  });
});
