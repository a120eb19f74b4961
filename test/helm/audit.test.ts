import { beforeAll, describe, expect, it } from '@jest/globals';
import { byKind, findObject, type KubernetesObject, listPods, provideChartTools, provideChartToolsTimeoutMs, render } from './chart.ts';

beforeAll(provideChartTools, provideChartToolsTimeoutMs);

describe('the audit logs (A2; rules/audit#chain-and-retention)', () => {
  const cronJobOf = (values: Record<string, unknown> = {}, file = 'minimal'): KubernetesObject =>
    findObject(render({ file, values }), 'CronJob', 'demo-coherence-audit');
  const envOf = (job: KubernetesObject): unknown[] => listPods([job]).flatMap(({ spec }) => spec.containers.flatMap(({ env = [] }) => env));

  it('are verified and shortened every night by the role that may do nothing else, never twice at once', () => {
    const job = cronJobOf();
    expect(job.spec).toMatchObject({ schedule: '17 3 * * *', concurrencyPolicy: 'Forbid' });
    expect(job.spec).not.toHaveProperty('timeZone');
    const [pod] = listPods([job]);
    expect(pod?.spec.containers).toMatchObject([
      { command: ['node', 'tools/audit.ts'], securityContext: { readOnlyRootFilesystem: true } },
    ]);
    // One secret: with the address of a service, or of the administrator, it could do more.
    expect(envOf(job)).toEqual([
      { name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: 'coherence', key: 'DATABASE_URL_AUDIT' } } },
      { name: 'NODE_ENV', value: 'production' },
    ]);
  });

  it('are kept for as long as the settings say, at the hour that the values say', () => {
    const settings = { AUDIT_RETENTION_DAYS: 800, LOG_LEVEL: 'warn', S3_BUCKET: 'of-others' };
    const job = cronJobOf({ settings, audit: { schedule: '@hourly', timeZone: 'Europe/Berlin', activeDeadlineSeconds: 60 } });
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

  it('have their role made by the set-up, where the Secret names one', () => {
    const [setup] = listPods([findObject(render({ file: 'minimal' }), 'Job', 'demo-coherence-setup')]);
    expect(setup?.spec.initContainers?.[0]?.env).toContainEqual({
      name: 'DATABASE_URL_AUDIT',
      valueFrom: { secretKeyRef: { name: 'coherence', key: 'DATABASE_URL_AUDIT', optional: true } },
    });
    const { stringData } = findObject(render({ file: 'evaluation' }), 'Secret', 'demo-coherence-setup');
    expect(stringData?.['DATABASE_URL_AUDIT']).toMatch(/^postgresql:\/\/coherence_audit:/);
  });

  it('are left to others when the values say so, and then no secret is asked for', () => {
    expect(byKind(render({ file: 'minimal', values: { audit: { enabled: false } } }), 'CronJob')).toEqual([]);
  });
});
