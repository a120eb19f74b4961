/** The chart's toolbox pod, where operators run the admin CLI. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { byKind, findObject, provideChartTools, provideChartToolsTimeoutMs, render, workload } from './chart.ts';

beforeAll(provideChartTools, provideChartToolsTimeoutMs);

const components = ['agents', 'conversations', 'directory', 'events', 'gateway', 'media', 'transcripts'];

describe('toolbox pod', () => {
  it('uses the NATS administrator user, which no service uses, and exists only when enabled', () => {
    expect(byKind(render({ file: 'minimal' }), 'Deployment').map(({ metadata }) => metadata.name)).not.toContain(
      'demo-coherence-toolbox',
    );
    const objects = render({
      file: 'minimal',
      values: { toolbox: { enabled: true, extraEnv: [{ name: 'S3_BUCKET', value: 'b' }] } },
    });
    const { container, pod } = workload(objects, 'toolbox');
    const env = Object.fromEntries(
      (container.env ?? []).map(({ name, value, valueFrom }) => [name, value ?? valueFrom?.secretKeyRef?.key]),
    );
    expect(env).toEqual({
      NATS_URL: 'NATS_URL_CLI',
      NATS_SUBJECT_PREFIX: '',
      MEDIA_INTERNAL_URL: 'http://demo-coherence-media:8082',
      S3_BUCKET: 'b',
    });
    expect({ token: pod.automountServiceAccountToken, context: pod.securityContext }).toMatchObject({
      token: false,
      context: { runAsNonRoot: true },
    });
    expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } });
    for (const component of components) {
      const names = (workload(objects, component).container.env ?? []).map(
        ({ valueFrom }) => valueFrom?.secretKeyRef?.key,
      );
      expect(names).not.toContain('NATS_URL_ADMIN');
      expect(names).not.toContain('NATS_URL_CLI');
      expect(names.filter((name) => name?.startsWith('ACTOR_'))).toEqual([
        component === 'gateway' ? 'ACTOR_SIGNING_KEY' : 'ACTOR_PUBLIC_KEY',
      ]);
    }
  });

  it('trusts the same identity provider as the gateway (S1)', () => {
    const issuer = { OIDC_ISSUER: 'https://login.example.org', OUTBOUND_ALLOWED_HOSTS: 'login.example.org' };
    const toolboxWith = (values: Record<string, unknown>, extraEnv: readonly object[] = []) => {
      const objects = render({ file: 'minimal', values: { ...values, toolbox: { enabled: true, extraEnv } } });
      const names = new Set(Object.keys(issuer));
      const policy = findObject(objects, 'NetworkPolicy', 'demo-coherence-toolbox').spec?.['egress'] as {
        ports: { port: unknown }[];
      }[];
      return {
        env: (workload(objects, 'toolbox').container.env ?? []).filter(({ name }) => names.has(name)),
        reaches: policy.some(
          ({ ports }) => JSON.stringify(ports) === JSON.stringify([{ port: 8443, protocol: 'TCP' }]),
        ),
      };
    };
    const networkPolicy = { egress: { outbound: { to: [], ports: [8443] } } };
    const given = Object.entries(issuer).map(([name, value]) => ({ name, value }));
    expect(toolboxWith({ networkPolicy, settings: issuer })).toEqual({ env: given, reaches: true });
    expect(toolboxWith({ networkPolicy, components: { gateway: { env: issuer } } })).toEqual({
      env: given,
      reaches: true,
    });
    const own = { name: 'OIDC_ISSUER', value: 'https://other.example.org' };
    expect(toolboxWith({ networkPolicy, settings: issuer }, [own])).toEqual({ env: [given[1], own], reaches: true });
    const { OUTBOUND_ALLOWED_HOSTS } = issuer;
    expect(toolboxWith({ networkPolicy, settings: { OUTBOUND_ALLOWED_HOSTS } })).toEqual({ env: [], reaches: false });
  });
});
