/** Whether PostgreSQL, NATS and the object store of some settings can be used: of `doctor`, and of `npm start` for those that the caller brings. */
import { loadConfig, s3Settings } from '#libs/config';
import { Type } from '#libs/contract';
import { createLogger } from '#libs/logger';
import { connectBus, requiredPayloadBytes } from '#libs/nats';
import { CliError } from '../failure.ts';
import { addressOf, describeServerProblem } from './server-problem.ts';

type Settings = Readonly<Record<string, string | undefined>>;

const logger = () => createLogger({ service: 'cli', level: 'silent' });
const oldestPostgres = 160_000;
const connectTimeoutMs = 3_000;

/** @returns what answers. @throws CliError that says what was tried, why it failed and what to do */
export async function checkDatabase(url: string): Promise<string> {
  const { username, pathname } = new URL(url);
  const [user, database] = [decodeURIComponent(username), decodeURIComponent(pathname.slice(1))];
  const attempt = {
    server: 'PostgreSQL',
    address: addressOf(url, 5432),
    detail: `database ${database === '' ? 'unnamed' : database}, user ${user === '' ? 'unnamed' : user}`,
    setting: 'DATABASE_URL',
  };
  const { createDatabase } = await import('#libs/orm'); // slow to load, and only needed here
  const db = await createDatabase({ url, schema: 'public', poolSize: 1, logger: logger(), applicationName: 'doctor', connectTimeoutMs });
  try {
    const [row] = await db.query<{ number: number; version: string; may_create: boolean }>({
      name: 'doctor',
      text: `select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
           has_database_privilege(current_database(), 'create') as may_create`,
    });
    if (row === undefined || row.number < oldestPostgres) throw new CliError(`it is PostgreSQL ${row?.version}; 16 to 18 are supported.`);
    if (!row.may_create) throw new CliError(`the user may not make schemas: grant create on database ${database} to ${user}.`);
    return `PostgreSQL ${row.version} at ${attempt.address}, ${attempt.detail}`;
  } catch (error) {
    throw describeServerProblem(attempt, error);
  } finally {
    await db.close();
  }
}

/** @throws as `checkDatabase` */
export async function checkBroker(url: string): Promise<string> {
  const addresses = url
    .split(',')
    .map((part) => addressOf(part.trim(), 4222))
    .join(', ');
  const user = decodeURIComponent(new URL(url.split(',')[0] ?? url).username);
  const attempt = { server: 'NATS', address: addresses, detail: user === '' ? '' : `user ${user}`, setting: 'NATS_URL' };
  try {
    const bus = await connectBus({ url, name: 'cli', logger: logger(), connectTimeoutMs });
    try {
      await bus.ping();
      if (bus.maxPayload < requiredPayloadBytes) {
        throw new CliError(`it takes messages of ${bus.maxPayload} bytes. Set max_payload: ${requiredPayloadBytes} in its configuration.`);
      }
    } finally {
      await bus.close();
    }
    return `answers at ${addresses}`;
  } catch (error) {
    throw describeServerProblem(attempt, error);
  }
}

/** @throws as `checkDatabase`; ConfigError when settings of the store are missing */
export async function checkStore(settings: Settings): Promise<string> {
  const names = Object.keys(s3Settings);
  const config = loadConfig(Type.Object(s3Settings), Object.fromEntries(names.map((name) => [name, settings[name]])));
  const { protocol } = new URL(config.S3_ENDPOINT);
  const address = addressOf(config.S3_ENDPOINT, protocol === 'https:' ? 443 : 80);
  const attempt = {
    server: 'the object store',
    address,
    detail: `bucket ${config.S3_BUCKET}, access key ${config.S3_ACCESS_KEY_ID}`,
    setting: 'S3_ENDPOINT, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY',
  };
  const { createObjectStore, storeConfigOf } = await import('#libs/object-store'); // slow to load, and only needed here
  const store = createObjectStore(storeConfigOf(config));
  try {
    await store.ping();
    return `answers at ${address}, bucket ${config.S3_BUCKET}`;
  } catch (error) {
    const isMissing = error instanceof Error && String(error.cause).endsWith('(404)');
    if (isMissing) return `answers at ${address}; bucket ${config.S3_BUCKET} is made by the media service`;
    throw describeServerProblem(attempt, error);
  } finally {
    store.close();
  }
}
