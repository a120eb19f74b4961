import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { generateActorKeys } from '#libs/infrastructure/actor';
import { readPlatformFacts } from '../../tools/generate/chart.ts';
import { provideGoTool } from '../../libs/product/servers/go-tool.ts';
import { natsServerTool } from '../../libs/product/servers/go-tools.ts';
import { loadServiceConfig, readServiceSettings } from '../../libs/product/servers/service-settings.ts';
import {
  byKind,
  type Container,
  containersOf,
  evaluationPassword,
  findObject,
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

const facts = await readPlatformFacts();
const schemas = new Map((await readServiceSettings()).map((item) => [item.service, item]));
const components = Object.entries(facts.components).map(([component, { service }]) => ({ component, service }));

beforeAll(provideChartTools, provideChartToolsTimeoutMs);

const actorKeys = generateActorKeys();

/** Returns a value that the setting's schema accepts and that differs from its default. */
function sampleOf(schema: Readonly<Record<string, unknown>>): string {
  const choices = schema['anyOf'] as { const?: unknown }[] | undefined;
  if (choices?.[0]?.const !== undefined) return String(choices.at(-1)?.const);
  if (schema['type'] === 'boolean') return String(schema['default'] !== true);
  if (schema['type'] === 'integer' || schema['type'] === 'number')
    return String(typeof schema['minimum'] === 'number' ? schema['minimum'] : 7);
  const pattern = typeof schema['pattern'] === 'string' ? new RegExp(schema['pattern']) : /^/;
  const samples = [
    'sample-of-a-long-secret-text',
    'https://sample.example.org',
    'postgresql://sample:sample@sample/sample',
    'nats://sample:sample@sample',
    'UTC',
    '1',
    actorKeys.publicKey,
    actorKeys.signingKey,
  ];
  const found = samples.find((sample) => pattern.test(sample));
  if (found === undefined) throw new Error(`no sample fits ${String(schema['pattern'])}`);
  return found;
}

const envOf = (container: Container): Record<string, NonNullable<Container['env']>[number]> =>
  Object.fromEntries((container.env ?? []).map((variable) => [variable.name, variable]));

/** Returns the environment of a component as its process sees it: secrets from the rendered Secret, or samples. */
function readEnvironment(
  objects: readonly KubernetesObject[],
  component: string,
  service: string,
): Record<string, string> {
  const properties = schemas.get(service)?.properties ?? {};
  const secrets = byKind(objects, 'Secret');
  return Object.fromEntries(
    Object.values(envOf(workload(objects, component).container))
      .filter(({ name }) => name in properties)
      .map(({ name, value, valueFrom }) => {
        const reference = valueFrom?.secretKeyRef;
        const secret = secrets.find(({ metadata }) => metadata.name === reference?.name);
        const kept = reference === undefined ? undefined : secret?.stringData?.[reference.key];
        return [
          name,
          value ?? kept ?? (secret === undefined ? sampleOf(properties[name] as Record<string, unknown>) : ''),
        ];
      }),
  );
}

describe.each(components)(
  'environment of $component (rules/operations#values-of-the-chart; architecture#configuration)',
  ({ component, service }) => {
    const { properties = {}, required = [] } = schemas.get(service) ?? {};

    it.each(valueFiles)('is accepted by the service at its start: ci/%s-values.yaml', async (file) => {
      const objects = render({ file });
      const environment = readEnvironment(objects, component, service);
      const known = new Set([...Object.keys(properties), 'NODE_EXTRA_CA_CERTS']);
      expect(Object.keys(envOf(workload(objects, component).container)).filter((name) => !known.has(name))).toEqual([]);
      expect(
        required.filter((name) => properties[name]?.default === undefined && environment[name] === undefined),
      ).toEqual([]);
      await expect(loadServiceConfig(service, environment)).resolves.toBeDefined();
    });

    it('can set every variable that the service declares', () => {
      const plain = Object.keys(properties).filter((name) => properties[name]?.writeOnly !== true);
      const env = Object.fromEntries(
        plain.map((name) => [name, sampleOf(properties[name] as Record<string, unknown>)]),
      );
      const { container } = workload(
        render({ file: 'minimal', values: { components: { [component]: { env } } } }),
        component,
      );
      const rendered = envOf(container);
      expect(Object.fromEntries(plain.map((name) => [name, rendered[name]?.value]))).toEqual(env);
      const secret = Object.keys(properties).filter((name) => properties[name]?.writeOnly === true);
      for (const name of secret) {
        const own = ['DATABASE_URL', 'NATS_URL'].includes(name) ? `${name}_${component.toUpperCase()}` : name;
        expect(rendered[name]?.valueFrom?.secretKeyRef).toMatchObject({ name: 'coherence', key: own });
      }
    });

    it('uses a global setting if the service declares it, unless the component overrides it', () => {
      const values = { settings: { LOG_LEVEL: 'debug' }, components: { [component]: { env: { LOG_LEVEL: 'error' } } } };
      const objects = render({ file: 'minimal', values });
      for (const other of components) {
        const level = envOf(workload(objects, other.component).container)['LOG_LEVEL'];
        expect(level?.value).toBe(other.component === component ? 'error' : 'debug');
      }
    });

    it('renders numbers as written, including fractions, and large numbers without an exponent', () => {
      const settings = { OTEL_TRACES_SAMPLER_ARG: 0.1, MEDIA_RECORDING_MAX_BYTES: 21_474_836_480 };
      const env = envOf(workload(render({ file: 'minimal', values: { settings } }), component).container);
      expect(env['OTEL_TRACES_SAMPLER_ARG']?.value).toBe('0.1');
      if (component === 'media') expect(env['MEDIA_RECORDING_MAX_BYTES']?.value).toBe('21474836480');
    });

    it('contains only the secrets that the service declares', () => {
      const { container } = workload(render({ file: 'minimal' }), component);
      const given = (container.env ?? [])
        .filter(({ valueFrom }) => valueFrom?.secretKeyRef !== undefined)
        .map(({ name }) => name);
      const declared = Object.keys(properties).filter((name) => properties[name]?.writeOnly === true);
      expect(given.toSorted()).toEqual(declared.toSorted());
      if (component === 'gateway') expect(given).not.toContain('DATABASE_URL');
    });

    it('connects to PostgreSQL and NATS only with the credentials of the service', () => {
      const text = JSON.stringify(envOf(workload(render({ file: 'minimal' }), component).container));
      for (const other of components) {
        if (other.component === component) continue;
        expect(text).not.toContain(`_URL_${other.component.toUpperCase()}"`);
      }
      expect(text).not.toContain('_ADMIN');
    });
  },
);

describe('ports in the chart', () => {
  it('preserve the Service ports when the pod ports change', () => {
    const values = {
      settings: { PORT: 9001, INTERNAL_PORT: 9002, METRICS_PORT: 9003 },
      toolbox: { enabled: true },
      workspace: { demo: true },
    };
    const given = { ...values, httpRoute: { enabled: true, parentRefs: [{ name: 'edge' }] } };
    const objects = render({
      file: 'minimal',
      values: { ...given, settings: { ...values.settings, TRUSTED_PROXY_HOPS: 1 } },
    });
    expect((workload(objects, 'media').container as unknown as Record<string, unknown>)['ports']).toEqual([
      { name: 'http', containerPort: 9001, protocol: 'TCP' },
      { name: 'internal', containerPort: 9002, protocol: 'TCP' },
      { name: 'metrics', containerPort: 9003, protocol: 'TCP' },
    ]);
    const ports = (component: string) => findObject(objects, 'Service', `demo-coherence-${component}`).spec?.['ports'];
    expect(ports('media')).toEqual([
      { name: 'http', port: 8081, targetPort: 'http', protocol: 'TCP' },
      { name: 'internal', port: 8082, targetPort: 'internal', protocol: 'TCP' },
    ]);
    expect(ports('media-metrics')).toEqual([{ name: 'metrics', port: 9090, targetPort: 'metrics', protocol: 'TCP' }]);
    expect(ports('gateway')).toContainEqual({ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' });
    const urls = listPods(objects).flatMap(({ spec }) => containersOf(spec).flatMap(({ env = [] }) => env));
    expect(
      new Set(urls.filter(({ name }) => name.startsWith('MEDIA_') && name.endsWith('_URL')).map(({ value }) => value)),
    ).toEqual(new Set(['http://demo-coherence-media:8081', 'http://demo-coherence-media:8082']));
    expect(JSON.stringify(findObject(objects, 'HTTPRoute', 'demo-coherence').spec)).toContain(
      '"demo-coherence-media","port":8081',
    );
  });
});

describe('secrets in rendered objects (rules/operations#secrets)', () => {
  const secretNames = Object.entries(facts.components).flatMap(([component, { settings }]) =>
    Object.entries(settings)
      .filter(([, { secret }]) => secret)
      .map(([name]) => (['DATABASE_URL', 'NATS_URL'].includes(name) ? `${name}_${component.toUpperCase()}` : name)),
  );
  const values = Object.fromEntries(
    [
      ...new Set([
        ...secretNames,
        'DATABASE_URL_ADMIN',
        'DATABASE_URL_AUDIT',
        'NATS_URL_ADMIN',
        'NATS_URL_CLI',
        'DEMO_PASSWORD',
      ]),
    ].map((name) => [name, `s3cret-of-the-tests-${name}`]),
  );
  const given = { secrets: { values }, settings: { S3_ENDPOINT: 'https://s3.example.org' }, workspace: { demo: true } };

  it('appear in Secrets only, and not in a ConfigMap, argument, annotation or variable', () => {
    const objects = render({ values: given });
    const elsewhere = objects.filter(({ kind }) => kind !== 'Secret');
    expect(JSON.stringify(elsewhere)).not.toContain('s3cret-');
    const [release] = byKind(objects, 'Secret').filter(({ metadata }) => metadata.name === 'demo-coherence');
    expect(release?.stringData).toEqual(values);
  });

  it('are not printed in the notes of the release', () => {
    expect(renderText({ values: given }).split('kind: Secret')[0]).not.toContain('s3cret-');
  });

  it('are read from an existing Secret with custom keys, and then no Secret is rendered', () => {
    const objects = render({ file: 'external-services' });
    expect(byKind(objects, 'Secret')).toEqual([]);
    const { container } = workload(objects, 'gateway');
    expect(envOf(container)['API_TOKEN']?.valueFrom?.secretKeyRef).toEqual({
      name: 'coherence-external',
      key: 'api-token',
    });
  });

  it('may be missing if they only enable an optional feature', () => {
    const { container } = workload(render({ file: 'minimal' }), 'agents');
    expect(envOf(container)['LLM_API_KEY']?.valueFrom?.secretKeyRef).toMatchObject({ optional: true });
    expect(envOf(container)['DATABASE_URL']?.valueFrom?.secretKeyRef).not.toHaveProperty('optional');
  });

  it('restart pods when they change', () => {
    const sum = (overrides: Record<string, unknown>): unknown => {
      const { object } = workload(render({ values: { ...given, ...overrides } }), 'media');
      return podTemplateOf(object).metadata.annotations['checksum/secrets'];
    };
    const first = sum({});
    expect(sum({})).toBe(first);
    expect(sum({ secrets: { values: { ...values, API_TOKEN: 'another-of-the-tests-of-this' } } })).not.toBe(first);
    expect(sum({ secrets: { values, revision: '2' } })).not.toBe(first);
  });
});

describe('evaluation servers in the chart', () => {
  it('add PostgreSQL, NATS and an object store to the release, with the NATS users of the contracts', () => {
    const objects = render({ file: 'evaluation' });
    expect(byKind(objects, 'StatefulSet').map(({ metadata }) => metadata.name)).toEqual([
      'demo-coherence-nats',
      'demo-coherence-object-store',
      'demo-coherence-postgresql',
    ]);
    const { stringData } = findObject(objects, 'Secret', 'demo-coherence-evaluation');
    const users = JSON.parse(/authorization: ([^]*)/.exec(stringData?.['nats.conf'] ?? '')?.[1] ?? '') as {
      users: { user: string; password: string }[];
    };
    expect(users.users.map(({ user }) => user)).toEqual([
      'admin',
      ...readdirSync(join(import.meta.dirname, '..', '..', 'services')).toSorted(),
      'cli',
    ]);
    expect(users.users.every(({ password }) => password === evaluationPassword)).toBe(true);
  });

  it('have a NATS configuration that nats-server accepts', async () => {
    const { stringData } = findObject(render({ file: 'evaluation' }), 'Secret', 'demo-coherence-evaluation');
    const dir = mkdtempSync(join(tmpdir(), 'coherence-nats-conf-'));
    writeFileSync(join(dir, 'nats.conf'), stringData?.['nats.conf'] ?? '');
    const program = await provideGoTool(natsServerTool, (line) => void process.stderr.write(`${line}\n`));
    const { stderr } = spawnSync(program, ['-t', '--config', join(dir, 'nats.conf')], { encoding: 'utf8' });
    rmSync(dir, { recursive: true });
    expect(stderr).toContain('configuration file');
    expect(stderr).toContain('is valid');
  });

  it('are described in the notes of the release', () => {
    const objects = render({ file: 'minimal' });
    expect(byKind(objects, 'StatefulSet')).toEqual([]);
    expect(
      JSON.stringify(listPods(objects).map(({ spec }) => containersOf(spec).map(({ image }) => image))),
    ).not.toMatch(/postgres|versitygw|nats:/);
  });
});

describe('images in the chart', () => {
  it('use one registry for all images, and prefer a digest to a tag', () => {
    for (const { spec } of listPods(render({ file: 'external-services' }))) {
      for (const { image } of containersOf(spec)) {
        expect(image).toBe(
          'registry.example.org/platform/coherence@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
        );
      }
    }
    for (const { spec } of listPods(
      render({ file: 'evaluation', values: { global: { imageRegistry: 'mirror.example.org' } } }),
    )) {
      for (const { image } of containersOf(spec)) expect(image).toMatch(/^mirror\.example\.org\//);
    }
  });
});
