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

  it('renders only objects that the Kubernetes schemas accept', () => {
    expect(findInvalid(renderText({ file }))).toBe('');
  });

  it('renders identical output twice with the same values', () => {
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
        expect({
          owner,
          kinds: Object.keys(volume).filter((key) => key !== 'name' && !allowedVolumes.has(key)),
        }).toEqual({
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

  it('sets no fixed uid in platform pods, and a read-only root file system', () => {
    for (const component of components) {
      const { pod, container } = workload(render({ file }), component);
      expect(pod.securityContext).not.toHaveProperty('runAsUser');
      // Only installations that spool webhooks on volumes set the owner.
      expect(pod.securityContext?.['fsGroup']).toBe(file === 'high-availability' ? 1_000 : undefined);
      expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true });
      expect(container.volumeMounts).toEqual(expect.arrayContaining([{ name: 'tmp', mountPath: '/tmp' }]));
    }
  });

  it('names and labels all objects by the release, and selects pods by labels that never change', () => {
    const objects = render({ file });
    const names = objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    for (const { kind, metadata } of objects) {
      expect({ kind, labels: metadata.labels }).toMatchObject({
        labels: { 'app.kubernetes.io/instance': 'demo', 'app.kubernetes.io/part-of': 'coherence' },
      });
    }
    for (const component of components) {
      const selector = workload(objects, component).object.spec?.['selector'] as {
        matchLabels: Record<string, string>;
      };
      expect(Object.keys(selector.matchLabels).toSorted()).toEqual([
        'app.kubernetes.io/component',
        'app.kubernetes.io/instance',
        'app.kubernetes.io/name',
      ]);
    }
  });

  it('has liveness and readiness probes, and a termination period that is long enough to drain', () => {
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

  it('replaces pods without reducing their number, and has a disruption budget for more than one replica', () => {
    const objects = render(base);
    for (const component of components) {
      const { object } = workload(objects, component);
      expect(object.spec).toMatchObject({
        replicas: 2,
        strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      });
    }
    expect(byKind(objects, 'PodDisruptionBudget')).toHaveLength(components.length);
    const single = render({ ...base, values: { defaults: { replicas: 1 } } });
    expect(byKind(single, 'PodDisruptionBudget')).toEqual([]);
  });

  it.each(['hpa', 'keda'])('scales the pods with %s only, and never with two scalers', (type) => {
    const autoscaling = { type, natsMonitoringEndpoint: 'nats:8222' };
    const objects = render({ ...base, values: { components: { transcripts: { autoscaling } } } });
    expect(workload(objects, 'transcripts').object.spec).not.toHaveProperty('replicas');
    expect(workload(objects, 'media').object.spec).toHaveProperty('replicas');
    expect(byKind(objects, 'HorizontalPodAutoscaler')).toHaveLength(type === 'hpa' ? 1 : 0);
    expect(byKind(objects, 'ScaledObject')).toHaveLength(type === 'keda' ? 1 : 0);
  });

  it('scales job workers by all their queues, including the prefix of the installation', () => {
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
          metadata: expect.objectContaining({
            stream: 'blue_JOBS',
            consumer: 'transcripts_transcript-import',
            account: '$G',
          }),
        },
      ]),
    );
  });

  it('spreads pods over zones and nodes', () => {
    const constraints = (
      workload(render({ file: 'high-availability' }), 'agents').pod as unknown as Record<string, unknown[]>
    )['topologySpreadConstraints'];
    expect(constraints).toEqual([
      expect.objectContaining({ topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'DoNotSchedule' }),
      expect.objectContaining({ topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' }),
    ]);
  });

  it('stores webhooks on one volume per gateway pod when this is enabled', () => {
    const { object, container } = workload(render({ file: 'high-availability' }), 'gateway');
    expect(object.kind).toBe('StatefulSet');
    expect(object.spec).toMatchObject({
      serviceName: 'demo-coherence-gateway',
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      volumeClaimTemplates: [
        {
          metadata: { name: 'spool' },
          spec: { storageClassName: 'fast', resources: { requests: { storage: '5Gi' } } },
        },
      ],
    });
    expect(container.volumeMounts).toContainEqual({ name: 'spool', mountPath: '/var/spool/coherence' });
  });
});

describe('scratch folders (rules/operations#least-privilege)', () => {
  it.each([
    ['media', 'MEDIA_SCRATCH_DIR', '10Gi'],
    ['transcripts', 'TRANSCRIPTION_SCRATCH_DIR', '2Gi'],
  ])('mounts for %s a separate volume of limited size', (component, variable, sizeLimit) => {
    const { container, pod } = workload(render({ file: 'minimal' }), component);
    const mount = container.volumeMounts?.find(({ name }) => name === 'scratch');
    expect(container.env).toContainEqual({ name: variable, value: mount?.mountPath });
    expect(pod.volumes).toContainEqual({ name: 'scratch', emptyDir: { sizeLimit } });
  });
});

