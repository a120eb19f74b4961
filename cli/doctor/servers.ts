/** Checks of PostgreSQL, NATS and the object store, for `doctor` and for external servers of `npm start`. */
import { loadConfig, s3Settings } from '#libs/infrastructure/config';
import { Type } from '#libs/infrastructure/contract';
import { createLogger } from '#libs/infrastructure/logger';
import { connectBus, describeServers, requiredPayloadBytes } from '#libs/infrastructure/nats';
import { CliError } from '../failure.ts';
import { addressOf, describeServerProblem, type Target } from './server-problem.ts';

type Settings = Readonly<Record<string, string | undefined>>;

const logger = () => createLogger({ service: 'cli', level: 'silent' });
const oldestPostgres = 160_000;
const connectTimeoutMs = 10_000;

/** Returns the target of a database URL, for error messages. @throws Error when the URL is malformed */
export async function databaseTarget(url: string, setting = 'DATABASE_URL'): Promise<Target> {
  const { addressesOf, listHosts } = await import('#libs/infrastructure/orm'); // slow to load, and only needed here
  const { username, pathname } = new URL(listHosts(url, setting).urls[0] ?? url);
  const [user, database] = [decodeURIComponent(username), decodeURIComponent(pathname.slice(1))];
  const detail = `database ${database === '' ? 'unnamed' : database}, user ${user === '' ? 'unnamed' : user}`;
  return { server: 'PostgreSQL', address: addressesOf(url).join(', '), detail, setting };
}

/** Returns the target of a NATS URL, for error messages. */
export function brokerTarget(url: string, setting = 'NATS_URL'): Target {
  const [first = ''] = url.split(',');
  const user = URL.canParse(first) ? decodeURIComponent(new URL(first).username) : '';
  return { server: 'NATS', address: describeServers(url), detail: user === '' ? '' : `user ${user}`, setting };
}

/** @returns a description of the server. @throws CliError with the attempt, the cause and the fix */
export async function checkDatabase(url: string): Promise<string> {
  const attempt = await databaseTarget(url);
  const { createDatabase } = await import('#libs/infrastructure/orm'); // slow to load, and only needed here
  const db = await createDatabase({
    url,
    schema: 'public',
    poolSize: 1,
    logger: logger(),
    applicationName: 'doctor',
    connectTimeoutMs,
  });
  try {
    const [row] = await db.query<{ number: number; version: string; may_create: boolean }>({
      name: 'doctor',
      text: `select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
           has_database_privilege(current_database(), 'create') as may_create`,
    });
    if (row === undefined || row.number < oldestPostgres)
      throw new CliError(`PostgreSQL ${row?.version} is not supported; use 16 to 18.`);
    if (!row.may_create) throw new CliError(`the user cannot create schemas. Grant it CREATE on the database.`);
    return `PostgreSQL ${row.version} at ${attempt.address}, ${attempt.detail}`;
  } catch (error) {
    throw describeServerProblem(attempt, error);
  } finally {
    await db.close();
  }
}

/** Connects to NATS. @throws as `checkDatabase` */
export async function checkBroker(url: string): Promise<string> {
  const attempt = brokerTarget(url);
  try {
    const bus = await connectBus({ url, name: 'cli', logger: logger(), connectTimeoutMs });
    try {
      await bus.ping();
      if (bus.maxPayload < requiredPayloadBytes) {
        throw new CliError(
          `max_payload is ${bus.maxPayload} bytes. Set max_payload: ${requiredPayloadBytes} in its configuration.`,
        );
      }
    } finally {
      await bus.close();
    }
    return `answers at ${attempt.address}`;
  } catch (error) {
    throw describeServerProblem(attempt, error);
  }
}

/** Connects to the object store. @throws as `checkDatabase`; ConfigError when settings of the store are missing */
export async function checkStore(settings: Settings): Promise<string> {
  const names = Object.keys(s3Settings);
  const config = loadConfig(Type.Object(s3Settings), Object.fromEntries(names.map((name) => [name, settings[name]])));
  const { protocol } = new URL(config.S3_ENDPOINT);
  const address = addressOf(config.S3_ENDPOINT, protocol === 'https:' ? 443 : 80);
  const attempt = {
    server: 'the object store',
    address,
    detail: `bucket ${config.S3_BUCKET}, ${config.S3_ACCESS_KEY_ID === undefined ? 'credentials of the environment' : `access key ${config.S3_ACCESS_KEY_ID}`}`,
    setting: 'S3_ENDPOINT, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY',
  };
  const { createObjectStore, storeConfigOf } = await import('#libs/infrastructure/object-store'); // slow to load, and only needed here
  const store = createObjectStore(storeConfigOf(config));
  try {
    await store.ping();
    return `answers at ${address}, bucket ${config.S3_BUCKET}`;
  } catch (error) {
    const isMissing = error instanceof Error && /\(404\) for bucket/.test(String(error.cause));
    if (isMissing) return `answers at ${address}; bucket ${config.S3_BUCKET} will be created by the media service`;
    throw describeServerProblem(attempt, error);
  } finally {
    store.close();
  }
}
