/**
 * Other NATS credentials than user and password (docs/guides/tls.md#nats): credentials files in operator mode, nkeys
 * and client certificates. Each is read again for each connection. Also the users that files/nats-nsc.sh creates.
 */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConfigError, buildNatsUrl } from '#libs/infrastructure/config';
import type { Logger } from '#libs/infrastructure/logger';
import { type Bus, connectBus } from '#libs/infrastructure/nats';
import { natsPermissions } from '#libs/infrastructure/release';
import { createAuthority, createNatsOperator, createNkey, provideTimeoutMs, waitFor } from '#libs/product/testing';
import { provideGoTool } from '../../../libs/product/servers/go-tool.ts';
import { natsServerTool } from '../../../libs/product/servers/go-tools.ts';
import { type NatsServer, startNats } from '../../../libs/product/servers/nats.ts';
import { findFreePort } from '../../../libs/product/servers/ports.ts';

const repoDir = join(import.meta.dirname, '..', '..', '..');
const script = join(repoDir, 'deploy', 'helm', 'coherence', 'files', 'nats-nsc.sh');
const dir = mkdtempSync(join(tmpdir(), 'coherence-credentials-'));
const stops: (() => Promise<unknown>)[] = [];
let program: string;
let servers = 0;

beforeAll(async () => {
  program = await provideGoTool(natsServerTool, () => {});
}, provideTimeoutMs);
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
  rmSync(dir, { recursive: true, force: true });
});

async function serve(settings: readonly string[], port?: number): Promise<NatsServer> {
  const name = `server-${++servers}`;
  const place = { dataDir: join(dir, name), logFile: join(dir, `${name}.log`) };
  const server = await startNats({
    program,
    durable: false,
    settings,
    ...place,
    ...(port === undefined ? {} : { port }),
  });
  stops.push(() => server.stop());
  return server;
}

function write(name: string, text: string): string {
  const file = join(dir, name);
  writeFileSync(file, text);
  return file;
}

/** Collects the log lines of a bus, with level. */
function watchLog(): { logger: Logger; lines: string[] } {
  const lines: string[] = [];
  const log = (details: unknown, message?: string): void =>
    void lines.push(typeof details === 'string' ? details : String(message));
  const logger = {
    trace: log,
    debug: log,
    info: log,
    warn: log,
    error: log,
    fatal: log,
    child: () => logger,
  } as unknown as Logger;
  return { logger, lines };
}

async function connect(settings: Readonly<Record<string, string>>, logger = watchLog().logger): Promise<Bus> {
  const bus = await connectBus({ url: buildNatsUrl(settings), name: 'media', logger, connectTimeoutMs: 1 });
  stops.push(() => bus.close());
  return bus;
}
const failure = (settings: Readonly<Record<string, string>>): Promise<unknown> =>
  connect(settings).then(
    () => 'connected',
    (error: Error) => error,
  );
const isBack = (bus: Bus) => waitFor(() => bus.ping().then(() => true), { what: 'the connection' });
const now = (): number => Math.floor(Date.now() / 1000);

