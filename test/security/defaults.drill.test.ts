/**
 * What a running platform with default settings exposes to attackers with network access to the machine or an account
 * on it (architecture#safe-by-default).
 */
import { spawnSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { demoValues } from '#libs/infrastructure/config';
import { readServiceSettings } from '../../libs/product/servers/service-settings.ts';
import { sampled } from '../drill.ts';
import { createLaunchpad, type Launch, type Launchpad, repoDir } from '../e2e/launch.ts';

const readEnvironment = (pid: number): Record<string, string> =>
  Object.fromEntries(
    readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .filter((line) => line !== '')
      .map((line): [string, string] => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );

/** Returns the addresses on which a process listens, in kernel notation: `0100007F:1F90`. */
function readListening(pid: number): string[] {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [/^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? ''];
      } catch {
        return []; // closed since the listing
      }
    }),
  );
  return ['tcp', 'tcp6']
    .flatMap((kind) => readFileSync(`/proc/${pid}/net/${kind}`, 'utf8').split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === '0A' && inodes.has(inode ?? ''))
    .map(([, address = '']) => address);
}

const reached = (address: string, port: number): boolean =>
  spawnSync(process.execPath, [
    '--eval',
    `fetch('http://${address}:${port}/api/openapi.json').then(() => process.exit(0), () => process.exit(1))`,
  ]).status === 0;

const loopback = /^(0100007F|0{24}01000000):/;

