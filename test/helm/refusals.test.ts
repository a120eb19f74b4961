import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  byKind,
  chartDir,
  listPods,
  provideChartTools,
  provideChartToolsTimeoutMs,
  render,
  tryRender,
  valueFiles,
  workload,
} from './chart.ts';

beforeAll(provideChartTools, provideChartToolsTimeoutMs);

describe('invalid values are rejected with a readable message (rules/operations#values-of-the-chart)', () => {
  it.each([
    ['a key that does not exist', { replica: 3 }, /additional properties 'replica' not allowed/],
    ['a misspelt setting', { settings: { LOGLEVEL: 'debug' } }, /at '\/settings'.*'LOGLEVEL' not allowed/],
    ['a secret among the settings', { settings: { API_TOKEN: 'x' } }, /at '\/settings'.*'API_TOKEN' not allowed/],
    [
      'a setting of another component',
      { components: { transcripts: { env: { S3_BUCKET: 'x' } } } },
      /at '\/components\/transcripts\/env'.*'S3_BUCKET' not allowed/,
    ],
    ['an unknown component', { components: { worker: {} } }, /at '\/components'.*'worker' not allowed/],
    ['a number as text', { defaults: { replicas: 'two' } }, /at '\/defaults\/replicas'.*got string, want integer/],
    [
      'an unknown mode of migrations',
      { migrations: { mode: 'later' } },
      /at '\/migrations\/mode'.*'hook', 'job', 'initContainer', 'none'/,
    ],
    ['an unknown profile', { profiles: 'production' }, /at '\/profiles'.*'evaluation'/],
    ['a digest that is none', { image: { digest: 'latest' } }, /at '\/image\/digest'/],
    ['both ways to scale', { defaults: { autoscaling: { type: 'both' } } }, /at '\/defaults\/autoscaling\/type'/],
    [
      'keda without the address of NATS',
      { components: { media: { autoscaling: { type: 'keda' } } } },
      /components\.media\.autoscaling\.natsMonitoringEndpoint is missing/,
    ],
    [
      'keda for a component without jobs',
      { components: { gateway: { autoscaling: { type: 'keda', natsMonitoringEndpoint: 'nats:8222' } } } },
      /components\.gateway has no job queue to scale by/,
    ],
    [
      'too little time to stop',
      { components: { media: { terminationGracePeriodSeconds: 20 } } },
      /components\.media\.terminationGracePeriodSeconds must be at least drainSeconds \+ 26/,
    ],
    ['an ingress without hosts', { ingress: { enabled: true } }, /ingress\.hosts is empty/],
    ['a route without a parent', { httpRoute: { enabled: true } }, /httpRoute\.parentRefs is empty/],
    [
      'two sources of the secrets',
      { secrets: { values: { API_TOKEN: 'x' } } },
      /secrets\.existingSecret and secrets\.values exclude each other/,
    ],
    [
      'hpa by the share of a CPU that is not requested',
      { defaults: { autoscaling: { type: 'hpa' }, resources: { requests: { cpu: null } } } },
      /components\.agents\.resources\.requests\.cpu is missing/,
    ],
    [
      'fewest pods that are more than the most',
      { components: { media: { autoscaling: { type: 'hpa', minReplicas: 12 } } } },
      /components\.media\.autoscaling\.minReplicas is more than maxReplicas/,
    ],
    [
      'the demo beside a workspace',
      { workspace: { file: 'people: []', demo: true } },
      /workspace\.demo excludes workspace\.file/,
    ],
    [
      'two sources of the workspace',
      { workspace: { file: 'people: []', existingConfigMap: 'x' } },
      /workspace\.file and workspace\.existingConfigMap exclude each other/,
    ],
  ])('rejects with a readable message: %s', (_what, values, message) => {
    const { status, stderr } = tryRender({ file: 'minimal', values });
    expect(status).not.toBe(0);
    expect(stderr.replaceAll('\n', ' ')).toMatch(message);
  });

  it('reports all missing chart values together', () => {
    const { stderr } = tryRender({});
    for (const name of [
      'API_TOKEN',
      'DATABASE_URL_ADMIN',
      'DATABASE_URL_AUDIT',
      'DATABASE_URL_MEDIA',
      'NATS_URL_GATEWAY',
      'ACTOR_SIGNING_KEY',
    ])
      expect(stderr).toContain(name);
    // Without it, the credentials of the pod are used.
    expect(stderr).not.toContain('S3_SECRET_ACCESS_KEY');
    expect(stderr).toContain('settings.S3_ENDPOINT is missing; media needs it');
    expect(stderr).toContain('profiles=evaluation for a trial');
  });

  describe('unsafe secrets in the chart (architecture#safe-by-default)', () => {
    const settings = { S3_ENDPOINT: 'https://s3.example.org' };
    const said = (options: Parameters<typeof tryRender>[0]): string => tryRender(options).stderr.replaceAll('\n', ' ');

    it('are rejected in the values when they are publicly known or short', () => {
      const given = (values: Record<string, string>): string => said({ values: { settings, secrets: { values } } });
      expect(given({ API_TOKEN: 'demo-api-token' })).toContain(
        'secrets.values.API_TOKEN is, or holds, a password that anybody knows',
      );
      expect(given({ API_TOKEN: 'x'.repeat(23) })).toContain(
        'secrets.values.API_TOKEN is shorter than 24 characters: `npm run --silent cli -- secrets',
      );
      expect(given({ API_TOKEN: 'x'.repeat(24) })).not.toContain('secrets.values.API_TOKEN');
      expect(given({ DATABASE_URL_MEDIA: 'postgresql://coherence:coherence@db:5432/coherence' })).toContain(
        'secrets.values.DATABASE_URL_MEDIA is, or holds, a password that anybody knows',
      );
      expect(given({ DATABASE_URL_MEDIA: 'postgresql://coherence:own@db:5432/coherence' })).not.toContain(
        'secrets.values.DATABASE_URL_MEDIA',
      );
      for (const name of ['DATABASE_URL_ADMIN', 'NATS_URL_ADMIN', 'NATS_URL_CLI'])
        expect(given({ [name]: 'x://admin:postgres@host:1' })).toContain(
          `secrets.values.${name} is, or holds, a password that anybody knows`,
        );
      expect(given({ DEMO_PASSWORD: 'x'.repeat(23) })).toContain(
        'secrets.values.DEMO_PASSWORD is shorter than 24 characters',
      );
      expect(given({ LLM_API_KEY: 'short' })).not.toContain('LLM_API_KEY');
    });

    it('can have up to four values, each of which is validated (K8)', () => {
      const given = (value: string): string =>
        said({ values: { settings, secrets: { values: { BOOKING_WEBHOOK_SECRET: value } } } });
      const [a, short] = ['a'.repeat(24), 'b'.repeat(23)];
      expect(given(` ${a}\n${short}b\t${short}c  ${short}d `)).not.toContain('BOOKING_WEBHOOK_SECRET');
      expect(given(`${a} ${short}b ${short}c ${short}d ${short}e`)).toContain(
        'secrets.values.BOOKING_WEBHOOK_SECRET has more than 4 values: `npm',
      );
      expect(given(`${a} ${short}`)).toContain(
        'secrets.values.BOOKING_WEBHOOK_SECRET, value 2, is shorter than 24 characters: `npm',
      );
      expect(given(`coherence-evaluation ${a}`)).toContain(
        'secrets.values.BOOKING_WEBHOOK_SECRET, value 1, is, or holds, a password that anybody',
      );
    });

    it.each([
      [
        '',
        /evaluation\.password is empty: give the trial one of its own, e\.g\. --set evaluation\.password=\$\(openssl rand/,
      ],
      ['coherence-evaluation', /evaluation\.password is, or holds, a password that anybody knows/],
      ['x'.repeat(23), /evaluation\.password is shorter than 24 characters/],
    ])('are rejected when they are trial secrets: "%s"', (password, message) => {
      expect(said({ values: { profiles: 'evaluation', evaluation: { password } } })).toMatch(message);
    });

    it('may omit the secret of a webhook only if unsigned webhooks are allowed', () => {
      expect(said({ values: { settings } })).toMatch(/are missing: .*BOOKING_WEBHOOK_SECRET/);
      expect(said({ values: { settings: { ...settings, ALLOW_UNSIGNED_WEBHOOKS: true } } })).not.toContain(
        'BOOKING_WEBHOOK_SECRET',
      );
      const optional = (values: Record<string, unknown>): unknown =>
        workload(render({ file: 'minimal', values }), 'conversations').container.env?.find(
          ({ name }) => name === 'BOOKING_WEBHOOK_SECRET',
        )?.valueFrom?.secretKeyRef?.optional;
      expect(optional({})).toBeUndefined(); // the pod does not start without the key
      expect(optional({ settings: { ALLOW_UNSIGNED_WEBHOOKS: 'true' } })).toBe(true);
    });

    it('are read from the Secret for the accounts of the demo workspace', () => {
      expect(said({ values: { settings, workspace: { demo: true } } })).toMatch(/are missing: .*DEMO_PASSWORD/);
      const [job] = byKind(render({ file: 'minimal', values: { workspace: { demo: true } } }), 'Job').filter(
        ({ metadata }) => metadata.name.endsWith('-workspace'),
      );
      const env = listPods(job === undefined ? [] : [job]).flatMap(({ spec }) =>
        spec.containers.flatMap((container) => container.env ?? []),
      );
      expect(env).toContainEqual({
        name: 'DEMO_PASSWORD',
        valueFrom: { secretKeyRef: { name: 'coherence', key: 'DEMO_PASSWORD' } },
      });
    });
  });

  describe('chart values without TRUSTED_PROXY_HOPS', () => {
    const edges = {
      'an Ingress': { ingress: { enabled: true, hosts: [{ host: 'a.example.org' }] } },
      'an HTTPRoute': { httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] } },
    };

    it.each(Object.entries(edges))(
      '%s is rejected, because all clients would share the rate limits of one address',
      (_what, edge) => {
        const hops = (settings: Record<string, unknown>) =>
          tryRender({ file: 'minimal', values: { ...edge, settings } });
        expect(hops({}).stderr).toMatch(/settings\.TRUSTED_PROXY_HOPS is missing: how many proxies/);
        expect(hops({ TRUSTED_PROXY_HOPS: 0 }).status).not.toBe(0);
        expect(hops({ TRUSTED_PROXY_HOPS: 1 }).status).toBe(0);
        const own = { components: { gateway: { env: { TRUSTED_PROXY_HOPS: '2' } } } };
        expect(tryRender({ file: 'minimal', values: { ...edge, ...own } }).status).toBe(0);
      },
    );
  });

  it('accept unknown fields of Kubernetes objects', () => {
    const values = {
      defaults: { affinity: { nodeAffinity: { anything: true } }, tolerations: [{ key: 'x', operator: 'Exists' }] },
    };
    expect(tryRender({ file: 'minimal', values }).status).toBe(0);
  });
});

