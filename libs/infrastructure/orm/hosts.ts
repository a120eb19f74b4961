/**
 * The servers of DATABASE_URL, which can list several as in libpq
 * (`postgresql://role:password@one:5432,two:5432/coherence?target_session_attrs=read-write`). A new connection is
 * opened to the last server that succeeded. If that server is unreachable or read-only, the next server in the list is
 * tried.
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
  /** URL of each server, without the parameters that `tls` and `readPassword` contain. */
  readonly urls: readonly string[];
  /** Whether read-only servers, such as standbys, are skipped. */
  readonly readWrite: boolean;
  readonly tls: TlsSettings;
  /** Reads the password; undefined when the URL contains it. */
  readonly readPassword: ReadPassword | undefined;
}

const defaultPort = 5432;
const attributes = ['any', 'read-write', 'primary'];
/**
 * Time in which one of several servers must respond; limits the delay that a hanging server causes. The value is longer
 * than network delays, because a busy server may take seconds to check a password and the next server could be a
 * read-only standby. It is shorter than the time that callers wait for a connection.
 */
const timeoutOfHostMs = 8_000;
const readOnlyTransaction = '25006';
/** Error of the pool itself, unrelated to a server. */
const poolExhausted = /^timeout exceeded when trying to connect/;

/**
 * Returns the servers in the URL.
 * @throws Error when the URL is malformed; the message does not contain the URL
 */
export function listHosts(url: string, variable = 'DATABASE_URL'): Hosts {
  // super-linear: only the operator sets the URL
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
    // The TLS settings are identical for each server.
    tls = readTlsSettings(one.searchParams, variable);
    readPassword = readPasswordSource(one.searchParams);
    return one.href;
  });
  if (tls === undefined) throw new Error(`${variable} is not a valid PostgreSQL URL`);
  return { urls, readWrite: requested !== 'any', tls, readPassword };
}

/** Returns `host:port` of each server, for messages. @throws as `listHosts` */
export function addressesOf(url: string): string[] {
  return listHosts(url).urls.map((one) => {
    const { hostname, port } = new URL(one);
    return `${hostname}:${port || defaultPort}`;
  });
}

/**
 * Removes `options` from the URLs and returns their value separately; in a URL, they would override the pool's options,
 * such as the search path.
 */
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

/** Returns the client options for one connection method. @throws Error when a TLS file cannot be read */
function describeClient({ url, tls }: Way, hosts: Hosts): pg.ClientConfig {
  const { hostname } = new URL(url);
  const ssl = tls ? createTlsOptions(hosts.tls, decodeURIComponent(hostname).replace(/^\[(.+)\]$/, '$1')) : false;
  return { connectionString: url, ssl, ...(tls && hosts.tls.direct ? { sslnegotiation: 'direct' } : {}) };
}

/** Sets a password callback that the client calls when the server requests a password. */
function givePassword(client: pg.Client, { readPassword }: Hosts): void {
  if (readPassword !== undefined) (client as unknown as { password: ReadPassword }).password = readPassword;
}

/**
 * Creates a pool over the servers of `hosts`. A new connection that fails `check` is discarded. @throws Error when a
 * TLS file cannot be read
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
  // Building the options here also fails early when a file is missing.
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
        // All waiting callers see the failure. The first of them switches to the next method for all callers.
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

/**
 * Throws on a read-only server.
 * @throws Error with the code of a rejected write
 */
async function refuseReadOnly(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
  if (rows[0]?.transaction_read_only === 'off') return;
  throw Object.assign(new Error('the server takes no writes'), { code: readOnlyTransaction });
}
