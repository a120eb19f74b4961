import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { provideChromium, waitFor } from '#libs/product/testing';
import { identifyProcess, isRunning, type ProcessIdentity } from '#libs/infrastructure/process-identity';
import { sized } from '../drill.ts';
import { startBrowser } from './browser.ts';
import { createLaunchpad, type Launch, type Launchpad, repoDir } from './launch.ts';

let pad: Launchpad;
const launches: Launch[] = [];

function launch(env: Record<string, string> = {}): Launch {
  const item = pad.launch(env);
  launches.push(item);
  return item;
}

function readLauncher(): ProcessIdentity {
  return (JSON.parse(readFileSync(join(pad.dataDir, 'start.lock'), 'utf8')) as { holder: ProcessIdentity }).holder;
}

async function readSchema(): Promise<number> {
  return (await fetch(`http://127.0.0.1:${pad.port}/api/openapi.json`)).status;
}

async function logIn(): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${pad.port}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-svc-api-key': 'demo-login-secret' },
    body: JSON.stringify({ email: 'ada@example.org', password: 'coherence-demo-password' }),
  });
  return response.status;
}

const followers: { readonly child: ChildProcess; readonly status: Promise<number | null> }[] = [];

/** Runs `npm run logs` as a child process, optionally in a terminal emulated by `script`. */
function followLogs(
  names: readonly string[],
  { terminal = false } = {},
): { output: () => string; status: Promise<number | null> } {
  const args = [join('tools', 'bootstrap.mjs'), 'logs', ...names];
  const [program, given] = terminal
    ? ['script', ['-qec', [process.execPath, ...args].join(' '), '/dev/null']]
    : [process.execPath, args];
  const child = spawn(program, given, {
    cwd: repoDir,
    env: { ...process.env, NODE_OPTIONS: '', COHERENCE_DATA_DIR: pad.dataDir },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (text += part));
  const status = new Promise<number | null>((resolve) => child.once('close', resolve));
  followers.push({ child, status });
  return { output: () => text, status };
}

describe('npm start (architecture#running-it)', () => {
  beforeAll(async () => void (pad = await createLaunchpad()));
  afterAll(async () => {
    for (const { child } of followers) child.kill('SIGTERM');
    await Promise.all(followers.map(({ status }) => status));
    await pad.clear();
  });

  it('starts the platform with the demo workspace and prints address, documents and credentials', async () => {
    const item = launch({
      LLM_BASEURL: 'http://misspelt.example.org',
      NODE_COMPILE_CACHE: join(pad.dataDir, 'compile-cache'),
    });
    await pad.waitUntilReady(item);
    expect(item.output()).toContain('LLM_BASEURL is not a setting and is ignored. Did you mean LLM_BASE_URL?');
    expect(item.output()).toMatch(/language model\s+the demo model .*LLM_BASE_URL/);
    expect(item.output()).toContain(`http://localhost:${pad.port}/api/docs`);
    expect(item.output()).toContain(`http://localhost:${pad.port}/api/v1/docs`);
    expect(item.output()).toMatch(/shared token\s+demo-api-token/);
    expect(item.output()).toMatch(/conversations\s+`open`: every account with a token reads and writes all/);
    expect(item.output()).toMatch(/ada@example\.org\s+coherence-demo-password/);
    await expect(readSchema()).resolves.toBe(200);
    await expect(logIn()).resolves.toBe(200);
  });

  it('compiles the services once, before their start (docs/performance-notes.md#shared-compile-cache-and-heap-flags)', () => {
    expect(readdirSync(join(pad.dataDir, 'compile-cache')).filter((name) => name.startsWith('services-'))).toHaveLength(
      1,
    );
  });

  it('replies on the chat pages with the demo model, which identifies itself', async () => {
    const response = await fetch(`http://127.0.0.1:${pad.port}/api/chat/guide/message/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ body: 'Hello!' }),
    });
    expect([response.status, ((await response.json()) as { agent_html: string }).agent_html]).toEqual([
      200,
      expect.stringMatching(/demo model.*LLM_BASE_URL/),
    ]);
  });

  it('allows the first operator to sign in to the console as admin@example.org with the printed password (P6)', async () => {
    const output = launches[0]?.output() ?? '';
    const [address] = /http:\/\/localhost:\d+\/console/.exec(output) ?? [''];
    const [, password = ''] = /ada@example\.org\s+(\S+)/.exec(output) ?? []; // All demo accounts have the same password.
    expect(output).toContain('admin@example.org');
    await provideChromium();
    const browser = await startBrowser(address);
    try {
      const page = await (await browser.openContext()).newPage();
      await page.goto(address);
      await page.getByLabel('Email').fill('admin@example.org');
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      await page.getByText('transcripts', { exact: true }).first().waitFor();
      expect(await browser.endTest()).toEqual({ elsewhere: [], complaints: [] });
    } finally {
      await browser.stop();
    }
  });

  it('starts a healthy platform, and doctor distinguishes optional from required components', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [join('cli', 'main.ts'), 'doctor'], {
      cwd: repoDir,
      env: { ...process.env, COHERENCE_DATA_DIR: pad.dataDir },
    });
    expect(stdout).not.toContain('WRONG');
    expect(stdout).toMatch(/^off\s+language model:?\s+the demo model is active.*LLM_BASE_URL/m);
    expect(stdout).toMatch(/^All is well/m);
  });

  it('verifies the audit logs of all services with the audit role (A2)', async () => {
    const read = (): string => readFileSync(join(pad.dataDir, 'logs', 'audit.log'), 'utf8');
    await waitFor(() => read().split('audit log verified').length === 7, { what: 'six verified logs' });
    expect(read()).toMatch(/"service":"directory","entries":[1-9]/); // The demo workspace has been applied, so the log has entries.
  });

  it('writes logs that `npm run logs` follows, as JSON into a pipe and as readable lines on a terminal', async () => {
    const [piped, shown] = [followLogs(['api-gateway', 'directory']), followLogs([], { terminal: true })];
    await waitFor(() => piped.output().includes('directory is ready') && shown.output().includes('directory is ready'));
    await logIn();
    await waitFor(() => piped.output().includes('/api/v1/auth/login') && shown.output().includes('/api/v1/auth/login'));
    const lines = piped.output().trimEnd().split('\n');
    const services = lines.map((line) => (JSON.parse(line) as { service: string }).service);
    expect(new Set(services)).toEqual(new Set(['api-gateway', 'directory']));
    expect(shown.output()).toMatch(
      /\[\d\d:\d\d:\d\d\.\d{3}\] .*INFO.*api-gateway: request.*"path":"\/api\/v1\/auth\/login"/,
    );
    expect(shown.output()).toMatch(/INFO.*media: media is ready/);
    const unknown = followLogs(['directoy']);
    await expect(unknown.status).resolves.toBe(1);
    expect(unknown.output()).toMatch(/no log of directoy\. There are: agents, .*directory, .*transcripts/);
  });

  it('rejects a second start in the same folder and reports the running process', async () => {
    const second = launch();
    await expect(second.status).resolves.toBe(1);
    expect(second.output()).toContain(
      `is already running in this folder: process ${readLauncher().pid}, http://localhost:${pad.port}`,
    );
    await expect(readSchema()).resolves.toBe(200);
  });

  it.each(sized({ smoke: ['directory', 'PostgreSQL'], release: ['directory', 'PostgreSQL', 'NATS', 'Object store'] }))(
    'restarts %s after SIGKILL and preserves the data',
    async (name) => {
      const before = pad.findIdentity(name);
      process.kill(before.pid, 'SIGKILL');
      await waitFor(() => !isRunning(before));
      await waitFor(() => pad.findIdentity(name).pid !== before.pid, { what: `a new ${name}` });
      await waitFor(async () => (await logIn()) === 200, { what: 'a login' });
      expect(launches[0]?.output()).toContain(`${name} was ended by SIGKILL; restarting`);
    },
  );

  it('leaves no running process when the launcher is killed, and starts again with the same data', async () => {
    const children = pad.readRecord().map((item) => item.identity);
    const launcher = readLauncher();
    process.kill(launcher.pid, 'SIGKILL');
    await launches[0]?.status;
    const item = pad.launch({}, ['--times']);
    launches.push(item);
    await pad.waitUntilReady(item);
    await waitFor(() => /^ {2}seven services +\d+\.\d s +\d+\.\d s +\d+\.\d s$/m.test(item.output()), {
      what: 'where the time has gone',
    });
    expect(children.filter((identity) => isRunning(identity))).toEqual([]);
    expect(item.output()).not.toMatch(/demo workspace|migrations/);
    await expect(logIn()).resolves.toBe(200);
  });

  it('stops all processes on SIGTERM with status 0 and releases the folder lock', async () => {
    const children = pad.readRecord().map((item) => item.identity);
    const item = launches.at(-1);
    item?.child.kill('SIGTERM');
    await expect(item?.status).resolves.toBe(0);
    expect(children.filter((identity) => isRunning(identity))).toEqual([]);
    expect(() => readLauncher()).toThrow(/ENOENT/);
    const logs = followLogs([]);
    await expect(logs.status).resolves.toBe(1);
    expect(logs.output()).toMatch(/No platform runs in this folder\. Start it .*npm start.* logs in /);
  });

  it('starts despite a stale lock and a pid file with the id of an unrelated process', async () => {
    writeFileSync(
      join(pad.dataDir, 'start.lock'),
      JSON.stringify({ holder: { pid: 1, startedAt: 'long ago' }, url: '' }),
    );
    writeFileSync(
      join(pad.dataDir, 'postgres', 'postmaster.pid'),
      `${process.pid}\n${join(pad.dataDir, 'postgres')}\n0\n5432\n\n127.0.0.1\n\nready\n`,
    );
    const item = launch();
    await pad.waitUntilReady(item);
    await expect(logIn()).resolves.toBe(200);
    expect(identifyProcess(process.pid)).toBeDefined();
    item.child.kill('SIGINT');
    await expect(item.status).resolves.toBe(0);
  });

  it('reports a port in use and how to choose another port', async () => {
    const blocker: Server = createServer().listen(pad.port);
    const item = launch();
    await expect(item.status).resolves.toBe(1);
    blocker.close();
    expect(item.output()).toContain(`Port ${pad.port} of the API gateway is in use by another program.`);
    expect(item.output()).toContain(`PORT=${pad.port + 10} npm start`);
  });

  it('reports every problem in the settings together', async () => {
    const item = launch({
      DATABASE_URL: 'mysql://nowhere',
      NATS_URL: 'nats://127.0.0.1:1',
      S3_ENDPOINT: 'http://127.0.0.1:1',
    });
    await expect(item.status).resolves.toBe(1);
    expect(item.output()).toContain('DATABASE_URL must be a URL that starts with postgresql:// or postgres://');
  });
});