describe('public entry points (rules/operations#edges)', () => {
  it('accept request bodies of the maximum upload size, and route /media to the media service', () => {
    const [ingress] = byKind(
      render({ file: 'external-services', values: { ingress: { controller: 'nginx' } } }),
      'Ingress',
    );
    expect(Number(ingress?.metadata.annotations?.['nginx.org/client-max-body-size'])).toBe(524_288_000 + 1_048_576);
    const rules = ingress?.spec?.['rules'] as {
      http: { paths: { path: string; backend: { service: { name: string } } }[] };
    }[];
    expect(rules[0]?.http.paths.map(({ path, backend }) => [path, backend.service.name])).toEqual([
      ['/media/', 'demo-coherence-media'],
      ['/', 'demo-coherence-gateway'],
    ]);
  });

  it('route requests through a Gateway of the Gateway API when it is enabled', () => {
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

  describe('network policies: each component and job has a separate policy with only the required traffic', () => {
    const tasks = ['audit', 'backup', 'setup', 'test', 'toolbox', 'workspace'];
    const policiesOf = (options: Parameters<typeof render>[0]): KubernetesObject[] =>
      byKind(render(options), 'NetworkPolicy');
    const portsOut = (policies: readonly KubernetesObject[], name: string): unknown[] => {
      const rules = (findObject(policies, 'NetworkPolicy', `demo-coherence-${name}`).spec?.['egress'] ?? []) as {
        ports: { port: unknown }[];
      }[];
      return rules.flatMap(({ ports }) => ports.map(({ port }) => port));
    };
    const rulesIn = (
      policies: readonly KubernetesObject[],
      name: string,
    ): { ports?: { port: unknown }[]; from?: unknown[] }[] =>
      findObject(policies, 'NetworkPolicy', `demo-coherence-${name}`).spec?.['ingress'] as ReturnType<typeof rulesIn>;
    let given: KubernetesObject[] = [];
    beforeAll(() => void (given = policiesOf({ file: 'external-services' })));

    it('allow egress only to the dependencies of each component', () => {
      expect(given.map(({ metadata }) => metadata.name)).toEqual(
        [...components, ...tasks].map((name) => `demo-coherence-${name}`),
      );
      expect(portsOut(given, 'directory')).toEqual(expect.arrayContaining([53, 4222, 5432]));
      expect(portsOut(given, 'directory')).not.toContain(443);
      expect(portsOut(given, 'gateway')).not.toContain(5432);
      expect(portsOut(given, 'media')).toContain(9000);
      expect(portsOut(given, 'agents')).toContain(443);
      expect(portsOut(given, 'setup')).toEqual([53, 53, 4222, 5432]);
      expect(portsOut(given, 'audit')).toEqual([53, 53, 5432]);
      expect(portsOut(given, 'test')).toEqual([53, 53, 'http']);
    });

    it('allow egress to PostgreSQL and NATS for every pod that runs migrations or creates streams at its start', () => {
      const policies = policiesOf({ file: 'minimal', values: { migrations: { mode: 'initContainer' } } });
      for (const name of components.filter((component) => component !== 'gateway'))
        expect(portsOut(policies, name)).toContain(5432);
      expect(portsOut(policies, 'gateway')).toContain(4222);
    });

    it('allow egress to the ports of the DNS pods', () => {
      expect(portsOut(policiesOf({ file: 'openshift' }), 'agents')).toEqual(expect.arrayContaining([53, 5353]));
    });

    it('deny ingress to jobs, and allow ingress to the gateway for helm test and the peers of the values', () => {
      for (const name of tasks) expect(rulesIn(given, name)).toBeUndefined();
      expect(rulesIn(given, 'gateway')[1]?.from).toHaveLength(2);
      expect(rulesIn(policiesOf({ file: 'minimal' }), 'gateway')[1]).not.toHaveProperty('from');
      expect(rulesIn(given, 'directory').map(({ ports }) => ports)).toEqual([[{ port: 'metrics', protocol: 'TCP' }]]);
    });

    it('allow the gateway and the peers of the values to read media files, and only its clients to use the internal port', () => {
      const podsOf = (component: string) => ({
        podSelector: {
          matchLabels: {
            'app.kubernetes.io/name': 'coherence',
            'app.kubernetes.io/instance': 'demo',
            'app.kubernetes.io/component': component,
          },
        },
      });
      const ingress = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'haproxy-controller' } } };
      expect(rulesIn(given, 'media').slice(1)).toEqual([
        { ports: [{ port: 'http', protocol: 'TCP' }], from: [podsOf('gateway'), ingress] },
        {
          ports: [{ port: 'internal', protocol: 'TCP' }],
          from: ['gateway', 'toolbox', 'transcripts', 'workspace'].map(podsOf),
        },
      ]);
      const reaching = (port: string): string[] =>
        [...components, ...tasks].filter((name) => portsOut(given, name).includes(port));
      expect(reaching('internal')).toEqual(['gateway', 'transcripts', 'toolbox', 'workspace']);
      expect(reaching('http')).toEqual(['gateway', 'test']);
    });

    it('allow ingress to metrics from the monitoring namespace, from the peers of the values, or not at all', () => {
      const monitoring = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }];
      for (const name of components) {
        const [metrics] = rulesIn(policiesOf({ file: 'minimal' }), name);
        expect(metrics).toEqual({ ports: [{ port: 'metrics', protocol: 'TCP' }], from: monitoring });
        const closed =
          rulesIn(policiesOf({ file: 'minimal', values: { networkPolicy: { metricsFrom: [] } } }), name) ?? [];
        expect(JSON.stringify(closed)).not.toContain('metrics');
      }
    });

    it('allow only the release to reach the evaluation servers, whose credentials are public', () => {
      const [servers] = policiesOf({ file: 'evaluation' }).filter(
        ({ metadata }) => metadata.name === 'demo-coherence-evaluation',
      );
      const release = { matchLabels: { 'app.kubernetes.io/name': 'coherence', 'app.kubernetes.io/instance': 'demo' } };
      expect(servers?.spec).toMatchObject({ podSelector: release, ingress: [{ from: [{ podSelector: release }] }] });
      expect(servers?.spec).not.toHaveProperty('egress');
    });
  });
});