describe('chart upgrades (rules/operations#availability)', () => {
  /** Returns the fields that Kubernetes does not allow an upgrade to change, by object. */
  const listImmutable = (file: string): Record<string, unknown> =>
    Object.fromEntries(
      byKind(render({ file }), 'Deployment', 'StatefulSet', 'Service', 'PodDisruptionBudget').map(
        ({ kind, metadata, spec = {} }) => [
          `${kind}/${metadata.name}`,
          {
            selector: spec['selector'],
            ...(kind === 'StatefulSet'
              ? { serviceName: spec['serviceName'], volumeClaimTemplates: spec['volumeClaimTemplates'] }
              : {}),
          },
        ],
      ),
    );

  it.each(valueFiles)('preserve selectors and immutable fields of the previous release: ci/%s-values.yaml', (file) => {
    const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'previous-release.json'), 'utf8')) as Record<
      string,
      Record<string, unknown>
    >;
    const before = recorded[file];
    expect(before).toBeDefined();
    const now = listImmutable(file);
    // These services had only the metrics port, which moved to a separate metrics service.
    const gone = Object.keys(before ?? {}).filter((name) => !(name in now));
    expect(gone.map((name) => name.replace(/.*-/, ''))).toEqual([
      'agents',
      'conversations',
      'directory',
      'transcripts',
    ]);
    expect(gone.every((name) => name.startsWith('Service/'))).toBe(true);
    expect(now).toMatchObject(Object.fromEntries(Object.entries(before ?? {}).filter(([name]) => name in now)));
  });

  it('are documented in UPGRADING.md with a section for the chart version', () => {
    const version = /^version: (.*)$/m.exec(readFileSync(join(chartDir, 'Chart.yaml'), 'utf8'))?.[1] ?? '';
    expect(readFileSync(join(chartDir, 'UPGRADING.md'), 'utf8')).toContain(`| ${version} |`);
  });

  it('preserve selector labels when the chart version changes', () => {
    const { object } = workload(
      render({ file: 'minimal', args: ['--set', 'image.tag=9.9.9', '--set', 'global.labels.team=x'] }),
      'agents',
    );
    expect(object.spec?.['selector']).toEqual(
      workload(render({ file: 'minimal' }), 'agents').object.spec?.['selector'],
    );
  });
});
