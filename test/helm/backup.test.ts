import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  byKind,
  findInvalid,
  findObject,
  type KubernetesObject,
  provideChartTools,
  provideChartToolsTimeoutMs,
  render,
  renderText,
} from './chart.ts';

beforeAll(provideChartTools, provideChartToolsTimeoutMs);

describe('scheduled backups (rules/operations#backups)', () => {
  const values = {
    backup: {
      enabled: true,
      url: 's3://elsewhere/nightly',
      recipients: 'age1abc',
      extraEnv: [{ name: 'BACKUP_S3_REGION', value: 'r' }],
    },
  };
  const podOf = (objects: readonly KubernetesObject[]): Record<string, any> =>
    (findObject(objects, 'CronJob', 'demo-coherence-backup').spec as any)['jobTemplate'].spec.template.spec;

  it('renders no backup job by default, and requires a location when enabled', () => {
    expect(byKind(render({ file: 'minimal' }), 'CronJob').map(({ metadata }) => metadata.name)).not.toContain(
      'demo-coherence-backup',
    );
    expect(() => render({ file: 'minimal', values: { backup: { enabled: true } } })).toThrow(/backup.url is missing/);
    expect(() => render({ file: 'minimal', values: { backup: { enabled: true, url: '/backups' } } })).toThrow(
      /backup.existingClaim is missing/,
    );
  });

  it('configures the media service to report the age of the last backup', () => {
    const expected = (given: Record<string, unknown>): unknown => {
      const deployment = findObject(render({ file: 'minimal', values: given }), 'Deployment', 'demo-coherence-media');
      const { env } = (deployment.spec as any).template.spec.containers[0];
      return env.find(({ name }: { name: string }) => name === 'BACKUP_EXPECTED')?.value;
    };
    expect([expected({}), expected(values)]).toEqual(['false', 'true']);
  });

  it('creates and prunes backups in one pod, which has only public encryption keys', () => {
    const objects = render({ file: 'minimal', values });
    const { initContainers, containers } = podOf(objects);
    expect(initContainers[0].command).toEqual(['node', 'cli/main.ts', 'backup', 'create', '--objects']);
    expect(containers[0].command).toEqual(['node', 'cli/main.ts', 'backup', 'prune', '--keep-days', '30', '--yes']);
    const names = initContainers[0].env.map(({ name }: { name: string }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'DATABASE_URL',
        'S3_ACCESS_KEY_ID',
        'S3_SECRET_ACCESS_KEY',
        'BACKUP_URL',
        'BACKUP_RECIPIENTS',
        'BACKUP_S3_REGION',
      ]),
    );
    expect(names).not.toContain('BACKUP_IDENTITY');
    expect(findInvalid(renderText({ file: 'minimal', values }))).toBe('');
    const kept = podOf(
      render({
        file: 'minimal',
        values: { backup: { ...values.backup, keepDays: 0, url: '/backups/a', existingClaim: 'disk' } },
      }),
    );
    expect([kept['initContainers'], kept['containers'].length]).toEqual([undefined, 1]);
    expect(kept['volumes']).toContainEqual({ name: 'backups', persistentVolumeClaim: { claimName: 'disk' } });
  });
});
