/** Pod settings in the values apply to every pod: services, Jobs, toolbox and helm test. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  byKind,
  containersOf,
  findInvalid,
  findObject,
  type KubernetesObject,
  listPods,
  provideChartTools,
  provideChartToolsTimeoutMs,
  render,
  renderText,
  tryRender,
  workload,
} from './chart.ts';

beforeAll(provideChartTools, provideChartToolsTimeoutMs);

const components = ['agents', 'conversations', 'directory', 'events', 'gateway', 'media', 'transcripts'];
/** Component → section of the values. */
const tasks = {
  setup: 'migrations',
  audit: 'audit',
  workspace: 'workspace',
  toolbox: 'toolbox',
  backup: 'backup',
  test: 'tests',
};
/** Values that enable every pod of the chart. */
const everything = {
  workspace: { file: 'people: []' },
  toolbox: { enabled: true },
  backup: { enabled: true, url: 's3://elsewhere/nightly' },
};
type Section = Record<string, any>;

/** Adds these keys to the section of each Job and of the toolbox in `everything`. */
const withTasks = (section: (name: string) => Section): Section =>
  Object.fromEntries(
    Object.values(tasks).map((name) => [name, { ...(everything as Record<string, object>)[name], ...section(name) }]),
  );
const componentOf = (labels: Record<string, string> | undefined): string =>
  labels?.['app.kubernetes.io/component'] ?? '';

/** Returns pods by component, with the object that creates them. */
function readPods(values: Section): Record<string, { owner: KubernetesObject; metadata: Section; spec: Section }> {
  const objects = render({ file: 'minimal', values });
  const owners = objects.filter((object) => listPods([object]).length > 0);
  return Object.fromEntries(
    owners.map((owner) => {
      const jobs = (owner.spec as Section)['jobTemplate']?.spec ?? owner.spec;
      const { metadata, spec } = owner.kind === 'Pod' ? (owner as unknown as Section) : jobs.template;
      return [componentOf(owner.metadata.labels), { owner, metadata, spec }];
    }),
  );
}

const passedOn = {
  priorityClassName: 'important',
  runtimeClassName: 'gvisor',
  nodeSelector: { pool: 'own' },
  tolerations: [{ key: 'own', operator: 'Exists' }],
  affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
  hostAliases: [{ ip: '192.0.2.1', hostnames: ['db.example.org'] }],
  dnsPolicy: 'None',
  dnsConfig: { nameservers: ['192.0.2.53'] },
};

