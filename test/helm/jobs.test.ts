/** Jobs of the release: migrations, streams, the workspace. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  byKind,
  type Container,
  containersOf,
  findObject,
  listPods,
  podTemplateOf,
  provideChartTools,
  provideChartToolsTimeoutMs,
  render,
  workload,
} from './chart.ts';

beforeAll(provideChartTools, provideChartToolsTimeoutMs);

const components = ['agents', 'conversations', 'directory', 'events', 'gateway', 'media', 'transcripts'];

describe('set-up of migrations and streams in the chart (rules/operations#migrations-and-streams)', () => {
  it('runs the set-up job as a hook before pods are replaced, with a separate copy of the Secret', () => {
    const objects = render({ file: 'evaluation' });
    const job = findObject(objects, 'Job', 'demo-coherence-setup');
    const copy = findObject(objects, 'Secret', 'demo-coherence-setup');
    const hook = { 'helm.sh/hook': 'post-install,pre-upgrade' };
    expect(job.metadata.annotations).toMatchObject({ ...hook, 'helm.sh/hook-delete-policy': 'before-hook-creation' });
    // The administrator's addresses are deleted after the job, because helm uninstall does not remove hooks.
    expect(copy.metadata.annotations).toMatchObject({
      ...hook,
      'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
    });
    expect(findObject(objects, 'Job', 'demo-coherence-workspace').spec).toMatchObject({
      ttlSecondsAfterFinished: 3600,
    });
    expect(Number(copy.metadata.annotations?.['helm.sh/hook-weight'])).toBeLessThan(
      Number(job.metadata.annotations?.['helm.sh/hook-weight']),
    );
    expect(job.spec).toMatchObject({ activeDeadlineSeconds: 3600, backoffLimit: 3, ttlSecondsAfterFinished: 3600 });
    const [{ spec } = { spec: undefined }] = listPods([job]);
    expect(spec?.initContainers?.[0]).toMatchObject({ name: 'migrate', command: ['node', 'tools/migrate.ts'] });
    expect(spec?.initContainers?.[0]?.env).toContainEqual({ name: 'MIGRATION_WAIT_SECONDS', value: '300' });
    expect(spec?.containers[0]).toMatchObject({ name: 'streams', command: ['node', 'tools/streams.ts'] });
    expect(spec?.containers[0]?.env).toContainEqual({ name: 'NATS_STREAM_WEBHOOKS_MAX_BYTES', value: '1073741824' });
    const names = containersOf(spec ?? { containers: [] }).flatMap(({ env = [] }) =>
      env.map(({ valueFrom }) => valueFrom?.secretKeyRef),
    );
    for (const reference of names.filter((name) => name !== undefined)) {
      expect(reference.name).toBe('demo-coherence-setup');
      expect(copy.stringData).toHaveProperty(reference.key);
    }
    expect(spec?.serviceAccountName).toBeUndefined(); // The service account of the release does not exist yet.
  });

  it('sets the number of stream replicas only when the values specify it', () => {
    const of = (replicas: unknown): unknown => {
      const [setup] = listPods([
        findObject(render({ file: 'minimal', values: { streams: { replicas } } }), 'Job', 'demo-coherence-setup'),
      ]);
      return setup?.spec.containers[0]?.env?.find(({ name }) => name === 'NATS_STREAM_REPLICAS')?.value;
    };
    expect([of(3), of('')]).toEqual(['3', undefined]);
  });

  it('runs migrations in the set-up job, in every pod, or not at all, as configured', () => {
    const of = (mode: string) => byKind(render({ file: 'minimal', values: { migrations: { mode } } }), 'Job');
    expect(of('job').map(({ metadata }) => [metadata.name, metadata.annotations])).toEqual([
      [expect.stringMatching(/^demo-coherence-setup-[0-9a-f]{10}$/), undefined],
    ]);
    expect(of('initContainer')).toEqual([]);
    expect(of('none')).toEqual([]);
  });

  it('derives the name of the set-up job from image and values', () => {
    const namesWith = (values: Record<string, unknown>): string[] => {
      const modes = { migrations: { mode: 'job' }, workspace: { mode: 'job', file: 'people: []' } };
      const jobs = byKind(render({ file: 'minimal', values: { ...modes, ...values } }), 'Job');
      return jobs.map(({ metadata }) => metadata.name).toSorted();
    };
    const first = namesWith({});
    expect(first).toEqual(
      ['setup', 'workspace'].map((name) => expect.stringMatching(new RegExp(`^demo-coherence-${name}-[0-9a-f]{10}$`))),
    );
    expect(namesWith({ components: { media: { replicas: 5 } } })).toEqual(first);
    for (const other of [
      { image: { tag: '9.9.9' } },
      { settings: { LOG_LEVEL: 'debug', NATS_SUBJECT_PREFIX: 'blue' } },
      { secrets: { revision: '2' } },
    ]) {
      for (const [index, name] of namesWith(other).entries()) expect(name).not.toBe(first[index]);
    }
    const changed = namesWith({ workspace: { mode: 'job', file: 'people: [{ id: 1 }]' } });
    expect([changed[0] === first[0], changed[1] === first[1]]).toEqual([true, false]);
  });

  it('renders Argo CD hooks instead of Helm hooks when they are enabled', () => {
    const jobs = byKind(render({ file: 'argocd' }), 'Job');
    expect(jobs.map(({ metadata }) => metadata.annotations)).toEqual([
      expect.objectContaining({ 'argocd.argoproj.io/hook': 'PreSync', 'argocd.argoproj.io/sync-wave': '-1' }),
      expect.objectContaining({ 'argocd.argoproj.io/hook': 'PostSync' }),
    ]);
    expect(JSON.stringify(jobs)).not.toContain('helm.sh/hook');
    const kept = render({ file: 'argocd', values: { migrations: { ttlSecondsAfterFinished: '' } } });
    for (const job of byKind(kept, 'Job')) expect(job.spec).not.toHaveProperty('ttlSecondsAfterFinished');
  });

  it('passes to init containers only the credentials of their service and of the administrator', () => {
    const objects = render({ file: 'minimal', values: { migrations: { mode: 'initContainer' } } });
    const secretsOf = ({ initContainers = [] }: { initContainers?: Container[] }): Record<string, unknown> =>
      Object.fromEntries(
        initContainers.map(({ name, env = [] }) => [
          name,
          env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.key ?? []),
        ]),
      );
    for (const component of components) {
      const { pod } = workload(objects, component);
      const own = ['DATABASE_URL_ADMIN', `DATABASE_URL_${component.toUpperCase()}`];
      expect([component, secretsOf(pod)]).toEqual([
        component,
        component === 'gateway' ? { streams: ['NATS_URL_ADMIN'] } : { migrate: own },
      ]);
    }
    const [audit] = listPods([findObject(objects, 'CronJob', 'demo-coherence-audit')]);
    expect(secretsOf(audit?.spec ?? {})).toEqual({ migrate: ['DATABASE_URL_ADMIN', 'DATABASE_URL_AUDIT'] });
  });
});

describe('pods of Jobs', () => {
  it('have the annotations that disable sidecar injection: set-up, workspace and helm test jobs', () => {
    const podAnnotations = { 'sidecar.istio.io/inject': 'false' };
    const objects = render({
      file: 'minimal',
      values: { migrations: { podAnnotations }, workspace: { file: 'people: []' } },
    });
    for (const name of ['setup', 'workspace'])
      expect(podTemplateOf(findObject(objects, 'Job', `demo-coherence-${name}`)).metadata.annotations).toEqual(
        podAnnotations,
      );
    expect(findObject(objects, 'Pod', 'demo-coherence-test').metadata.annotations).toMatchObject({
      'helm.sh/hook': 'test',
      ...podAnnotations,
    });
  });
});