describe('npm start with default settings', () => {
  let pad: Launchpad;
  let platform: Launch;

  beforeAll(async () => {
    pad = await createLaunchpad();
    platform = pad.launch({ PLANTED_SECRET: 'of-another-program', AWS_SECRET_ACCESS_KEY: 'of-another-program' });
    await pad.waitUntilReady(platform);
  });
  afterAll(() => pad.clear());

  it('npm start exposes no port to the network: neither API nor media, metrics, PostgreSQL, NATS or the object store', () => {
    const listening = pad.readRecord().map(({ name, identity }) => ({ name, addresses: readListening(identity.pid) }));
    expect(listening).toHaveLength(10);
    expect(listening.filter(({ addresses }) => addresses.length === 0)).toEqual([]);
    expect(listening.filter(({ addresses }) => addresses.some((address) => !loopback.test(address)))).toEqual([]);
    expect(listening.find(({ name }) => name === 'api-gateway')?.addresses).toContain(
      `0100007F:${pad.port.toString(16).toUpperCase().padStart(4, '0')}`,
    );
  });

  describe('another local account and a compromised process', () => {
    const basics = /^(PATH|HOME|TMPDIR|TZ|LANG|LC_ALL|SSL_CERT_(FILE|DIR)|NODE_[A-Z0-9_]+|MALLOC_MMAP_THRESHOLD_)$/;

    it('a compromised process finds only its declared settings in its environment, none of other services or the caller', async () => {
      const services = await readServiceSettings();
      expect(services).toHaveLength(7);
      for (const { service, properties } of services) {
        const found = Object.keys(readEnvironment(pad.findIdentity(service).pid));
        expect({ service, undeclared: found.filter((name) => !(name in properties) && !basics.test(name)) }).toEqual({
          service,
          undeclared: [],
        });
      }
    });

    it('a compromised process finds no administrator address', () => {
      const gateway = readEnvironment(pad.findIdentity('api-gateway').pid);
      expect(gateway).not.toHaveProperty('DATABASE_URL');
      expect(new URL(gateway['NATS_URL'] ?? '').username).toBe('api-gateway');
      const media = readEnvironment(pad.findIdentity('media').pid);
      expect(new URL(media['DATABASE_URL'] ?? '').username).toBe('coherence_media');
      expect(new URL(media['NATS_URL'] ?? '').username).toBe('media');
    });

    it('accepts unsigned webhooks by default, because only this machine can send any (D64)', () => {
      expect(readEnvironment(pad.findIdentity('conversations').pid)['ALLOW_UNSIGNED_WEBHOOKS']).toBe('true');
      expect(readEnvironment(pad.findIdentity('agents').pid)['ALLOW_UNSIGNED_WEBHOOKS']).toBe('true');
    });

    it('passes no settings of the caller to the servers', () => {
      const found = pad
        .readRecord()
        .filter(({ identity }) => Object.values(readEnvironment(identity.pid)).includes('of-another-program'));
      expect(found.map(({ name }) => name)).toEqual([]);
    });
  });

  it('another local account cannot read any file: neither data nor logs, spool or secrets', () => {
    const open: string[] = [];
    const look = (path: string): void => {
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (stat === undefined || stat.isSymbolicLink()) return;
      if ((stat.mode & 0o077) !== 0) open.push(path);
      if (stat.isDirectory()) for (const name of readdirSync(path)) look(join(path, name));
    };
    look(pad.dataDir);
    expect(open).toEqual([]);
    expect(readdirSync(pad.dataDir)).toEqual(
      expect.arrayContaining(['environment.json', 'logs', 'postgres', 'service-secret']),
    );
  });

  describe('npm start with HOST, with data of an installation that was not reachable from other machines', () => {
    const { API_TOKEN: publicToken, API_LOGIN_SECRET: publicKey, DEMO_PASSWORD: publicPassword } = demoValues;
    let secrets: NodeJS.Dict<string>;
    const ask = (path: string, headers: Record<string, string>, body?: object): Promise<Response> =>
      fetch(`http://127.0.0.1:${pad.port}${path}`, {
        headers: { ...headers, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      });
    const logIn = async (key: string, password: string): Promise<number> =>
      (await ask('/api/v1/auth/login', { 'x-svc-api-key': key }, { email: 'admin@example.org', password })).status;
    /** Returns 404 with the right token, because the conversation does not exist. */
    const read = async (token: string): Promise<number> =>
      (await ask('/api/coherence/conversations/999999', { authorization: `Bearer ${token}` })).status;

    const signIn = (password: string): Promise<Response> =>
      ask('/console/session', { origin: `http://127.0.0.1:${pad.port}` }, { email: 'admin@example.org', password });
    const whoami = async (token: string): Promise<number> =>
      (await ask('/api/v1/auth/whoami', { authorization: `Bearer ${token}` })).status;
    let made: { token: string; key: string; cookie: string };

    beforeAll(async () => {
      // The published default secrets are stored, and accepted on the loopback address.
      const login = await ask(
        '/api/v1/auth/login',
        { 'x-svc-api-key': publicKey },
        { email: 'admin@example.org', password: publicPassword },
      );
      const { token } = (await login.json()) as { token: string };
      const issued = await ask(
        '/api/v1/keys',
        { authorization: `Bearer ${token}` },
        { name: 'Of the trial', scopes: ['*'] },
      );
      const session = await signIn(publicPassword);
      made = {
        token,
        key: ((await issued.json()) as { token: string }).token,
        cookie: session.headers.get('set-cookie')?.split(';')[0] ?? '',
      };
      expect([await whoami(made.token), await whoami(made.key), session.status]).toEqual([200, 200, 200]);
      expect(await read(publicToken)).toBe(404);
      platform.child.kill('SIGTERM');
      await platform.status;
      platform = pad.launch({ HOST: '0.0.0.0' });
      await pad.waitUntilReady(platform);
      secrets = parseEnv(readFileSync(join(pad.dataDir, 'secrets.env'), 'utf8'));
    });

    it('rejects all documented credentials when started with HOST: token, gate key and passwords', async () => {
      expect(await read(publicToken)).toBe(401);
      expect(await logIn(publicKey, publicPassword)).toBe(401);
      expect(await logIn(secrets['API_LOGIN_SECRET'] ?? '', publicPassword)).toBe(401);
      expect((await signIn(publicPassword)).status).toBe(401);
      expect(await read(secrets['API_TOKEN'] ?? '')).toBe(404);
    });

    it('revokes tokens, service keys and console sessions that were created with a documented password (D100)', async () => {
      expect([await whoami(made.token), await whoami(made.key)]).toEqual([401, 401]);
      expect((await ask('/console/api/v1/auth/whoami', { cookie: made.cookie })).status).toBe(401);
    });

    it('sets the passwords of the demo accounts to the one in secrets.env, and reports the change (D100)', async () => {
      expect((await signIn(secrets['DEMO_PASSWORD'] ?? '')).status).toBe(200);
      expect(platform.output()).toMatch(
        /ada@example\.org, .*admin@example\.org: their published password was replaced by DEMO_PASSWORD \(.*secrets\.env/,
      );
    });

    it('accepts webhooks from other machines only with a signature (D64)', async () => {
      for (const name of ['conversations', 'agents'])
        expect(readEnvironment(pad.findIdentity(name).pid)['ALLOW_UNSIGNED_WEBHOOKS'] ?? 'false').toBe('false');
      expect(readEnvironment(pad.findIdentity('conversations').pid)['BOOKING_WEBHOOK_SECRET']).toBe(
        secrets['BOOKING_WEBHOOK_SECRET'],
      );
      expect(secrets['BOOKING_WEBHOOK_SECRET']?.length).toBeGreaterThanOrEqual(24);
    });

    it('exposes only the API to the network when started with HOST', () => {
      const open = pad
        .readRecord()
        .filter(({ identity }) => readListening(identity.pid).some((address) => !loopback.test(address)));
      expect(open.map(({ name }) => name)).toEqual(['api-gateway']);
      for (const list of Object.values(networkInterfaces()))
        for (const { address, family } of list ?? [])
          if (family === 'IPv4') expect(reached(address, pad.port)).toBe(true);
    });

    it('reports the location of the generated secrets, and does not start with weak custom secrets', async () => {
      expect(platform.output()).toContain(join(pad.dataDir, 'secrets.env'));
      expect(platform.output()).not.toContain(secrets['API_LOGIN_SECRET']);
      expect(lstatSync(join(pad.dataDir, 'secrets.env')).mode & 0o777).toBe(0o600);
      platform.child.kill('SIGTERM');
      await platform.status;
      const weak = pad.launch({ HOST: '0.0.0.0', API_TOKEN: 'too-short', API_LOGIN_SECRET: publicKey });
      await expect(weak.status).resolves.toBe(1);
      expect(weak.output()).toContain(
        'API_TOKEN is shorter than 24 characters: make one with: npm run --silent cli -- secrets generate',
      );
      expect(weak.output()).toContain('API_LOGIN_SECRET is, or holds, a password that anybody knows');
      expect(weak.output()).not.toContain('too-short');
    });
  });
});

describe('a service of the image with documented secrets', () => {
  const environment = {
    NODE_ENV: 'production',
    DATABASE_URL: 'postgresql://coherence:coherence@127.0.0.1:1/coherence',
    NATS_URL: 'nats://admin:password@127.0.0.1:1',
    S3_ENDPOINT: 'http://127.0.0.1:1',
    S3_ACCESS_KEY_ID: 'minioadmin',
    S3_SECRET_ACCESS_KEY: 'minioadmin',
    API_TOKEN: demoValues.API_TOKEN,
    API_LOGIN_SECRET: demoValues.API_LOGIN_SECRET,
  };
  const refused: Readonly<Record<string, readonly string[]>> = {
    'api-gateway': ['NATS_URL', 'API_TOKEN', 'API_LOGIN_SECRET'],
    conversations: ['NATS_URL', 'DATABASE_URL', 'BOOKING_WEBHOOK_SECRET'],
    media: ['NATS_URL', 'DATABASE_URL', 'S3_SECRET_ACCESS_KEY'],
    agents: ['NATS_URL', 'DATABASE_URL'],
    directory: ['NATS_URL', 'DATABASE_URL'],
    transcripts: ['NATS_URL', 'DATABASE_URL'],
    events: ['NATS_URL', 'DATABASE_URL'],
  };

  it.each(sampled(Object.entries(refused), { every: 2 }))(
    '%s exits before it connects to any server, and names each documented secret',
    (service, names) => {
      const env = { ...environment, PATH: process.env['PATH'] };
      const { status, stderr } = spawnSync(process.execPath, [join('services', service, 'main.ts')], {
        cwd: repoDir,
        env,
        encoding: 'utf8',
      });
      expect(status).toBe(1);
      for (const name of names)
        expect(stderr).toMatch(new RegExp(`- ${name} is\\b.*npm run --silent cli -- secrets generate`));
      expect(stderr).not.toMatch(/ECONNREFUSED|minioadmin|demo-api-token/);
    },
  );
});
