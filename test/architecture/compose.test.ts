import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { loadConfig } from '#libs/infrastructure/config';
import { parse } from 'yaml';
import { generateSecrets } from '../../cli/secrets/generate.ts';
import { auditSettings } from '../../tools/audit.ts';
import { nodeOptionsOf } from '../../libs/product/servers/service-process.ts';
import { loadServiceConfig, readServiceSettings } from '../../libs/product/servers/service-settings.ts';

const repoDir = join(import.meta.dirname, '..', '..');
const settings = await readServiceSettings();

interface ComposeService {
  command?: string[];
  entrypoint?: string[];
  environment?: Record<string, string>;
  ports?: string[];
  depends_on?: Record<string, { condition: string }>;
  networks?: string[];
  volumes?: string[];
  tmpfs?: string[];
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  privileged?: boolean;
  deploy?: { resources: { limits: { memory?: string; pids?: number } } };
}

const secrets = Object.assign({}, ...generateSecrets().map(([, variables]) => variables)) as Record<string, string>;
/** Environment variables set by the image (Dockerfile). */
const imageEnvironment = Object.fromEntries(
  [
    ...readFileSync(join(repoDir, 'Dockerfile'), 'utf8').matchAll(/^(?:ENV|   ) (NODE_ENV|HOST|METRICS_HOST)=(\S+)/gm),
  ].map(([, name, value]) => [name, value]),
) as Record<string, string>;

/**
 * Interpolates like docker compose: `${NAME}`, `${NAME:-default}`, `${NAME:?message}`. @throws Error with the name and
 * the message
 */
function interpolate(text: string, env: Readonly<Record<string, string>>): string {
  return text.replaceAll(
    /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
    (_whole, name: string, kind: string | undefined, rest: string | undefined) => {
      const value = env[name] ?? '';
      if (value === '' && kind === '?') throw new Error(`${name} ${rest}`);
      return value === '' && kind === '-' ? (rest ?? '') : value;
    },
  );
}