describe('a credentials file (NATS_CREDS_FILE)', () => {
  const roles = natsPermissions();
  const needed = roles['media'] ?? { publish: [], subscribe: [] };
  const operator = createNatsOperator({ ...roles, short: { ...needed, subscribe: needed.subscribe.slice(0, 1) } });

  it('reads the credentials file for each connection, and uses the last valid one while the file is being replaced', async () => {
    const port = await findFreePort();
    const old = operator.issue('media');
    const file = write('rotated.creds', old.creds);
    const { logger, lines } = watchLog();
    const first = await serve(operator.settings(), port);
    const bus = await connect({ NATS_URL: first.url, NATS_CREDS_FILE: file }, logger);
    await expect(bus.findMissingPermissions(needed)).resolves.toBeUndefined();

    // The file is only partially written when the connection is lost.
    writeFileSync(file, old.creds.slice(0, 40));
    await first.stop();
    const second = await serve(operator.settings(), port);
    await isBack(bus);
    const problem = `credentials for NATS were not read again: NATS_CREDS_FILE ${file} is not a credentials file`;
    expect(lines.filter((line) => line.startsWith(problem))).toHaveLength(1);

    // The server rejects the old credentials until the file has new ones.
    await second.stop();
    await serve(operator.settings([old.publicKey]), port);
    await waitFor(() => lines.some((line) => /NATS refuses the credentials \(.*authorization violation/i.test(line)));
    await expect(bus.ping()).rejects.toMatchObject({ code: 'unavailable' });
    writeFileSync(file, operator.issue('media').creds);
    await isBack(bus);
    expect(lines.filter((line) => line.startsWith('NATS refuses'))).toHaveLength(1);
    expect(lines.join('\n')).not.toContain('eyJ');
  });

  it('reconnects with renewed credentials when the old ones expire', async () => {
    const server = await serve(operator.settings());
    const { logger, lines } = watchLog();
    const file = join(dir, 'expiring.creds');
    const bus = await waitFor(() => {
      writeFileSync(file, operator.issue('media', { expiresAt: now() + 3 }).creds);
      return connect({ NATS_URL: server.url, NATS_CREDS_FILE: file }, logger);
    });
    await waitFor(() => lines.some((line) => /NATS refuses the credentials .*expired at \d{4}-/.test(line)));
    writeFileSync(file, operator.issue('media').creds.replaceAll('\n', '\r\n').trimEnd());
    await isBack(bus);
  });

  it('names the user of the credentials file in permission errors', async () => {
    const server = await serve(operator.settings());
    const file = write('short.creds', operator.issue('media-2', { role: 'short' }).creds);
    const bus = await connect({ NATS_URL: server.url, NATS_CREDS_FILE: file });
    await expect(bus.findMissingPermissions(needed)).resolves.toMatch(/^the NATS user media-2 may not subscribe to /);
  });

  it('stream set-up, doctor and the check of all users connect with the credentials file', async () => {
    const server = await serve(operator.settings());
    const env = {
      NATS_URL: server.url,
      NATS_CREDS_FILE: write('admin.creds', operator.issue('admin').creds),
      NATS_URL_MEDIA: server.url,
      NATS_CREDS_FILE_MEDIA: write('media.creds', operator.issue('media').creds),
      NATS_URL_GATEWAY: server.url,
      NATS_CREDS_FILE_GATEWAY: write('gateway.creds', operator.issue('api-gateway').creds),
    };
    const made = await run(env, process.execPath, 'tools/streams.ts');
    expect(made).toMatchObject({ code: 0, output: expect.stringContaining('"users":["api-gateway","media"]') });
    rmSync(env.NATS_CREDS_FILE_GATEWAY);
    const own = { ...env, NATS_CREDS_FILE: write('cli.creds', operator.issue('cli').creds) };
    const doctor = await run(own, process.execPath, 'cli/main.ts', 'doctor');
    expect(doctor.output).toMatch(/^ok +NATS +answers at/m);
    expect(doctor.output).toMatch(
      /^WRONG +NATS users .*user api-gateway\): a file does not exist \(ENOENT: .*gateway\.creds/m,
    );
    expect(doctor.output).toMatch(/^ok +stream JOBS/m);
  });

  it('reports an invalid credentials file before it serves requests', async () => {
    const server = await serve(operator.settings());
    const url = server.url.replace('//', '//media:secret@');
    const creds = write('good.creds', operator.issue('media').creds);
    const seed = write('user.nk', createNkey().seed);
    const contradictions: readonly [Record<string, string>, string][] = [
      [{ NATS_URL: url, NATS_CREDS_FILE: creds }, 'the user in NATS_URL and NATS_CREDS_FILE exclude each other'],
      [{ NATS_URL: url, NATS_NKEY_SEED_FILE: seed }, 'the user in NATS_URL and NATS_NKEY_SEED_FILE exclude each other'],
      [
        { NATS_CREDS_FILE: creds, NATS_NKEY_SEED_FILE: seed },
        'NATS_CREDS_FILE and NATS_NKEY_SEED_FILE exclude each other',
      ],
      [{ NATS_TLS_CERT_FILE: creds }, 'NATS_TLS_CERT_FILE needs NATS_TLS_KEY_FILE'],
      [{ NATS_TLS_KEY_FILE: creds }, 'NATS_TLS_KEY_FILE needs NATS_TLS_CERT_FILE'],
      [{ NATS_URL: `${server.url}?credsfile=x` }, 'NATS_URL has an unknown parameter credsfile'],
    ];
    for (const [settings, message] of contradictions) {
      const error = await failure({ NATS_URL: server.url, ...settings });
      expect([settings, error]).toEqual([settings, expect.any(ConfigError)]);
      expect((error as Error).message).toContain(message);
    }
    const expired = operator.issue('media', { expiresAt: now() - 60 }).creds;
    const problems: readonly [Record<string, string>, RegExp][] = [
      [{ NATS_CREDS_FILE: join(dir, 'missing') }, /NATS_CREDS_FILE \S+missing cannot be read: ENOENT/],
      [{ NATS_CREDS_FILE: dir }, /NATS_CREDS_FILE \S+ cannot be read: EISDIR/],
      [{ NATS_CREDS_FILE: write('empty', '') }, /NATS_CREDS_FILE \S+empty is not a credentials file/],
      [{ NATS_CREDS_FILE: seed }, /NATS_CREDS_FILE \S+ is not a credentials file/],
      [
        { NATS_CREDS_FILE: write('expired.creds', expired) },
        /authorization violation.*credentials in NATS_CREDS_FILE \S+ expired at \d{4}-/i,
      ],
      [
        { NATS_CREDS_FILE: write('foreign.creds', createNatsOperator().issue('media').creds) },
        /authorization violation/i,
      ],
      [
        { NATS_CREDS_FILE: write('large.creds', operator.issue('m'.repeat(4_000)).creds) },
        /have \d{4} bytes, more than servers take \(max_control_line/,
      ],
      [{ NATS_NKEY_SEED_FILE: creds }, /NATS_NKEY_SEED_FILE \S+ does not hold the seed of a user/],
      [
        { NATS_NKEY_SEED_FILE: write('cut.nk', createNkey().seed.slice(0, -2)) },
        /NATS_NKEY_SEED_FILE \S+ does not hold the seed of a user/,
      ],
    ];
    for (const [settings, message] of problems)
      expect([settings, await failure({ NATS_URL: server.url, ...settings })]).toEqual([
        settings,
        expect.objectContaining({ code: 'unavailable', message: expect.stringMatching(message) }),
      ]);
  });
});

describe('the seed of an nkey (NATS_NKEY_SEED_FILE)', () => {
  it('reads the nkey seed for each connection', async () => {
    const [old, next] = [createNkey(), createNkey()];
    const [port, file] = [await findFreePort(), write('rotated.nk', `${old.seed}\n`)];
    const users = (key: string): string[] => [`authorization: { users: [{ nkey: ${key} }] }`];
    const first = await serve(users(old.publicKey), port);
    const { logger, lines } = watchLog();
    const bus = await connect({ NATS_URL: first.url, NATS_NKEY_SEED_FILE: file }, logger);
    await first.stop();
    await serve(users(next.publicKey), port);
    await waitFor(() => lines.some((line) => line.startsWith('NATS refuses the credentials')));
    writeFileSync(file, next.seed);
    await isBack(bus);
    expect(lines.join('\n')).not.toContain(old.seed);
  });
});

describe('a client certificate (NATS_TLS_CERT_FILE)', () => {
  it('presents the client certificate, reads it for each connection, and can use it as the user name', async () => {
    const [own, next] = [await createAuthority(dir, 'own'), await createAuthority(dir, 'next')];
    const certificate = own.issue('localhost', ['DNS:localhost']);
    const port = await findFreePort();
    const settings = (clients: string): string[] => [
      `tls { cert_file: "${certificate.cert}", key_file: "${certificate.key}", ca_file: "${clients}", verify_and_map: true }`,
      'authorization: { users: [{ user: "CN=media" }] }',
    ];
    const [old, renewed] = [own.issue('media'), next.issue('media')];
    const read = (file: string): string => readFileSync(file, 'utf8');
    const cert = write('client.pem', read(old.cert));
    const key = write('client.key', read(old.key));
    const first = await serve(settings(own.cert), port);
    const url = first.url.replace('127.0.0.1', 'localhost');
    const files = { NATS_TLS_CA_FILE: own.cert, NATS_TLS_CERT_FILE: cert, NATS_TLS_KEY_FILE: key };
    const { logger, lines } = watchLog();
    const bus = await connect({ NATS_URL: url, ...files }, logger);
    await bus.ping();
    await expect(failure({ NATS_URL: url, NATS_TLS_CA_FILE: own.cert })).resolves.toMatchObject({
      message: expect.stringContaining(
        'the server may ask for a client certificate, and NATS_TLS_CERT_FILE is not set',
      ),
    });
    await expect(failure({ NATS_URL: url, ...files, NATS_TLS_CA_FILE: next.cert })).resolves.toMatchObject({
      message: expect.stringMatching(/certificate|UNABLE_TO/),
    });
    await expect(failure({ NATS_URL: url, ...files, NATS_TLS_KEY_FILE: renewed.key })).resolves.toMatchObject({
      message: expect.stringMatching(/NATS_TLS_CERT_FILE \S+ and NATS_TLS_KEY_FILE \S+ cannot be used/),
    });

    await first.stop();
    // The key is written after its certificate. Until then, the bus uses the pair that it has read before.
    writeFileSync(cert, read(renewed.cert));
    await serve(settings(next.cert), port);
    await waitFor(() => lines.some((line) => line.includes('cannot be used')));
    writeFileSync(key, read(renewed.key));
    await isBack(bus);
  });
});

describe('files/nats-nsc.sh', () => {
  it('creates roles and users with the permissions of the release, and resets existing roles to them', async () => {
    const bin = join(dir, 'bin');
    mkdirSync(bin);
    const old = { media: { pub: ['media.*.*', 'old.>'], sub: ['media.*.*', 'older.*'] } };
    const state = write('nsc.json', JSON.stringify({ roles: old, users: { media: 'media' } }));
    writeFileSync(join(bin, 'nsc'), `#!${process.execPath}\n${playedNsc}`);
    chmodSync(join(bin, 'nsc'), 0o755);
    const env = { PATH: `${bin}${delimiter}${process.env['PATH']}`, NSC_STATE: state };
    await expect(run(env, 'sh', script, 'coherence')).resolves.toEqual({ code: 0, output: '' });

    const users = Object.entries(natsPermissions());
    expect(JSON.parse(readFileSync(state, 'utf8'))).toEqual({
      roles: Object.fromEntries(
        users.map(([name, { publish, subscribe }]) => [name, { pub: publish.toSorted(), sub: subscribe.toSorted() }]),
      ),
      users: { admin: null, ...Object.fromEntries(users.map(([name]) => [name, name])) },
    });
  });
});

/**
 * Simulates the program nsc with the account `coherence` in the file NSC_STATE. Like nsc 2.9, it removes after it adds,
 * and escapes `>` in JSON.
 */
const playedNsc = `
const { readFileSync, writeFileSync } = require('node:fs');
const [command, kind, ...args] = process.argv.slice(2);
const state = JSON.parse(readFileSync(process.env.NSC_STATE, 'utf8'));
const values = (name) => args.flatMap((arg, index) => (arg === name ? args[index + 1].split(',') : []));
const [name] = values('--name');
const fail = () => { throw new Error(['unexpected', command, kind, ...args].join(' ')); };
if ((kind === 'account' ? name : values('--account')[0]) !== 'coherence') fail();
if (command === 'describe' && kind === 'account') {
  const keys = Object.entries(state.roles).map(([role, { pub, sub }]) => ({ key: 'A', kind: 'user_scope', role, template: { data: -1, pub: { allow: pub }, sub: { allow: sub }, subs: -1 } }));
  process.stdout.write((keys.length === 0 ? 'null' : JSON.stringify(keys)).replaceAll('>', '\\u003e'));
} else if (command === 'describe') {
  process.exitCode = state.users[name] === undefined ? 1 : 0;
} else if (command === 'add') {
  state.users[name] = values('--private-key')[0] ?? null;
} else {
  const [role] = values('--role');
  if ((values('--sk')[0] === 'generate') !== (state.roles[role] === undefined)) fail();
  const before = state.roles[role] ?? { pub: [], sub: [] };
  const removed = new Set(values('--rm'));
  const change = (held, added) => [...new Set([...held, ...added])].filter((subject) => !removed.has(subject)).toSorted();
  state.roles[role] = { pub: change(before.pub, values('--allow-pub')), sub: change(before.sub, values('--allow-sub')) };
}
if (command !== 'describe') writeFileSync(process.env.NSC_STATE, JSON.stringify(state));
`;

function run(
  variables: Readonly<Record<string, string>>,
  command: string,
  ...args: string[]
): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const env = { PATH: process.env['PATH'], HOME: dir, COHERENCE_DATA_DIR: dir, ...variables };
    execFile(command, args, { cwd: repoDir, env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    );
  });
}
