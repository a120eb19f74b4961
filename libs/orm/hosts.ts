/**
 * The servers of DATABASE_URL, which can list several as in libpq
 * (`postgresql://role:password@one:5432,two:5432/coherence?target_session_attrs=read-write`): a new connection is
 * opened to the server of the last success, or to the next in the list when that server is unreachable or read-only.
 */
import pg from 'pg';
import {
  type ReadPassword,
  readPasswordSource,
  createTlsOptions,
  listTlsWays,
  readTlsSettings,
  type TlsSettings,
} from './connection-settings.ts';

export interface Hosts {
  /** URL of each server, without the parameters of `tls` and `readPassword`. */
  readonly urls: readonly string[];
  /** Whether read-only servers, such as standbys, are skipped. */
  readonly readWrite: boolean;
  readonly tls: TlsSettings;
  /** Source of the password when the URL does not contain it. */
  readonly readPassword: ReadPassword | undefined;
}

const defaultPort = 5432;
const attributes = ['any', 'read-write', 'primary'];
/**
 * Time for one of several servers to respond, so that a hanging server delays a connection no longer. Longer than
 * network delays, shorter than callers wait for a connection: a busy server may take seconds to check a password, and
 * the next one in the list would be a read-only standby.
 */
const timeoutOfHostMs = 8_000;
const readOnlyTransaction = '25006';
/** Raised by the pool itself; says nothing about a server. */
const poolExhausted = /^timeout exceeded when trying to connect/;

/** @throws Error when the URL is malformed (its text is not repeated) */
export function listHosts(url: string, variable = 'DATABASE_URL'): Hosts {
  // super-linear: the setting comes from the operator
  const [, head = '', hosts = '', tail = ''] = /^(\w+:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/s.exec(url) ?? [];
  const parsed = hosts
    .split(',')
    .map((host) => (URL.canParse(head + host + tail) ? new URL(head + host + tail) : undefined));
  const requested = parsed[0]?.searchParams.get('target_session_attrs') ?? 'any';
  if (!attributes.includes(requested))
    throw new Error(`target_session_attrs of ${variable} must be one of ${attributes.join(', ')}`);
  let tls: TlsSettings | undefined;
  let readPassword: ReadPassword | undefined;
  const urls = parsed.map((one) => {
    if (one === undefined) throw new Error(`${variable} is not a valid PostgreSQL URL`);
    one.searchParams.delete('target_session_attrs');
    // Identical for each server.
    tls = readTlsSettings(one.searchParams, variable);
    readPassword = readPasswordSource(one.searchParams);
    return one.href;
  });
  if (tls === undefined) throw new Error(`${variable} is not a valid PostgreSQL URL`);
  return { urls, readWrite: requested !== 'any', tls, readPassword };
}

/** `host:port` of each server, for messages. @throws as `listHosts` */
export function addressesOf(url: string): string[] {
  return listHosts(url).urls.map((one) => {
    const { hostname, port } = new URL(one);
    return `${hostname}:${port || defaultPort}`;
  });
}

/** Removes `options` from the URLs, where it would override those of a pool, such as the search path. */
export function splitStartOptions(hosts: Hosts): { readonly hosts: Hosts; readonly startOptions: string } {
  let startOptions = '';
  const plain = hosts.urls.map((one) => {
    const parsed = new URL(one);
    startOptions = parsed.searchParams.get('options') ?? '';
    parsed.searchParams.delete('options');
    return parsed.href;
  });
  return { hosts: { ...hosts, urls: plain }, startOptions };
}

type Check = (client: pg.ClientBase) => Promise<void>;

/** A connection method: a server, with or without TLS. */
interface Way {
  readonly url: string;
  readonly tls: boolean;
}

const listWays = ({ urls, tls }: Hosts): readonly Way[] =>
  urls.flatMap((url) => listTlsWays(tls).map((way) => ({ url, tls: way })));

/** Client options for one connection method. @throws Error when a TLS file cannot be read */
function describeClient({ url, tls }: Way, hosts: Hosts): pg.ClientConfig {
  const { hostname } = new URL(url);
  const ssl = tls ? createTlsOptions(hosts.tls, decodeURIComponent(hostname).replace(/^\[(.+)\]$/, '$1')) : false;
  return { connectionString: url, ssl, ...(tls && hosts.tls.direct ? { sslnegotiation: 'direct' } : {}) };
}

/** Reads the password when the server requests it. */
function givePassword(client: pg.Client, { readPassword }: Hosts): void {
  if (readPassword !== undefined) (client as unknown as { password: ReadPassword }).password = readPassword;
}

/**
 * Creates a pool over these servers. A new connection that fails the check is discarded. @throws Error when a TLS file
 * cannot be read
 */
export function createHostPool(config: pg.PoolConfig, hosts: Hosts, check?: Check): pg.Pool {
  const ways = listWays(hosts);
  const [first] = ways as readonly [Way, ...Way[]];
  let current = 0;
  class Client extends pg.Client {
    constructor(options: pg.ClientConfig) {
      const timeout = ways.length === 1 ? {} : { connectionTimeoutMillis: timeoutOfHostMs };
      super({ ...options, ...describeClient(ways[current] ?? first, hosts), ...timeout });
      givePassword(this, hosts);
    }
  }
  const onConnect: Check = async (client) => {
    if (hosts.readWrite) await refuseReadOnly(client);
    await check?.(client);
  };
  const checked = hosts.readWrite || check !== undefined ? { onConnect } : {};
  // Also fails early when a file is missing.
  const pool = new pg.Pool({
    ...config,
    ...describeClient(first, hosts),
    Client,
    ...checked,
  } as unknown as pg.PoolConfig);
  if (ways.length === 1) return pool;
  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
  const connectToAny = async (): Promise<pg.PoolClient> => {
    for (let attempt = 1; ; attempt++) {
      const tried = current;
      try {
        return await connect();
      } catch (error) {
        if (attempt >= ways.length || poolExhausted.test((error as Error).message)) throw error;
        // All waiting callers see the failure; the first one switches to the next method for all.
        if (current === tried) current = (current + 1) % ways.length;
      }
    }
  };
  return Object.assign(pool, { connect: connectToAny });
}

/** Opens one connection with the first method that works. */
export async function connectToHosts(config: pg.ClientConfig, hosts: Hosts): Promise<pg.Client> {
  let failure: unknown;
  for (const way of listWays(hosts)) {
    const client = new pg.Client({ ...config, ...describeClient(way, hosts) });
    givePassword(client, hosts);
    client.on('error', () => {}); // the running statement reports the error
    try {
      await client.connect();
      if (hosts.readWrite) await refuseReadOnly(client);
      return client;
    } catch (error) {
      failure = error;
      await client.end().catch(() => {});
    }
  }
  throw failure;
}

/** @throws Error with the code of a rejected write */
async function refuseReadOnly(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
  if (rows[0]?.transaction_read_only === 'off') return;
  throw Object.assign(new Error('the server takes no writes'), { code: readOnlyTransaction });
}
