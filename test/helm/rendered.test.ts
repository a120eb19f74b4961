import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  argumentsOf,
  byKind,
  chartDir,
  containersOf,
  findInvalid,
  findObject,
  helm,
  type KubernetesObject,
  listPods,
  podTemplateOf,
  provideChartTools,
  provideChartToolsTimeoutMs,
  render,
  renderText,
  valueFiles,
  workload,
} from './chart.ts';

beforeAll(provideChartTools, provideChartToolsTimeoutMs);

const components = ['agents', 'conversations', 'directory', 'events', 'gateway', 'media', 'transcripts'];

describe.each(valueFiles)('the chart with ci/%s-values.yaml (rules/operations#values-of-the-chart)', (file) => {
  it('passes helm lint', () => {
    const { status, stdout } = helm(['lint', '--strict', chartDir, ...argumentsOf(file)]);
    expect({ status, stdout }).toMatchObject({ status: 0 });
  });

  it('renders only objects that Kubernetes accepts', () => {
    expect(findInvalid(renderText({ file }))).toBe('');
  });

  it('renders the same twice: nothing is generated', () => {
    expect(renderText({ file })).toBe(renderText({ file }));
  });

  it('passes Pod Security "restricted" in every pod', () => {
    const allowedVolumes = new Set([
      'configMap',
      'csi',
      'downwardAPI',
      'emptyDir',
      'ephemeral',
      'persistentVolumeClaim',
      'projected',
      'secret',
    ]);
    const pods = listPods(render({ file }));
    expect(pods.length).toBeGreaterThanOrEqual(components.length);
    for (const { owner, spec } of pods) {
      expect({ owner, context: spec.securityContext }).toMatchObject({
        context: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect({ owner, token: spec.automountServiceAccountToken }).toEqual({ owner, token: false });
      expect(spec.hostNetwork).toBeUndefined();
      for (const volume of spec.volumes ?? []) {
        expect({ owner, kinds: Object.keys(volume).filter((key) => key !== 'name' && !allowedVolumes.has(key)) }).toEqual({
          owner,
          kinds: [],
        });
      }
      for (const { name, securityContext } of containersOf(spec)) {
        expect({ owner, name, securityContext }).toMatchObject({
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        });
      }
    }
  });

  it('gives the pods of the platform no fixed uid and a read-only root', () => {
    for (const component of components) {
      const { pod, container } = workload(render({ file }), component);
      expect(pod.securityContext).not.toHaveProperty('runAsUser');
      // Only who keeps webhooks on volumes says whose they are.
      expect(pod.securityContext?.['fsGroup']).toBe(file === 'high-availability' ? 1_000 : undefined);
      expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true });
      expect(container.volumeMounts).toEqual(expect.arrayContaining([{ name: 'tmp', mountPath: '/tmp' }]));
    }
  });

  it('names and labels everything by the release, and selects by labels that never change', () => {
    const objects = render({ file });
    const names = objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    for (const { kind, metadata } of objects) {
      expect({ kind, labels: metadata.labels }).toMatchObject({
        labels: { 'app.kubernetes.io/instance': 'demo', 'app.kubernetes.io/part-of': 'coherence' },
      });
    }
    for (const component of components) {
      const selector = workload(objects, component).object.spec?.['selector'] as { matchLabels: Record<string, string> };
      expect(Object.keys(selector.matchLabels).toSorted()).toEqual([
        'app.kubernetes.io/component',
        'app.kubernetes.io/instance',
        'app.kubernetes.io/name',
      ]);
    }
  });

  it('asks liveness of the process, readiness of what it needs, and lets pods drain before they are killed', () => {
    for (const component of components) {
      const { pod, container } = workload(render({ file }), component);
      expect(container).toMatchObject({
        livenessProbe: { httpGet: { path: '/livez' } },
        readinessProbe: { httpGet: { path: '/readyz' } },
        startupProbe: { httpGet: { path: '/startupz' } },
        lifecycle: { preStop: { sleep: { seconds: 8 } } },
      });
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(8 + 26);
    }
  });
});

