/** The CLI as a client of the HTTP APIs: login, profiles, logout (rules/cli#profiles). */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { runCli } from '#libs/product/testing';
import { identifyProcess } from '#libs/infrastructure/process-identity';
import { applyDemo, type Demo, startTestPlatform, type TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let demo: Demo;
let folder: string;
let config: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cli-profiles-'));
  platform = await startTestPlatform(import.meta.url, {}, { services: ['api-gateway', 'directory'] });
  demo = await applyDemo(platform, 'profiles');
});
beforeEach(async () => {
  config = await mkdtemp(join(folder, 'config-'));
});
afterAll(async () => {
  await platform.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Runs the CLI as on a machine that has only its profiles. */
function cli(args: readonly string[], variables: Record<string, string> = {}, input = '') {
  const none = { NATS_URL: '', COHERENCE_DATA_DIR: folder, COHERENCE_CONFIG_DIR: config };
  return runCli(args, { ...none, ...variables }, input);
}

const secrets = () => ({ PW: `secret-of-root-${demo.tag}`, API_LOGIN_SECRET: platform.loginSecret });
const login = (...more: string[]) =>
  cli(
    ['login', '--url', platform.baseUrl, '--email', `root-${demo.tag}@example.org`, '--password-env', 'PW', ...more],
    secrets(),
  );

async function readJson(args: readonly string[], variables?: Record<string, string>): Promise<any> {
  const { stdout } = await cli([...args, '--json'], variables);
  return JSON.parse(stdout) as unknown;
}

const storedProfiles = async (): Promise<any> => JSON.parse(await readFile(join(config, 'profiles.json'), 'utf8'));

async function createKey(): Promise<string> {
  const token = await platform.login(`root-${demo.tag}@example.org`, `secret-of-root-${demo.tag}`);
  const json = { name: 'laptop', scopes: ['directory:read'] };
  return ((await platform.call('POST', '/api/v1/keys', { token, json })).json as { token: string }).token;
}

describe('login', () => {
  it('stores the token of a password login as a profile that only its owner can read', async () => {
    const { code, stdout, stderr } = await login('--profile', 'staging');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`Logged in to ${platform.baseUrl} as root-${demo.tag}@example.org.`);
    expect(stdout).not.toContain('svc_agentic');
    expect((await stat(join(config, 'profiles.json'))).mode & 0o777).toBe(0o600);
    expect(await storedProfiles()).toMatchObject({
      current: 'staging',
      profiles: { staging: { url: platform.baseUrl, kind: 'login', token: expect.stringMatching(/^svc_agentic_/) } },
    });
    expect(await readJson(['whoami'])).toEqual({
      profile: 'staging',
      url: platform.baseUrl,
      person: expect.objectContaining({ id: demo.ben }),
      key: null,
    });
  });

  it('stores nothing for a wrong password', async () => {
    const { code, stderr } = await cli(
      ['login', '--url', platform.baseUrl, '--email', 'root@example.org', '--password-env', 'PW'],
      { ...secrets(), PW: 'wrong' },
    );
    expect([code, stderr]).toEqual([1, 'Invalid credentials.\n']);
    await expect(stat(join(config, 'profiles.json'))).rejects.toThrow('ENOENT');
  });

  it('stores a service key from standard input or as a value, and rejects other tokens', async () => {
    const key = await createKey();
    const piped = await cli(['login', '--url', platform.baseUrl, '--profile', 'piped', '--key'], {}, `${key}\n`);
    expect([piped.code, piped.stderr]).toEqual([0, '']);
    expect((await cli(['login', '--url', platform.baseUrl, '--profile', 'given', '--key', key])).code).toBe(0);
    expect(Object.keys((await storedProfiles()).profiles)).toEqual(['piped', 'given']);
    expect(await readJson(['whoami', '--profile', 'piped'])).toMatchObject({
      key: { name: 'laptop', scopes: ['directory:read'] },
    });
    const session = await platform.login(`root-${demo.tag}@example.org`, `secret-of-root-${demo.tag}`);
    expect((await cli(['login', '--url', platform.baseUrl, '--key', session])).code).toBe(2);
    expect((await cli(['login', '--url', platform.baseUrl, '--key', 'svc_key_x'])).stderr).toContain('coherence login');
  });

  it.each([
    [['--url', 'http://coherence.example.org', '--key', 'k'], 'is not encrypted'],
    [['--url', 'ftp://coherence.example.org', '--key', 'k'], 'is not a URL of an installation'],
    [['--key', 'k'], 'Specify the installation with --url'],
    [['--url', 'http://127.0.0.1:1', '--profile', '../x', '--key', 'k'], 'The name of a profile'],
    [['--url', 'http://127.0.0.1:1', '--profile', 'local', '--key', 'k'], 'Choose another name'],
    [['--url', 'http://127.0.0.1:1', '--key', 'k', '--oidc'], 'only one of'],
  ])('rejects the options %j', async (args, message) => {
    expect(await cli(['login', ...args])).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });
});

describe('profiles', () => {
  it('choose the installation of commands, and are listed without their tokens', async () => {
    await login('--profile', 'one');
    await login('--profile', 'two');
    const list = await readJson(['profiles', 'list']);
    expect(list).toEqual([
      expect.objectContaining({ profile: 'one', current: false, kind: 'login', url: platform.baseUrl }),
      expect.objectContaining({ profile: 'two', current: true }),
    ]);
    expect(JSON.stringify(list)).not.toContain('svc_agentic');
    expect((await cli(['profiles', 'use', 'one'])).code).toBe(0);
    expect(await readJson(['whoami'])).toMatchObject({ profile: 'one' });
    expect(await readJson(['whoami'], { COHERENCE_PROFILE: 'two' })).toMatchObject({ profile: 'two' });
    expect((await cli(['profiles', 'remove', 'one'])).code).toBe(0);
    expect((await cli(['profiles', 'remove', 'one'])).code).toBe(1);
    expect(await readJson(['whoami'])).toMatchObject({ error: { code: 'unavailable' } });
    expect(await readJson(['whoami', '--profile', 'one'])).toMatchObject({ error: { code: 'not_found' } });
  });

  it('are not needed with COHERENCE_URL and COHERENCE_KEY', async () => {
    const variables = { COHERENCE_URL: platform.baseUrl, COHERENCE_KEY: await createKey() };
    expect(await readJson(['whoami'], variables)).toMatchObject({ profile: null, key: { name: 'laptop' } });
  });

  it('are reported when their file is damaged', async () => {
    await writeFile(join(config, 'profiles.json'), '{');
    expect((await cli(['whoami'])).stderr).toContain('is not a profiles file');
  });
});

describe('logout', () => {
  it('ends the session and removes the profile', async () => {
    await login('--profile', 'gone');
    const { token } = (await storedProfiles()).profiles.gone as { token: string };
    expect(await readJson(['logout'])).toEqual({ profile: 'gone', session_ended: true });
    expect((await platform.call('GET', '/api/v1/auth/whoami', { token })).status).toBe(401);
    expect(await readJson(['profiles', 'list'])).toEqual([]);
    expect((await cli(['logout'])).code).toBe(1);
  });

  it('removes a profile whose session has ended', async () => {
    await login('--profile', 'ended');
    const { token } = (await storedProfiles()).profiles.ended as { token: string };
    await platform.call('POST', '/api/v1/auth/logout', { token, json: {} });
    expect((await cli(['whoami'])).stderr).toContain('Run `coherence login`');
    expect(await readJson(['logout'])).toEqual({ profile: 'ended', session_ended: false });
  });
});

describe('the local profile', () => {
  it('is the one that `npm start` wrote, and logs in again when its token has ended', async () => {
    const profile = {
      url: platform.baseUrl,
      email: `root-${demo.tag}@example.org`,
      password: `secret-of-root-${demo.tag}`,
    };
    const settings = { API_LOGIN_SECRET: `${platform.loginSecret} an-older-one` };
    const holder = identifyProcess(process.pid);
    await writeFile(join(config, 'environment.json'), JSON.stringify({ holder, settings, profile }));
    const local = { COHERENCE_DATA_DIR: config };
    expect(await readJson(['whoami'], local)).toMatchObject({ profile: 'local', url: platform.baseUrl });
    const tokenFile = join(config, 'cli-token');
    expect((await stat(tokenFile)).mode & 0o777).toBe(0o600);
    const first = await readFile(tokenFile, 'utf8');
    await readJson(['whoami'], local);
    expect(await readFile(tokenFile, 'utf8')).toBe(first);
    await platform.call('POST', '/api/v1/auth/logout', { token: first, json: {} });
    expect(await readJson(['whoami'], local)).toMatchObject({ profile: 'local' });
    expect(await readFile(tokenFile, 'utf8')).not.toBe(first);
    expect(await readJson(['profiles', 'list'], local)).toMatchObject([{ profile: 'local', current: true }]);
  });
});
