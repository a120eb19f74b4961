/**
 * PostgreSQL, NATS and the object store with certificates of a private authority (docs/guides/tls.md): what each
 * `sslmode` accepts, rotation of passwords and client certificates, and the programs of the platform, each as a
 * process.
 */
import { execFile } from 'node:child_process';
import {
  appendFileSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { generateActorKeys } from '#libs/infrastructure/actor';
import { buildDatabaseUrl } from '#libs/infrastructure/config';
import { createLogger } from '#libs/infrastructure/logger';
import { connectBus } from '#libs/infrastructure/nats';
import { createDatabase } from '#libs/infrastructure/orm';
import { type Authority, type Certificate, createAuthority, provideTimeoutMs, waitFor } from '#libs/product/testing';
import { provideGoTool } from '../../../libs/product/servers/go-tool.ts';
import { natsServerTool } from '../../../libs/product/servers/go-tools.ts';
import { type NatsServer, startNats } from '../../../libs/product/servers/nats.ts';
import { startObjectStore } from '../../../libs/product/servers/object-store.ts';
import type { ObjectStoreServer } from '../../../libs/product/servers/object-store-server.ts';
import { findFreePort } from '../../../libs/product/servers/ports.ts';
import { type PostgresServer, startPostgres } from '../../../libs/product/servers/postgres.ts';
import { startServiceProcess } from '../../../libs/product/servers/service-process.ts';

const repoDir = join(import.meta.dirname, '..', '..', '..');
const logger = createLogger({ service: 'test', level: 'silent' });

describe('TLS (docs/guides/tls.md)', () => {
  const dir = mkdtempSync(join(tmpdir(), 'coherence-tls-'));
  let authority: Authority;
  let other: Authority;
  let client: Certificate;
  let postgres: PostgresServer;
  let nats: NatsServer;
  let store: ObjectStoreServer;

  beforeAll(async () => {
    authority = await createAuthority(dir);
    other = await createAuthority(dir, 'other');
    client = authority.issue('shown');
    const server = authority.issue('localhost', ['DNS:localhost']);
    [postgres, nats, store] = await Promise.all([
      startEncryptedPostgres(server),
      startNats({
        program: await provideGoTool(natsServerTool, () => {}),
        dataDir: join(dir, 'nats'),
        logFile: join(dir, 'nats.log'),
        durable: false,
        settings: [`tls { cert_file: "${server.cert}", key_file: "${server.key}" }`],
      }),
      startObjectStore({
        dataDir: join(dir, 'store'),
        logFile: join(dir, 'store.log'),
        durable: false,
        progress: () => {},
        certificate: server,
      }),
    ]);
  }, provideTimeoutMs);
  afterAll(async () => {
    await Promise.all([postgres.stop(), nats.stop(), store.stop()]);
    rmSync(dir, { recursive: true, force: true });
  });

  /**
   * Starts a server that accepts the role `plain` without TLS and all other roles only with TLS. The role `shown`
   * authenticates with a certificate.
   */
  async function startEncryptedPostgres(certificate: Certificate): Promise<PostgresServer> {
    const started = await startPostgres({
      dataDir: join(dir, 'postgres'),
      logFile: join(dir, 'postgres.log'),
      modulesDir: join(repoDir, 'node_modules'),
      database: 'coherence',
      durable: false,
    });
    for (const role of ['plain', 'renewed']) await query(started.url, `create role ${role} login password 'first'`);
    await query(started.url, 'create role shown login');
    const { uid, gid } = statSync(started.dataDir);
    for (const [from, name] of [
      [certificate.cert, 'server.crt'],
      [certificate.key, 'server.key'],
      [authority.cert, 'clients.crt'],
    ] as const) {
      const file = join(started.dataDir, name);
      copyFileSync(from, file);
      chownSync(file, uid, gid);
    }
    appendFileSync(join(started.dataDir, 'postgresql.conf'), `ssl = on\nssl_ca_file = 'clients.crt'\n`);
    writeFileSync(
      join(started.dataDir, 'pg_hba.conf'),
      'hostnossl all plain 127.0.0.1/32 scram-sha-256\nhostssl all plain 127.0.0.1/32 reject\nhostssl all shown 127.0.0.1/32 cert\nhostssl all all 127.0.0.1/32 scram-sha-256\n',
    );
    process.kill(started.identity.pid, 'SIGHUP');
    const url = started.url.replace('@127.0.0.1', '@localhost');
    await waitFor(() => query(`${url}?sslmode=require`, 'select 1'), { what: 'PostgreSQL with TLS' });
    return { ...started, url };
  }

  async function query<Row>(url: string, text: string): Promise<Row[]> {
    const db = await createDatabase({ url, schema: 'public', poolSize: 1, logger, applicationName: 'tls' });
    try {
      return await db.query<Row>({ name: 'tls', text });
    } finally {
      await db.close();
    }
  }
  const encrypted = 'select ssl as used from pg_stat_ssl where pid = pg_backend_pid()';
  /** Whether the connection is encrypted, or the connection error. */
  const connect = async (
    parameters: string,
    { user, host = 'localhost' }: { user?: string; host?: string } = {},
  ): Promise<unknown> => {
    const url = new URL(postgres.url);
    if (user !== undefined) [url.username, url.password] = [user, 'first'];
    url.hostname = host;
    return query<{ used: boolean }>(`${url.href}?${parameters}`, encrypted).then(
      ([row]) => row?.used,
      (error: Error) => `${error.message} ${String((error.cause as NodeJS.ErrnoException | undefined)?.code)}`,
    );
  };

  it('verifies the server for each sslmode as libpq documents', async () => {
    const trusted = `sslrootcert=${authority.cert}`;
    const untrusted = `sslrootcert=${other.cert}`;
    const cases: readonly (readonly [
      parameters: string,
      result: unknown,
      options?: { user?: string; host?: string },
    ])[] = [
      ['sslmode=disable', expect.stringContaining('28000')],
      ['sslmode=disable', false, { user: 'plain' }],
      ['sslmode=allow', true],
      ['sslmode=allow', false, { user: 'plain' }],
      ['sslmode=prefer', true],
      ['sslmode=prefer', false, { user: 'plain' }],
      ['sslmode=require', true],
      ['sslmode=require', true, { host: '127.0.0.1' }],
      ['sslmode=require', expect.stringContaining('28000'), { user: 'plain' }],
      [`sslmode=require&${trusted}`, true, { host: '127.0.0.1' }],
      [`sslmode=require&${untrusted}`, expect.stringMatching(/UNABLE_TO_VERIFY|SELF_SIGNED|UNABLE_TO_GET/)],
      [`sslmode=verify-ca&${trusted}`, true, { host: '127.0.0.1' }],
      [`sslmode=verify-ca&${untrusted}`, expect.stringMatching(/UNABLE_TO_VERIFY|SELF_SIGNED|UNABLE_TO_GET/)],
      [`sslmode=verify-full&${trusted}`, true],
      [`sslmode=verify-full&${trusted}&sslnegotiation=direct`, true],
      [
        `sslmode=verify-full&${trusted}`,
        expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID'),
        { host: '127.0.0.1' },
      ],
      ['sslmode=verify-full', expect.stringMatching(/UNABLE_TO_VERIFY|SELF_SIGNED|UNABLE_TO_GET/)],
      [`sslmode=require&sslcert=${client.cert}&sslkey=${client.key}`, true, { user: 'shown' }],
      ['sslmode=require', expect.stringContaining('28000'), { user: 'shown' }],
      [
        'sslmode=no-such',
        expect.stringContaining('sslmode of DATABASE_URL must be one of disable, allow, prefer, require, verify-ca'),
      ],
      ['sslmode=require&sslrootcert=system', expect.stringContaining('must be verify-full with sslrootcert=system')],
      [`sslmode=require&sslcert=${client.cert}`, expect.stringContaining('needs sslkey')],
    ];
    for (const [parameters, result, options] of cases)
      expect([parameters, await connect(parameters, options)]).toEqual([parameters, result]);
  });

  it('reads the password for each new database connection, from a file or from a command', async () => {
    const secrets = join(dir, 'secrets');
    mkdirSync(secrets);
    const [file, script] = [join(secrets, 'password'), join(secrets, 'token.mjs')];
    const address = `${postgres.url.replace(/\/\/[^@]*@/, '//renewed@')}?sslmode=require`;
    writeFileSync(
      script,
      `import { readFileSync } from 'node:fs'; process.stdout.write(readFileSync(${JSON.stringify(file)}));`,
    );
    const sources = [
      { DATABASE_PASSWORD_FILE: file },
      { DATABASE_PASSWORD_COMMAND: `${process.execPath} ${script}` },
      { DATABASE_PASSWORD_COMMAND: JSON.stringify([process.execPath, script]) },
    ];
    for (const source of sources) {
      writeFileSync(file, 'first\n');
      await query(`${postgres.url}?sslmode=require`, `alter role renewed password 'first'`);
      const db = await createDatabase({
        url: buildDatabaseUrl({ DATABASE_URL: address, ...source }),
        schema: 'public',
        poolSize: 2,
        logger,
        applicationName: 'renewed',
      });
      await db.ping();
      await query(`${postgres.url}?sslmode=require`, `alter role renewed password 'second'`);
      await query(
        `${postgres.url}?sslmode=require`,
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'renewed'`,
      );
      await waitFor(async () => {
        const error = await db.ping().then(
          () => undefined,
          (reason: { code: string; cause: { code: string } }) => reason,
        );
        return error?.code === 'unavailable' && error.cause.code === '28P01';
      });
      writeFileSync(file, 'second\n');
      await db.ping();
      await db.close();
    }
    const failing = buildDatabaseUrl({
      DATABASE_URL: address,
      DATABASE_PASSWORD_COMMAND: `${process.execPath} ${join(dir, 'missing.mjs')}`,
    });
    await expect(query(failing, 'select 1')).rejects.toMatchObject({
      code: 'unavailable',
      cause: { message: expect.stringMatching(/DATABASE_PASSWORD_COMMAND .* failed \(1\)/) },
    });
    expect(() =>
      buildDatabaseUrl({ DATABASE_URL: address, DATABASE_PASSWORD_FILE: file, DATABASE_PASSWORD_COMMAND: 'x' }),
    ).toThrow('set one');
  });

  const run = (
    variables: Readonly<Record<string, string>>,
    ...args: string[]
  ): Promise<{ code: number; output: string }> =>
    new Promise((resolve) => {
      const env = { PATH: process.env['PATH'], HOME: dir, ...variables };
      execFile(process.execPath, args, { cwd: repoDir, env }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
      );
    });

  it('encrypts migrations, streams, services, backups and the CLI with a private authority, and rejects an untrusted one', async () => {
    const keys = generateActorKeys();
    const natsUrl = nats.url.replace('nats://127.0.0.1', 'tls://localhost');
    const settings = {
      DATABASE_URL: `${postgres.url}?sslmode=verify-full&sslrootcert=${authority.cert}`,
      NATS_URL: natsUrl,
      S3_ENDPOINT: store.endpoint,
      S3_BUCKET: 'coherence-tls',
      S3_ACCESS_KEY_ID: store.accessKeyId,
      S3_SECRET_ACCESS_KEY: store.secretAccessKey,
      ACTOR_PUBLIC_KEY: keys.publicKey,
    };
    const trusting = { ...settings, NODE_EXTRA_CA_CERTS: authority.cert };
    await expect(run(trusting, 'tools/migrate.ts')).resolves.toMatchObject({ code: 0 });
    await expect(run(trusting, 'tools/streams.ts')).resolves.toMatchObject({ code: 0 });

    const [metricsPort, port, internalPort] = [await findFreePort(), await findFreePort(), await findFreePort()].map(
      String,
    );
    const service = await startServiceProcess({
      repoDir,
      name: 'media',
      env: {
        ...trusting,
        METRICS_PORT: metricsPort ?? '',
        PORT: port ?? '',
        INTERNAL_PORT: internalPort ?? '',
        MEDIA_SCRATCH_DIR: join(dir, 'scratch'),
      },
      logFile: join(dir, 'media.log'),
    });
    await waitFor(async () => (await service.readReadiness()) === undefined, { what: 'the media service' });
    const backups = { ...trusting, BACKUP_URL: 's3://coherence-tls/backups' };
    await expect(run(backups, 'cli/main.ts', 'backup', 'create')).resolves.toMatchObject({ code: 0 });
    await expect(run(backups, 'cli/main.ts', 'backup', 'verify')).resolves.toMatchObject({ code: 0 });
    const doctor = await run(trusting, 'cli/main.ts', 'doctor');
    for (const name of ['NATS', 'PostgreSQL', 'object store', 'service media'])
      expect(doctor.output).toMatch(new RegExp(`^ok +${name} `, 'm'));
    await service.stop();

    // Certificates of an authority that is not configured are not trusted.
    const doubting = await run(
      { ...settings, DATABASE_URL: `${postgres.url}?sslmode=verify-full` },
      'cli/main.ts',
      'doctor',
    );
    for (const name of ['NATS', 'PostgreSQL', 'object store']) {
      expect(doubting.output).toMatch(
        new RegExp(`^WRONG +${name} .* at localhost:\\d+.*: its certificate is not trusted \\([A-Z_]+\\)`, 'm'),
      );
    }
    await expect(connectBus({ url: natsUrl, name: 'doubting', logger, connectTimeoutMs: 1 })).rejects.toThrow(
      /certificate|UNABLE_TO/,
    );
  });
});
