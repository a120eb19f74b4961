/** PostgreSQL, NATS and MinIO for tests: fast, and gone afterwards. */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { minioTool, natsServerTool, provideGoTool } from './go-tool.ts';
import { startMinio } from './minio.ts';
import { startNats } from './nats.ts';
import { startPostgres } from './postgres.ts';
import { adminNatsUrl, listNatsUsers } from './service-accounts.ts';
import type { Progress } from './tool-cache.ts';

/** The variables by which tests find their servers. */
export interface TestServerAddresses {
  TEST_DATABASE_URL: string;
  /** Of the administrator. */
  TEST_NATS_URL: string;
  /** From which the accounts of the services are derived; empty when they connect as the administrator. */
  TEST_SERVICE_SECRET: string;
  TEST_S3_ENDPOINT: string;
  TEST_S3_ACCESS_KEY_ID: string;
  TEST_S3_SECRET_ACCESS_KEY: string;
}

export interface TestServers {
  addresses: TestServerAddresses;
  /** Stops what was started and removes its data. */
  stop(): Promise<void>;
}

/** Starts what `given` does not name. */
export async function startTestServers(options: {
  repoDir: string;
  dataDir: string;
  given?: Readonly<Record<string, string | undefined>>;
  progress: Progress;
}): Promise<TestServers> {
  const given = options.given ?? {};
  const ownServers = given['TEST_DATABASE_URL'] === undefined && given['TEST_NATS_URL'] === undefined;
  const secret = ownServers ? randomBytes(24).toString('base64url') : (given['TEST_SERVICE_SECRET'] ?? '');
  const dir = (name: string): string => join(options.dataDir, name);
  const logFile = (name: string): string => join(options.dataDir, 'logs', `${name}.log`);
  const postgres =
    given['TEST_DATABASE_URL'] === undefined
      ? await startPostgres({
          dataDir: dir('postgres'),
          logFile: logFile('postgres'),
          modulesDir: join(options.repoDir, 'node_modules'),
          database: 'coherence',
          durable: false,
        })
      : undefined;
  const nats =
    given['TEST_NATS_URL'] === undefined
      ? await startNats({
          program: await provideGoTool(natsServerTool, options.progress),
          dataDir: dir('nats'),
          logFile: logFile('nats'),
          durable: false,
          ...(secret === '' ? {} : { users: listNatsUsers(secret, { anyPrefix: true }) }),
        })
      : undefined;
  const minio =
    given['TEST_S3_ENDPOINT'] === undefined
      ? await startMinio({
          program: await provideGoTool(minioTool, options.progress),
          dataDir: dir('minio'),
          logFile: logFile('minio'),
          bucket: 'coherence',
        })
      : undefined;
  return {
    addresses: {
      TEST_DATABASE_URL: postgres?.url ?? given['TEST_DATABASE_URL'] ?? '',
      TEST_NATS_URL: nats === undefined ? (given['TEST_NATS_URL'] ?? '') : secret === '' ? nats.url : adminNatsUrl(nats.url, secret),
      TEST_SERVICE_SECRET: secret,
      TEST_S3_ENDPOINT: minio?.endpoint ?? given['TEST_S3_ENDPOINT'] ?? '',
      TEST_S3_ACCESS_KEY_ID: minio?.accessKeyId ?? given['TEST_S3_ACCESS_KEY_ID'] ?? '',
      TEST_S3_SECRET_ACCESS_KEY: minio?.secretAccessKey ?? given['TEST_S3_SECRET_ACCESS_KEY'] ?? '',
    },
    stop: async () => {
      await Promise.all([postgres?.stop(), nats?.stop(), minio?.stop()]);
      for (const dir of [postgres?.dataDir, options.dataDir]) if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
    },
  };
}
