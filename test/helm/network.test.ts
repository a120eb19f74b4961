/** Services, ingresses and the objects for components of other vendors. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  byKind,
  findInvalid,
  findObject,
  provideChartTools,
  provideChartToolsTimeoutMs,
  render,
  renderText,
  tryRender,
} from './chart.ts';

beforeAll(provideChartTools, provideChartToolsTimeoutMs);

const components = ['agents', 'conversations', 'directory', 'events', 'gateway', 'media', 'transcripts'];

describe('Services in the chart', () => {
  it('expose metrics in separate Services that are reachable only within the cluster', () => {
    const values = { components: { gateway: { service: { type: 'LoadBalancer' } } } };
    const services = byKind(render({ file: 'minimal', values }), 'Service');
    const portsOf = (name: string): unknown =>
      (
        services.find(({ metadata }) => metadata.name === `demo-coherence-${name}`)?.spec?.['ports'] as
          | { name: string }[]
          | undefined
      )?.map((port) => port.name);
    for (const name of components) {
      expect([name, portsOf(`${name}-metrics`)]).toEqual([name, ['metrics']]);
      expect(findObject(services, 'Service', `demo-coherence-${name}-metrics`).spec).toMatchObject({
        type: 'ClusterIP',
      });
      expect(portsOf(name)).toEqual({ gateway: ['http'], media: ['http', 'internal'] }[name]);
    }
  });

  it('accept all Kubernetes Service fields in the values', () => {
    const service = {
      type: 'LoadBalancer',
      port: 8080,
      nodePorts: { http: 30080 },
      loadBalancerClass: 'example.org/internal',
      loadBalancerSourceRanges: ['192.0.2.0/24'],
      externalTrafficPolicy: 'Local',
      sessionAffinity: 'ClientIP',
      labels: { exposed: 'yes' },
      annotations: { lb: 'internal' },
    };
    const values = {
      defaults: {
        service: { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv6', 'IPv4'], internalTrafficPolicy: 'Cluster' },
      },
      components: { gateway: { service } },
    };
    const objects = render({ file: 'minimal', values });
    const { port, nodePorts, labels, annotations, ...passed } = service;
    const families = {
      ipFamilyPolicy: 'PreferDualStack',
      ipFamilies: ['IPv6', 'IPv4'],
      internalTrafficPolicy: 'Cluster',
    };
    const gateway = findObject(objects, 'Service', 'demo-coherence-gateway');
    expect(gateway.spec).toMatchObject({
      ...passed,
      ...families,
      ports: [{ name: 'http', port, nodePort: nodePorts.http }],
    });
    expect(gateway.metadata).toMatchObject({ labels, annotations });
    for (const name of components)
      expect(findObject(objects, 'Service', `demo-coherence-${name}-metrics`).spec).toMatchObject(families);
    expect(findObject(objects, 'Service', 'demo-coherence-agents-metrics').spec).not.toHaveProperty(
      'loadBalancerClass',
    );
    expect(findInvalid(renderText({ file: 'minimal', values }))).toBe('');
  });
});

describe('Ingress in the chart', () => {
  const ingressOf = (ingress: Record<string, unknown>) =>
    byKind(
      render({
        file: 'minimal',
        values: {
          settings: { TRUSTED_PROXY_HOPS: 1 },
          ingress: { enabled: true, hosts: [{ host: 'a.example.org' }], ...ingress },
        },
      }),
      'Ingress',
    )[0];

  it.each([
    ['', undefined],
    [
      'ingress-nginx',
      {
        'nginx.ingress.kubernetes.io/proxy-body-size': '525336576',
        'nginx.ingress.kubernetes.io/proxy-read-timeout': '600',
      },
    ],
    ['nginx', { 'nginx.org/client-max-body-size': '525336576', 'nginx.org/proxy-read-timeout': '600s' }],
    ['haproxy', { 'haproxy.org/timeout-server': '600s' }],
    ['openshift', { 'haproxy.router.openshift.io/timeout': '600s' }],
    ['alb', { 'alb.ingress.kubernetes.io/load-balancer-attributes': 'idle_timeout.timeout_seconds=600' }],
  ])('has only annotations of the configured controller "%s"', (controller, expected) => {
    const annotations = ingressOf({ controller })?.metadata.annotations;
    if (expected === undefined) expect(annotations).toBeUndefined();
    else expect(annotations).toMatchObject(expected);
    const [prefix] = Object.keys(expected ?? {}).map((name) => name.split('/')[0]);
    expect(Object.keys(annotations ?? {}).filter((name) => !name.startsWith(`${prefix}/`))).toEqual([]);
  });

  it('uses the annotations, paths and labels of the values', () => {
    const extraPaths = [
      { path: '/old', pathType: 'Exact', backend: { service: { name: 'redirect', port: { name: 'use-annotation' } } } },
    ];
    const ingress = ingressOf({
      controller: 'nginx',
      annotations: { 'nginx.org/client-max-body-size': '1g' },
      labels: { dns: 'public' },
      paths: ['/api', '/console'],
      mediaPath: '/media/*',
      pathType: 'ImplementationSpecific',
      extraPaths,
    });
    expect(ingress?.metadata).toMatchObject({
      labels: { dns: 'public' },
      annotations: { 'nginx.org/client-max-body-size': '1g' },
    });
    const [rule] = (ingress?.spec?.['rules'] ?? []) as { http: { paths: { path: string; pathType: string }[] } }[];
    expect(rule?.http.paths.map(({ path, pathType }) => [path, pathType])).toEqual([
      ['/old', 'Exact'],
      ['/media/*', 'ImplementationSpecific'],
      ['/api', 'ImplementationSpecific'],
      ['/console', 'ImplementationSpecific'],
    ]);
    expect(tryRender({ file: 'minimal', values: { ingress: { controller: 'nginxx' } } }).stderr).toMatch(
      /at '\/ingress\/controller'/,
    );
  });
});

describe('additional objects and fields in the chart values', () => {
  it('add filters and rules to an HTTPRoute', () => {
    const filters = [
      { type: 'ResponseHeaderModifier', responseHeaderModifier: { set: [{ name: 'X-A', value: 'b' }] } },
    ];
    const extraRules = [
      {
        matches: [{ path: { type: 'Exact', value: '/old' } }],
        filters: [{ type: 'RequestRedirect', requestRedirect: { statusCode: 301 } }],
      },
    ];
    const [route] = byKind(
      render({ file: 'high-availability', values: { httpRoute: { filters, extraRules, labels: { dns: 'public' } } } }),
      'HTTPRoute',
    );
    const rules = route?.spec?.['rules'] as { filters: unknown; backendRefs?: unknown }[];
    expect(rules[0]).toEqual(extraRules[0]);
    expect(rules.slice(1).map((rule) => rule.filters)).toEqual([filters, filters]);
    expect(route?.metadata.labels).toMatchObject({ dns: 'public' });
  });

  it('add relabelings to a ServiceMonitor', () => {
    const given = {
      relabelings: [{ targetLabel: 'cluster', replacement: 'a' }],
      metricRelabelings: [{ action: 'drop', sourceLabels: ['__name__'], regex: 'nodejs_.*' }],
    };
    const values = {
      metrics: {
        serviceMonitor: {
          enabled: true,
          ...given,
          jobLabel: 'app.kubernetes.io/instance',
          targetLabels: ['team'],
          annotations: { a: 'b' },
        },
      },
    };
    const [monitor] = byKind(render({ file: 'minimal', values }), 'ServiceMonitor');
    expect(monitor?.spec).toMatchObject({
      jobLabel: 'app.kubernetes.io/instance',
      targetLabels: ['team'],
      endpoints: [given],
    });
    expect(monitor?.metadata.annotations).toEqual({ a: 'b' });
    expect(findInvalid(renderText({ file: 'minimal', values }))).toBe('');
  });

  it('add rules to the NetworkPolicies of every pod', () => {
    const extraEgress = [{ to: [{ ipBlock: { cidr: '192.0.2.0/24' } }], ports: [{ port: 15012, protocol: 'TCP' }] }];
    const extraIngress = [{ from: [{ namespaceSelector: { matchLabels: { mesh: 'yes' } } }] }];
    const policies = byKind(
      render({ file: 'minimal', values: { networkPolicy: { extraEgress, extraIngress } } }),
      'NetworkPolicy',
    );
    expect(policies.length).toBeGreaterThan(components.length);
    for (const { metadata, spec } of policies) {
      expect([metadata.name, (spec?.['egress'] as unknown[] | undefined)?.at(-1)]).toEqual([
        metadata.name,
        extraEgress[0],
      ]);
      if (components.some((name) => metadata.name.endsWith(`-${name}`)))
        expect((spec?.['ingress'] as unknown[] | undefined)?.at(-1)).toEqual(extraIngress[0]);
    }
  });

  it('add custom objects, whose fields can refer to the release', () => {
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: '{{ .Release.Name }}-own' },
      data: { a: 'b' },
    };
    const text = 'apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{ include "coherence.fullname" . }}-text\n';
    const objects = render({ file: 'minimal', values: { extraObjects: [object, text] } });
    expect(findObject(objects, 'ConfigMap', 'demo-own').data).toEqual({ a: 'b' });
    expect(findObject(objects, 'Secret', 'demo-coherence-text')).toBeDefined();
  });
});