describe('pod settings in the chart values (rules/operations#values-of-the-chart)', () => {
  const own = (name: string): Section => ({
    ...passedOn,
    annotations: { owner: name },
    podAnnotations: { pod: name },
    podLabels: { team: name },
    podSecurityContext: { fsGroup: 77 },
    containerSecurityContext: { runAsUser: 77 },
    serviceAccount: { create: true, annotations: { role: name } },
    extraEnv: [{ name: 'LOG_LEVEL', value: name }],
    extraEnvFrom: [{ configMapRef: { name } }],
    extraVolumes: [{ name: 'own', emptyDir: {} }],
    extraVolumeMounts: [{ name: 'own', mountPath: '/own' }],
    initContainers: [{ name: 'proxy', image: 'proxy:1', restartPolicy: 'Always' }],
    extraContainers: [{ name: 'beside', image: 'beside:1' }],
    resources: { requests: { 'ephemeral-storage': '77Mi' } },
  });
  const values = { ...withTasks(own), defaults: { ...own('defaults'), replicas: 1 } };

  it.each([...components, ...Object.keys(tasks)])('of a section apply to every pod of %s', (component) => {
    const { owner, metadata, spec } = readPods(values)[component] ?? {};
    const section = (tasks as Record<string, string>)[component] ?? 'defaults';
    expect(spec).toMatchObject({ ...passedOn, securityContext: { runAsNonRoot: true, fsGroup: 77 } });
    if (component !== 'test') expect(owner?.metadata.annotations).toMatchObject({ owner: section });
    expect(metadata).toMatchObject({ annotations: { pod: section }, labels: { team: section } });
    expect(spec?.['serviceAccountName']).toBe(`demo-coherence-${component}`);
    const account = findObject(render({ file: 'minimal', values }), 'ServiceAccount', `demo-coherence-${component}`);
    expect(account.metadata.annotations).toMatchObject({ role: section });
    expect(spec?.['initContainers'][0]).toMatchObject({ name: 'proxy', restartPolicy: 'Always' });
    expect(spec?.['containers'].at(-1)).toMatchObject({ name: 'beside' });
    expect(spec?.['volumes'].at(-1)).toEqual({ name: 'own', emptyDir: {} });
    const platform = containersOf(spec as Parameters<typeof containersOf>[0]).filter(
      ({ name }) => !['proxy', 'beside'].includes(name),
    );
    for (const container of platform) {
      expect(container).toMatchObject({
        envFrom: [{ configMapRef: { name: section } }],
        resources: { requests: { 'ephemeral-storage': '77Mi' } },
        securityContext: { runAsUser: 77, readOnlyRootFilesystem: true },
      });
      expect(container.volumeMounts?.at(-1)).toEqual({ name: 'own', mountPath: '/own' });
      // Server-side apply rejects duplicate variables.
      expect(container.env?.filter(({ name }) => name === 'LOG_LEVEL')).toEqual([
        { name: 'LOG_LEVEL', value: section },
      ]);
    }
  });

  it('are accepted by Kubernetes in every pod', () => {
    expect(findInvalid(renderText({ file: 'minimal', values }))).toBe('');
  });

  it('of the defaults also apply to the scheduling of Jobs, and to nothing else in Jobs', () => {
    const { podAnnotations, annotations, initContainers, extraContainers, ...shared } = own('defaults');
    const unlike = { podAnnotations, annotations, initContainers, extraContainers };
    const pods = readPods({ ...everything, defaults: { ...shared, ...unlike } });
    for (const component of Object.keys(tasks)) {
      const { owner, metadata, spec } = pods[component] ?? {};
      expect(spec).toMatchObject(passedOn);
      expect(metadata?.['labels']).toMatchObject({ team: 'defaults' });
      expect(metadata?.['annotations']?.pod ?? owner?.metadata.annotations?.['owner']).toBeUndefined();
      expect(JSON.stringify(spec)).not.toMatch(/"proxy"|"beside"/);
      expect(spec?.['containers'][0].env).toContainEqual({ name: 'LOG_LEVEL', value: 'defaults' });
    }
  });

  it('of a component override the defaults', () => {
    const given = {
      defaults: { priorityClassName: 'usual', podLabels: { a: '1' } },
      components: { media: { priorityClassName: 'first', podLabels: { b: '2' } } },
    };
    const pods = readPods(given);
    expect(pods['media']?.spec['priorityClassName']).toBe('first');
    expect(pods['media']?.metadata['labels']).toMatchObject({ a: '1', b: '2' });
    expect(pods['agents']?.spec['priorityClassName']).toBe('usual');
  });

  it('of a Deployment control how its pods are replaced and spread', () => {
    const strategy = { type: 'Recreate' };
    const topologySpreadConstraints = [{ maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' }];
    const media = {
      strategy,
      minReadySeconds: 5,
      revisionHistoryLimit: 1,
      topologySpreadConstraints,
      topologySpread: { zone: '', node: '' },
    };
    const { object, pod } = workload(render({ file: 'minimal', values: { components: { media } } }), 'media');
    expect(object.spec).toMatchObject({ strategy: { type: 'Recreate' }, minReadySeconds: 5, revisionHistoryLimit: 1 });
    expect(object.spec?.['strategy']).not.toHaveProperty('rollingUpdate');
    expect((pod as unknown as Section)['topologySpreadConstraints']).toEqual([
      {
        ...topologySpreadConstraints[0],
        labelSelector: { matchLabels: expect.objectContaining({ 'app.kubernetes.io/component': 'media' }) },
      },
    ]);
  });

  it.each([
    ['defaults', { defaults: { priorityClass: 'x' } }, /at '\/defaults'.*'priorityClass' not allowed/],
    [
      'a component',
      { components: { media: { serviceAcount: {} } } },
      /at '\/components\/media'.*'serviceAcount' not allowed/,
    ],
    ['an account', { audit: { serviceAccount: { creat: true } } }, /at '\/audit\/serviceAccount'.*'creat' not allowed/],
    ['a Service', { defaults: { service: { ports: [] } } }, /at '\/defaults\/service'.*'ports' not allowed/],
    [
      'the certificates',
      { global: { caBundle: { configmap: 'x' } } },
      /at '\/global\/caBundle'.*'configmap' not allowed/,
    ],
    ['a secret', { secrets: { keys: { API_TOKN: 'x' } } }, /at '\/secrets\/keys'.*'API_TOKN' not allowed/],
  ])('are rejected when a name is misspelt in %s', (_what, misspelt, message) => {
    const { status, stderr } = tryRender({ file: 'minimal', values: misspelt });
    expect([status === 0, stderr.replaceAll('\n', ' ')]).toEqual([false, expect.stringMatching(message)]);
  });
});

describe('service accounts of pods', () => {
  it('are shared by the release unless a component has a separate account, and not used by the set-up job', () => {
    const media = { serviceAccount: { create: true, name: 'bucket', annotations: { role: 'media' } } };
    const pods = readPods({ ...everything, components: { media } });
    const accounts = Object.fromEntries(
      Object.entries(pods).map(([name, { spec }]) => [name, spec['serviceAccountName']]),
    );
    const { media: own, setup, ...others } = accounts;
    expect([own, setup]).toEqual(['bucket', undefined]);
    expect([...new Set(Object.values(others))]).toEqual(['demo-coherence']);
  });

  it('of the set-up job are created before the hook runs', () => {
    const objects = render({ file: 'minimal', values: { migrations: { serviceAccount: { create: true } } } });
    const account = findObject(objects, 'ServiceAccount', 'demo-coherence-setup').metadata.annotations ?? {};
    const job = findObject(objects, 'Job', 'demo-coherence-setup').metadata.annotations ?? {};
    expect(account['helm.sh/hook']).toBe(job['helm.sh/hook']);
    expect(Number(account['helm.sh/hook-weight'])).toBeLessThan(Number(job['helm.sh/hook-weight']));
  });
});

describe('certificates of a private authority (global.caBundle)', () => {
  it.each([
    [
      'a ConfigMap',
      { configMap: 'company-ca', key: 'bundle.pem' },
      { configMap: { name: 'company-ca', items: [{ key: 'bundle.pem', path: 'ca.crt' }] } },
    ],
    [
      'a Secret',
      { secret: 'company-ca' },
      { secret: { secretName: 'company-ca', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    ],
  ])('from %s are trusted in every pod and Job', (_what, caBundle, volume) => {
    for (const mode of ['hook', 'initContainer']) {
      const pods = readPods({ ...everything, global: { caBundle }, migrations: { mode } });
      expect(Object.keys(pods).length).toBeGreaterThanOrEqual(components.length + 5);
      for (const [component, { spec }] of Object.entries(pods)) {
        expect([component, spec['volumes']]).toEqual([
          component,
          expect.arrayContaining([{ name: 'ca-bundle', ...volume }]),
        ]);
        for (const { env, volumeMounts } of containersOf(spec as Parameters<typeof containersOf>[0])) {
          expect(env).toContainEqual({ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/coherence/ca/ca.crt' });
          expect(volumeMounts).toContainEqual({ name: 'ca-bundle', mountPath: '/etc/coherence/ca', readOnly: true });
        }
      }
    }
  });

  it('are replaced by a variable of the values, and never set twice', () => {
    const variable = { name: 'NODE_EXTRA_CA_CERTS', value: '/own/ca.crt' };
    const values = { global: { caBundle: { secret: 'x' } }, components: { media: { extraEnv: [variable] } } };
    const env = workload(render({ file: 'minimal', values }), 'media').container.env ?? [];
    expect(env.filter(({ name }) => name === variable.name)).toEqual([variable]);
    const both = { global: { caBundle: { secret: 'x', configMap: 'y' } } };
    expect(tryRender({ file: 'minimal', values: both }).stderr).toContain(
      'global.caBundle.configMap and global.caBundle.secret exclude each other',
    );
  });
});

describe('NATS credentials in the chart (docs/guides/tls.md#nats)', () => {
  const place = '/etc/coherence/nats';
  /** Returns containers that connect to NATS, with their file variables and volume sources. */
  const read = (values: Section): Record<string, { files: Record<string, string>; sources: Section[] }> =>
    Object.fromEntries(
      Object.entries(readPods({ ...everything, ...values })).flatMap(([component, { spec }]) =>
        containersOf(spec as Parameters<typeof containersOf>[0]).flatMap(({ name, env = [], volumeMounts = [] }) => {
          const named = env.filter(({ value }) => value?.startsWith(place));
          const volume = spec['volumes'].find((one: Section) => one['name'] === `nats-${name}`);
          if (volume === undefined && named.length === 0) return [];
          expect(volumeMounts).toContainEqual({ name: `nats-${name}`, mountPath: place, readOnly: true });
          const files = Object.fromEntries(named.map((one) => [one.name, one.value?.slice(place.length + 1) ?? '']));
          return [[`${component}/${name}`, { files, sources: volume.projected.sources }]];
        }),
      ),
    );

  it('are mounted as a file of one user in each pod and Job that connects, and as files of all users in the set-up job, which checks them', () => {
    const values = { nats: { credentials: { secret: 'nats-creds' } } };
    const found = read(values);
    const users = {
      'toolbox/toolbox': 'cli',
      'workspace/workspace': 'cli',
      ...Object.fromEntries(components.map((name) => [`${name}/${name}`, name])),
    };
    expect(Object.keys(found).toSorted()).toEqual([...Object.keys(users), 'setup/streams'].toSorted());
    for (const [container, user] of Object.entries(users)) {
      const items = [{ key: `${user === 'gateway' ? 'api-gateway' : user}.creds`, path: `${user}/credentials` }];
      expect([container, found[container]]).toEqual([
        container,
        { files: { NATS_CREDS_FILE: `${user}/credentials` }, sources: [{ secret: { name: 'nats-creds', items } }] },
      ]);
    }
    const { files, sources = [] } = found['setup/streams'] ?? {};
    const checked = [...components, 'cli'].map((name) => [
      `NATS_CREDS_FILE_${name.toUpperCase()}`,
      `${name}/credentials`,
    ]);
    expect(files).toEqual({ NATS_CREDS_FILE: 'admin/credentials', ...Object.fromEntries(checked) });
    expect(sources.filter(({ secret }) => secret.optional !== true)).toEqual([
      { secret: { name: 'nats-creds', items: [{ key: 'admin.creds', path: 'admin/credentials' }] } },
    ]);
    expect(findInvalid(renderText({ file: 'minimal', values: { ...everything, ...values } }))).toBe('');
  });

  it('of the administrator are the only credentials in an init container', () => {
    const found = read({ nats: { credentials: { secret: 'nats-creds' } }, migrations: { mode: 'initContainer' } });
    expect(found['gateway/streams']?.files).toEqual({ NATS_CREDS_FILE: 'admin/credentials' });
  });

  it('can be nkey seeds and client certificates, with a separate Secret per user', () => {
    const found = read({
      nats: {
        credentials: { secret: 'seeds', kind: 'nkey' },
        clientCertificate: { secret: 'clients' },
        users: {
          media: {
            credentials: { secret: 'media-seed', key: 'seed' },
            clientCertificate: { secret: 'media-tls', certKey: 'cert.pem' },
          },
        },
      },
      components: { events: { extraEnv: [{ name: 'NATS_TLS_CERT_FILE', value: '/own/tls.crt' }] } },
    });
    const pair = { NATS_TLS_CERT_FILE: 'media/tls.crt', NATS_TLS_KEY_FILE: 'media/tls.key' };
    expect(found['media/media']).toEqual({
      files: { NATS_NKEY_SEED_FILE: 'media/credentials', ...pair },
      sources: [
        { secret: { name: 'media-seed', items: [{ key: 'seed', path: 'media/credentials' }] } },
        {
          secret: {
            name: 'media-tls',
            items: [
              { key: 'cert.pem', path: 'media/tls.crt' },
              { key: 'tls.key', path: 'media/tls.key' },
            ],
          },
        },
      ],
    });
    expect(found['agents/agents']?.sources).toEqual([
      { secret: { name: 'seeds', items: [{ key: 'agents.nk', path: 'agents/credentials' }] } },
      {
        secret: {
          name: 'clients',
          items: [
            { key: 'tls.crt', path: 'agents/tls.crt' },
            { key: 'tls.key', path: 'agents/tls.key' },
          ],
        },
      },
    ]);
    expect(found['events/events']?.files).not.toHaveProperty('NATS_TLS_CERT_FILE');
    expect(read({})).toEqual({});
  });

  it('are rejected together with the evaluation NATS server, and for unknown users', () => {
    const evaluation = { nats: { credentials: { secret: 'x' } } };
    expect(tryRender({ file: 'evaluation', values: evaluation }).stderr).toContain(
      'profiles=evaluation excludes nats.credentials',
    );
    expect(tryRender({ file: 'minimal', values: { nats: { users: { unknown: {} } } } }).stderr).toMatch(
      /nats\/users.*unknown/,
    );
  });
});

describe('secrets from several Secrets, and as files (rules/operations#secrets)', () => {
  it('are read from the Secret that the values name for each setting', () => {
    const keys = {
      DATABASE_URL_MEDIA: { secret: 'postgresql', key: 'media' },
      NATS_URL_MEDIA: { secret: 'nats' },
      METRICS_TOKEN: 'token',
    };
    const env = workload(render({ file: 'minimal', values: { secrets: { keys } } }), 'media').container.env ?? [];
    const places = Object.fromEntries(env.map(({ name, valueFrom }) => [name, valueFrom?.secretKeyRef]));
    expect(places).toMatchObject({
      DATABASE_URL: { name: 'postgresql', key: 'media' },
      NATS_URL: { name: 'nats', key: 'NATS_URL_MEDIA' },
      METRICS_TOKEN: { name: 'coherence', key: 'token' },
    });
    const monitor = {
      metrics: { serviceMonitor: { enabled: true, token: true } },
      secrets: { keys: { METRICS_TOKEN: { secret: 'm', key: 't' } } },
    };
    const [found] = byKind(render({ file: 'minimal', values: monitor }), 'ServiceMonitor');
    expect((found?.spec as { endpoints: Section[] } | undefined)?.endpoints[0]?.['authorization'].credentials).toEqual({
      name: 'm',
      key: 't',
    });
  });

  it('are not reported as missing when another configured Secret contains them', () => {
    const keys = { DATABASE_URL_ADMIN: { secret: 'postgresql' } };
    const { stderr } = tryRender({ values: { secrets: { keys } } });
    expect(stderr).toContain('DATABASE_URL_MEDIA');
    expect(stderr).not.toContain('DATABASE_URL_ADMIN');
  });

  it('are mounted as files per container, instead of variables, when this is enabled', () => {
    const values = { ...everything, secrets: { mountAsFiles: true, keys: { NATS_URL_ADMIN: { secret: 'nats' } } } };
    for (const [component, { spec }] of Object.entries(readPods(values))) {
      for (const { name, env = [], volumeMounts = [] } of containersOf(spec as Parameters<typeof containersOf>[0])) {
        expect([component, env.filter(({ valueFrom }) => valueFrom !== undefined)]).toEqual([component, []]);
        expect(env).toContainEqual({ name: 'SECRETS_DIR', value: '/etc/coherence/secrets' });
        expect(volumeMounts).toContainEqual({
          name: `secrets-${name}`,
          mountPath: '/etc/coherence/secrets',
          readOnly: true,
        });
      }
    }
    const volume = readPods(values)['setup']?.spec['volumes'].find(({ name }: Section) => name === 'secrets-streams');
    expect(volume.projected.sources).toEqual(
      expect.arrayContaining([{ secret: { name: 'nats', items: [{ key: 'NATS_URL_ADMIN', path: 'NATS_URL' }] } }]),
    );
    expect(findInvalid(renderText({ file: 'minimal', values }))).toBe('');
  });
});