describe('compose.yaml (architecture#running-it)', () => {
  const file = readFileSync(join(repoDir, 'compose.yaml'), 'utf8');
  let compose: {
    services: Record<string, ComposeService>;
    configs: { nats: { file: string } };
    networks: Record<string, unknown>;
  };

  beforeAll(() => {
    compose = parse(file, { merge: true }) as typeof compose;
  });

  it('compose.yaml starts every service from the same image, after the migrations', () => {
    expect(settings.map(({ service }) => service)).toEqual(readdirSync(join(repoDir, 'services')).toSorted());
    for (const { service } of settings) {
      expect(compose.services[service]?.command).toEqual([
        'node',
        ...nodeOptionsOf(service),
        `services/${service}/main.ts`,
      ]);
      expect(compose.services[service]?.depends_on?.['migrate']).toEqual({
        condition: 'service_completed_successfully',
      });
    }
  });

  it.each(settings)(
    'compose.yaml sets all required settings of $service and no unknown ones',
    ({ service, properties, required }) => {
      const given = Object.keys(compose.services[service]?.environment ?? {});
      expect(given).toEqual(expect.arrayContaining(required.filter((name) => properties[name]?.default === undefined)));
      expect(given.filter((name) => !(name in properties))).toEqual([]);
    },
  );

  it.each(settings)(
    '$service starts with the output of `secrets generate`, and does not start without it',
    async ({ service }) => {
      const environmentWith = (env: Readonly<Record<string, string>>): Record<string, string> => ({
        ...imageEnvironment,
        ...Object.fromEntries(
          Object.entries(compose.services[service]?.environment ?? {}).map(([key, value]) => [
            key,
            interpolate(value, env),
          ]),
        ),
      });
      expect(imageEnvironment).toEqual({ NODE_ENV: 'production', HOST: '::', METRICS_HOST: '::' });
      await expect(loadServiceConfig(service, environmentWith(secrets))).resolves.toMatchObject({
        NODE_ENV: 'production',
      });
      const weak = Object.fromEntries(Object.keys(secrets).map((key) => [key, 'coherence']));
      await expect(loadServiceConfig(service, environmentWith(weak))).rejects.toThrow(/a password that anybody knows/);
    },
  );

  it('compose.yaml verifies and truncates the audit logs every day with a role that the migration creates (A2)', () => {
    const { command, environment = {}, depends_on: after } = compose.services['audit'] ?? {};
    expect([command, after]).toEqual([
      ['node', 'tools/audit.ts', '--daily'],
      { migrate: { condition: 'service_completed_successfully' } },
    ]);
    const given = Object.fromEntries(
      Object.entries(environment).map(([key, value]) => [key, interpolate(value, secrets)]),
    );
    expect(Object.keys(given).filter((variable) => !(variable in auditSettings.properties))).toEqual([]);
    const { DATABASE_URL, AUDIT_RETENTION_DAYS } = loadConfig(auditSettings, given);
    expect(AUDIT_RETENTION_DAYS).toBe(400);
    expect(new URL(DATABASE_URL).username).toBe('coherence_audit');
    expect(interpolate(compose.services['migrate']?.environment?.['DATABASE_URL_AUDIT'] ?? '', secrets)).toBe(
      DATABASE_URL,
    );
  });

  it('compose.yaml requires every secret, explains how to generate it, and has no default secrets', () => {
    expect(() => interpolate(file, {})).toThrow('is made by npm run --silent cli -- secrets generate');
    const asked = new Set([...file.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name ?? ''));
    expect([...asked].filter((name) => !(name in secrets))).toEqual([]);
    const used = [...file.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name ?? '');
    expect(used.filter((name) => !asked.has(name))).toEqual([]);
    for (const { environment = {} } of Object.values(compose.services)) {
      const literal = Object.entries(environment).filter(
        ([name, value]) => /TOKEN|SECRET|PASSWORD|KEY/.test(name) && !value.startsWith('${'),
      );
      expect(literal).toEqual([]);
    }
    expect(file).not.toMatch(/:\/\/\w+:(?!\$)[^@\s]+@/); // a URL with a literal password
  });

  it('compose.yaml reads secrets from files outside of git and the image', () => {
    const linesOf = (name: string): string[] => readFileSync(join(repoDir, name), 'utf8').split('\n');
    expect(linesOf('.gitignore')).toContain('.env');
    const taken = linesOf('.dockerignore').filter((line) => line.startsWith('!'));
    expect([linesOf('.dockerignore')[0], taken.filter((line) => line.includes('.env'))]).toEqual(['*', []]);
  });

  it('compose.yaml restricts every container: read-only root, no capabilities, no new privileges, limits', () => {
    for (const [name, service] of Object.entries(compose.services)) {
      expect({ name, ...service }).toMatchObject({
        name,
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
      expect([name, service.tmpfs?.includes('/tmp')]).toEqual([name, true]);
      expect({ name, limits: service.deploy?.resources.limits }).toEqual({
        name,
        limits: { memory: expect.stringMatching(/^\d+[MG]$/), pids: expect.any(Number) },
      });
      expect(service).not.toHaveProperty('cap_add');
      expect(service.privileged).toBeUndefined();
    }
  });

  it('compose.yaml runs servers, and services without external providers, on an internal network', () => {
    expect(compose.networks).toEqual({ servers: { internal: true }, outside: null });
    const outside = Object.entries(compose.services).filter(([, { networks = [] }]) => networks.includes('outside'));
    expect(outside.map(([name]) => name).toSorted()).toEqual([
      'agents',
      'api-gateway',
      'cli',
      'conversations',
      'events',
      'media',
      'transcripts',
    ]);
    for (const [name, { networks }] of Object.entries(compose.services))
      expect([name, networks?.includes('servers')]).toEqual([name, true]);
    const calling = settings.filter(
      ({ properties }) => 'OUTBOUND_ALLOWED_HOSTS' in properties || 'WEBHOOK_ALLOWED_HOSTS' in properties,
    );
    expect(
      calling.map(({ service }) => service).filter((service) => !outside.some(([name]) => name === service)),
    ).toEqual([]);
  });

  it.each([
    ['media', 'MEDIA_SCRATCH_DIR'],
    ['transcripts', 'TRANSCRIPTION_SCRATCH_DIR'],
    ['api-gateway', 'WEBHOOK_SPOOL_DIR'],
  ])('compose.yaml mounts a volume in %s for its writable path (%s)', (service, variable) => {
    const { environment = {}, volumes = [] } = compose.services[service] ?? {};
    const dockerfile = readFileSync(join(repoDir, 'Dockerfile'), 'utf8');
    const folder = environment[variable] ?? new RegExp(`${variable}=(\\S+)`).exec(dockerfile)?.[1];
    expect(folder).toBeDefined();
    expect(volumes.map((volume) => volume.split(':')[1])).toContain(folder);
  });

  it('compose.yaml publishes only the gateway port, on the loopback address unless HOST is set', () => {
    const published = Object.entries(compose.services).filter(([, { ports }]) => ports !== undefined);
    expect(published.map(([name, { ports }]) => [name, ports?.map((port) => interpolate(port, {}))])).toEqual([
      ['api-gateway', ['127.0.0.1:8080:8080']],
    ]);
  });

  it('compose.yaml configures NATS with a password per user, a message limit of 8 MiB and synced webhooks', () => {
    const configuration = readFileSync(join(repoDir, compose.configs.nats.file), 'utf8');
    const asked = [...configuration.matchAll(/password: \$(\w+)/g)].map(([, name]) => name ?? '');
    expect(asked).toHaveLength(configuration.split('{ user: ').length - 1);
    const given = Object.keys(compose.services['nats']?.environment ?? {});
    expect(asked.filter((name) => !given.includes(name))).toEqual([]);
    expect(configuration).toMatch(/max_payload: 8MB/);
    expect(configuration).toMatch(/sync_interval: always/);
  });

  it('compose.yaml references only files that exist in the image', () => {
    const dockerfile = readFileSync(join(repoDir, 'Dockerfile'), 'utf8');
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap((match) =>
      (match[1] ?? '').split(' '),
    );
    for (const { command, entrypoint } of Object.values(compose.services)) {
      const script = [...(entrypoint ?? []), ...(command ?? [])].find((part) => part.endsWith('.ts'));
      if (script === undefined) continue;
      expect(existsSync(join(repoDir, script))).toBe(true);
      expect(copied.some((path) => script === path || script.startsWith(`${path}/`))).toBe(true);
    }
  });
});
