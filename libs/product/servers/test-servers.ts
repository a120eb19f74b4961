/**
 * PostgreSQL, NATS and the object store for tests. They are configured for speed, and their data is removed afterwards.
 */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { provideGoTool } from './go-tool.ts';
import { natsServerTool } from './go-tools.ts';
import { startNats } from './nats.ts';
import { readObjectStoreKind, startObjectStore } from './object-store.ts';
import { startPostgres } from './postgres.ts';
import { adminNatsUrl, listNatsUsers } from './service-accounts.ts';
import type { Progress } from './tool-cache.ts';

/** The variables that contain the addresses of the test servers. */
export interface TestServerAddresses {
  TEST_DATABASE_URL: string;
  /** NATS URL of the administrator. */
  TEST_NATS_URL: string;
  /** Secret from which the services' accounts are derived; empty when they connect as the administrator. */
  TEST_SERVICE_SECRET: string;
  TEST_S3_ENDPOINT: string;
  TEST_S3_ACCESS_KEY_ID: string;
  TEST_S3_SECRET_ACCESS_KEY: string;
}

export interface TestServers {
  addresses: TestServerAddresses;
  /** Stops the started servers and removes their data. */
  stop(): Promise<void>;
}

/** Starts the servers that are not in `given`; `TEST_OBJECT_STORE` selects the kind of object store. */
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
  const objectStore =
    given['TEST_S3_ENDPOINT'] === undefined
      ? await startObjectStore({
          kind: readObjectStoreKind(given['TEST_OBJECT_STORE']),
          dataDir: dir('object-store'),
          logFile: logFile('object-store'),
          durable: false,
          progress: options.progress,
        })
      : undefined;
  return {
    addresses: {
      TEST_DATABASE_URL: postgres?.url ?? given['TEST_DATABASE_URL'] ?? '',
      TEST_NATS_URL:
        nats === undefined ? (given['TEST_NATS_URL'] ?? '') : secret === '' ? nats.url : adminNatsUrl(nats.url, secret),
      TEST_SERVICE_SECRET: secret,
      TEST_S3_ENDPOINT: objectStore?.endpoint ?? given['TEST_S3_ENDPOINT'] ?? '',
      TEST_S3_ACCESS_KEY_ID: objectStore?.accessKeyId ?? given['TEST_S3_ACCESS_KEY_ID'] ?? '',
      TEST_S3_SECRET_ACCESS_KEY: objectStore?.secretAccessKey ?? given['TEST_S3_SECRET_ACCESS_KEY'] ?? '',
    },
    stop: async () => {
      await Promise.all([postgres?.stop(), nats?.stop(), objectStore?.stop()]);
      for (const dir of [postgres?.dataDir, options.dataDir])
        if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
    },
  };
}