describe('replicas and scaling (rules/operations#availability)', () => {
  const base = { file: 'minimal' };

  it('replaces pods without ever having fewer, and keeps a budget when there is more than one', () => {
    const objects = render(base);
    for (const component of components) {
      const { object } = workload(objects, component);
      expect(object.spec).toMatchObject({ replicas: 2, strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } });
    }
    expect(byKind(objects, 'PodDisruptionBudget')).toHaveLength(components.length);
    const single = render({ ...base, values: { defaults: { replicas: 1 } } });
    expect(byKind(single, 'PodDisruptionBudget')).toEqual([]);
  });

  it.each(['hpa', 'keda'])('leaves the number of pods to %s, and never uses both', (type) => {
    const autoscaling = { type, natsMonitoringEndpoint: 'nats:8222' };
    const objects = render({ ...base, values: { components: { transcripts: { autoscaling } } } });
    expect(workload(objects, 'transcripts').object.spec).not.toHaveProperty('replicas');
    expect(workload(objects, 'media').object.spec).toHaveProperty('replicas');
    expect(byKind(objects, 'HorizontalPodAutoscaler')).toHaveLength(type === 'hpa' ? 1 : 0);
    expect(byKind(objects, 'ScaledObject')).toHaveLength(type === 'keda' ? 1 : 0);
  });

  it('scales job workers by every queue that they work, under the prefix of the installation', () => {
    const autoscaling = { type: 'keda', natsMonitoringEndpoint: 'nats:8222' };
    const objects = render({
      ...base,
      values: { settings: { NATS_SUBJECT_PREFIX: 'blue' }, components: { transcripts: { autoscaling } } },
    });
    const [scaled] = byKind(objects, 'ScaledObject');
    expect(scaled?.spec?.['triggers']).toEqual(
      expect.arrayContaining([
        {
          type: 'nats-jetstream',
          metadata: expect.objectContaining({ stream: 'blue_JOBS', consumer: 'transcripts_transcript-import', account: '$G' }),
        },
      ]),
    );
  });

  it('spreads over zones and nodes', () => {
    const constraints = (workload(render({ file: 'high-availability' }), 'agents').pod as unknown as Record<string, unknown[]>)[
      'topologySpreadConstraints'
    ];
    expect(constraints).toEqual([
      expect.objectContaining({ topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'DoNotSchedule' }),
      expect.objectContaining({ topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' }),
    ]);
  });

  it('keeps webhooks on a volume for each gateway when asked', () => {
    const { object, container } = workload(render({ file: 'high-availability' }), 'gateway');
    expect(object.kind).toBe('StatefulSet');
    expect(object.spec).toMatchObject({
      serviceName: 'demo-coherence-gateway',
      volumeClaimTemplates: [
        { metadata: { name: 'spool' }, spec: { storageClassName: 'fast', resources: { requests: { storage: '5Gi' } } } },
      ],
    });
    expect(container.volumeMounts).toContainEqual({ name: 'spool', mountPath: '/var/spool/coherence' });
  });
});

describe('migrations and streams (rules/operations#migrations-and-streams)', () => {
  it('run as a hook before pods are replaced, with a copy of the secret of their own, one attempt at a time', () => {
    const objects = render({ file: 'evaluation' });
    const job = findObject(objects, 'Job', 'demo-coherence-setup');
    const copy = findObject(objects, 'Secret', 'demo-coherence-setup');
    const hook = { 'helm.sh/hook': 'post-install,pre-upgrade' };
    expect(job.metadata.annotations).toMatchObject({ ...hook, 'helm.sh/hook-delete-policy': 'before-hook-creation' });
    // The administrator's addresses do not outlive the work, and what stays of it goes by itself: helm uninstall removes no hook.
    expect(copy.metadata.annotations).toMatchObject({ ...hook, 'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded' });
    expect(findObject(objects, 'Job', 'demo-coherence-workspace').spec).toMatchObject({ ttlSecondsAfterFinished: 3600 });
    expect(Number(copy.metadata.annotations?.['helm.sh/hook-weight'])).toBeLessThan(
      Number(job.metadata.annotations?.['helm.sh/hook-weight']),
    );
    expect(job.spec).toMatchObject({ activeDeadlineSeconds: 3600, backoffLimit: 3, ttlSecondsAfterFinished: 3600 });
    const [{ spec } = { spec: undefined }] = listPods([job]);
    expect(spec?.initContainers?.[0]).toMatchObject({ name: 'migrate', command: ['node', 'tools/migrate.ts'] });
    expect(spec?.initContainers?.[0]?.env).toContainEqual({ name: 'MIGRATION_WAIT_SECONDS', value: '300' });
    expect(spec?.containers[0]).toMatchObject({ name: 'streams', command: ['node', 'tools/streams.ts'] });
    expect(spec?.containers[0]?.env).toContainEqual({ name: 'NATS_STREAM_WEBHOOKS_MAX_BYTES', value: '1073741824' });
    const names = containersOf(spec ?? { containers: [] }).flatMap(({ env = [] }) => env.map(({ valueFrom }) => valueFrom?.secretKeyRef));
    for (const reference of names.filter((name) => name !== undefined)) {
      expect(reference.name).toBe('demo-coherence-setup');
      expect(copy.stringData).toHaveProperty(reference.key);
    }
    expect(spec?.serviceAccountName).toBeUndefined(); // the release's account does not exist yet
  });

  it('keep the streams on as many servers as the values say, and leave them when they say nothing', () => {
    const of = (replicas: unknown): unknown => {
      const [setup] = listPods([findObject(render({ file: 'minimal', values: { streams: { replicas } } }), 'Job', 'demo-coherence-setup')]);
      return setup?.spec.containers[0]?.env?.find(({ name }) => name === 'NATS_STREAM_REPLICAS')?.value;
    };
    expect([of(3), of('')]).toEqual(['3', undefined]);
  });

  it('run as a job of each revision, in every pod, or not at all', () => {
    const of = (mode: string) => render({ file: 'minimal', values: { migrations: { mode } } });
    expect(findObject(of('job'), 'Job', 'demo-coherence-setup-1').metadata.annotations).toBeUndefined();
    const { pod } = workload(of('initContainer'), 'media');
    expect(pod.initContainers?.map(({ name }) => name)).toEqual(['migrate', 'streams']);
    expect(byKind(of('initContainer'), 'Job')).toEqual([]);
    expect(byKind(of('none'), 'Job')).toEqual([]);
  });
});

describe('pods that run to their end', () => {
  it('take the annotations that keep a sidecar away: of the set-up, of the workspace and of helm test', () => {
    const podAnnotations = { 'sidecar.istio.io/inject': 'false' };
    const objects = render({ file: 'minimal', values: { migrations: { podAnnotations }, workspace: { file: 'people: []' } } });
    for (const name of ['setup', 'workspace'])
      expect(podTemplateOf(findObject(objects, 'Job', `demo-coherence-${name}`)).metadata.annotations).toEqual(podAnnotations);
    expect(findObject(objects, 'Pod', 'demo-coherence-test').metadata.annotations).toMatchObject({
      'helm.sh/hook': 'test',
      ...podAnnotations,
    });
  });
});

describe('scratch folders (rules/operations#least-privilege)', () => {
  it.each([
    ['media', 'MEDIA_SCRATCH_DIR', '10Gi'],
    ['transcripts', 'TRANSCRIPTION_SCRATCH_DIR', '2Gi'],
  ])('%s works on its own volume of a bounded size', (component, variable, sizeLimit) => {
    const { container, pod } = workload(render({ file: 'minimal' }), component);
    const mount = container.volumeMounts?.find(({ name }) => name === 'scratch');
    expect(container.env).toContainEqual({ name: variable, value: mount?.mountPath });
    expect(pod.volumes).toContainEqual({ name: 'scratch', emptyDir: { sizeLimit } });
  });
});

describe('metrics', () => {
  it('are read with the token of the Secret where it is asked for', () => {
    const of = (serviceMonitor: Record<string, unknown>) =>
      byKind(
        render({ file: 'external-services', values: { metrics: { serviceMonitor: { enabled: true, ...serviceMonitor } } } }),
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

describe('alerts (rules/operations#alerts-and-dashboards)', () => {
  const rulesOf = (rule: Record<string, unknown> = {}, values: Record<string, unknown> = {}): { alert: string; expr: string }[] => {
    const metrics = { prometheusRule: { enabled: true, ...rule } };
    const [rendered] = byKind(render({ file: 'minimal', values: { ...values, metrics } }), 'PrometheusRule');
    const groups = (rendered?.spec?.['groups'] ?? []) as { rules: { alert: string; expr: string }[] }[];
    return groups.flatMap(({ rules }) => rules);
  };

  it('see the namespace of the release and the names of its objects, and nothing is left to fill in', () => {
    const rules = rulesOf();
    expect(rules.length).toBeGreaterThan(40);
    for (const { alert, expr } of rules) expect([alert, expr]).toEqual([alert, expect.stringContaining('namespace="apps"')]);
    const text = JSON.stringify(rules.map(({ expr }) => expr));
    expect(text.match(/\$(namespace|release|components|claims)/g)).toBeNull();
    expect(text).toContain('demo-coherence-(setup|workspace)');
    expect(text).toContain('demo-coherence-(agents|conversations|directory|events|gateway|media|transcripts)-.*');
    expect(JSON.stringify(rules)).not.toMatch(/"(runbook|instant)":/);
  });

  it('tell two releases of a namespace apart by the labels of the values, and watch the volume of the backups', () => {
    const backup = { enabled: true, url: '/backups', existingClaim: 'disk' };
    const rules = rulesOf({ matchers: { job: 'blue' } }, { backup });
    for (const { alert, expr } of rules) expect([alert, expr]).toEqual([alert, expect.stringContaining('namespace="apps", job="blue"')]);
    expect(rules.find(({ alert }) => alert === 'CoherenceVolumeFilling')?.expr).toContain('(data|spool)-demo-coherence-.*|disk"');
  });
});

describe('edges (rules/operations#edges)', () => {
  it('let in bodies as large as the largest upload, and send /media straight to the media service', () => {
    const [ingress] = byKind(render({ file: 'external-services' }), 'Ingress');
    expect(Number(ingress?.metadata.annotations?.['nginx.ingress.kubernetes.io/proxy-body-size'])).toBe(524_288_000 + 1_048_576);
    const rules = ingress?.spec?.['rules'] as { http: { paths: { path: string; backend: { service: { name: string } } }[] } }[];
    expect(rules[0]?.http.paths.map(({ path, backend }) => [path, backend.service.name])).toEqual([
      ['/media/', 'demo-coherence-media'],
      ['/', 'demo-coherence-gateway'],
    ]);
  });

  it('route through a Gateway', () => {
    const [routeObject] = byKind(render({ file: 'high-availability' }), 'HTTPRoute');
    expect(routeObject?.spec).toMatchObject({
      parentRefs: [{ name: 'public', namespace: 'gateways' }],
      hostnames: ['coherence.example.org'],
      rules: [
        { matches: [{ path: { value: '/media' } }], backendRefs: [{ name: 'demo-coherence-media', port: 8081 }] },
        { matches: [{ path: { value: '/' } }], backendRefs: [{ name: 'demo-coherence-gateway', port: 80 }] },
      ],
    });
  });

  describe('close everything else: each component and job has a policy of its own, in and out by need', () => {
    const tasks = ['audit', 'backup', 'setup', 'test', 'toolbox', 'workspace'];
    const policiesOf = (options: Parameters<typeof render>[0]): KubernetesObject[] => byKind(render(options), 'NetworkPolicy');
    const portsOut = (policies: readonly KubernetesObject[], name: string): unknown[] => {
      const rules = (findObject(policies, 'NetworkPolicy', `demo-coherence-${name}`).spec?.['egress'] ?? []) as {
        ports: { port: unknown }[];
      }[];
      return rules.flatMap(({ ports }) => ports.map(({ port }) => port));
    };
    const rulesIn = (policies: readonly KubernetesObject[], name: string): { ports?: { port: unknown }[]; from?: unknown[] }[] =>
      findObject(policies, 'NetworkPolicy', `demo-coherence-${name}`).spec?.['ingress'] as ReturnType<typeof rulesIn>;
    let given: KubernetesObject[] = [];
    beforeAll(() => void (given = policiesOf({ file: 'external-services' })));

    it('out: to what the component knows', () => {
      expect(given.map(({ metadata }) => metadata.name)).toEqual([...components, ...tasks].map((name) => `demo-coherence-${name}`));
      expect(portsOut(given, 'directory')).toEqual(expect.arrayContaining([53, 4222, 5432]));
      expect(portsOut(given, 'directory')).not.toContain(443);
      expect(portsOut(given, 'gateway')).not.toContain(5432);
      expect(portsOut(given, 'media')).toContain(9000);
      expect(portsOut(given, 'agents')).toContain(443);
      expect(portsOut(given, 'setup')).toEqual([53, 53, 4222, 5432]);
      expect(portsOut(given, 'audit')).toEqual([53, 53, 5432]);
      expect(portsOut(given, 'test')).toEqual([53, 53, 'http']);
    });

    it('out to PostgreSQL from every pod that migrates before it starts', () => {
      const policies = policiesOf({ file: 'minimal', values: { migrations: { mode: 'initContainer' } } });
      for (const name of components) expect(portsOut(policies, name)).toContain(5432);
    });

    it('out to the ports of the DNS pods', () => {
      expect(portsOut(policiesOf({ file: 'openshift' }), 'agents')).toEqual(expect.arrayContaining([53, 5353]));
    });

    it("in: to jobs for nobody, to the gateway for the values' peers and helm test", () => {
      for (const name of tasks) expect(rulesIn(given, name)).toBeUndefined();
      expect(rulesIn(given, 'gateway')[1]?.from).toHaveLength(2);
      expect(rulesIn(policiesOf({ file: 'minimal' }), 'gateway')[1]).not.toHaveProperty('from');
      expect(rulesIn(given, 'directory').map(({ ports }) => ports)).toEqual([[{ port: 'metrics', protocol: 'TCP' }]]);
    });

    it("in: to media's files for the gateway and the values' peers, to its internal port for those who have business there", () => {
      const podsOf = (component: string) => ({
        podSelector: {
          matchLabels: {
            'app.kubernetes.io/name': 'coherence',
            'app.kubernetes.io/instance': 'demo',
            'app.kubernetes.io/component': component,
          },
        },
      });
      const ingress = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress-nginx' } } };
      expect(rulesIn(given, 'media').slice(1)).toEqual([
        { ports: [{ port: 'http', protocol: 'TCP' }], from: [podsOf('gateway'), ingress] },
        { ports: [{ port: 'internal', protocol: 'TCP' }], from: ['gateway', 'toolbox', 'transcripts', 'workspace'].map(podsOf) },
      ]);
      const reaching = (port: string): string[] => [...components, ...tasks].filter((name) => portsOut(given, name).includes(port));
      expect(reaching('internal')).toEqual(['gateway', 'transcripts', 'toolbox', 'workspace']);
      expect(reaching('http')).toEqual(['gateway', 'test']);
    });

    it('in: to metrics for the namespace of the monitoring, or whom the values name, or nobody', () => {
      const monitoring = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }];
      for (const name of components) {
        const [metrics] = rulesIn(policiesOf({ file: 'minimal' }), name);
        expect(metrics).toEqual({ ports: [{ port: 'metrics', protocol: 'TCP' }], from: monitoring });
        const closed = rulesIn(policiesOf({ file: 'minimal', values: { networkPolicy: { metricsFrom: [] } } }), name) ?? [];
        expect(JSON.stringify(closed)).not.toContain('metrics');
      }
    });

    it("in: to the evaluation's servers, whose credentials are known, for the release alone", () => {
      const [servers] = policiesOf({ file: 'evaluation' }).filter(({ metadata }) => metadata.name === 'demo-coherence-evaluation');
      const release = { matchLabels: { 'app.kubernetes.io/name': 'coherence', 'app.kubernetes.io/instance': 'demo' } };
      expect(servers?.spec).toMatchObject({ podSelector: release, ingress: [{ from: [{ podSelector: release }] }] });
      expect(servers?.spec).not.toHaveProperty('egress');
    });
  });
});
