/**
 * The servers of DATABASE_URL, which may name several (`postgresql://role:password@one:5432,two:5432/coherence?target_session_attrs=read-write`), as
 * libpq has it: a new connection is made to the server where the last one succeeded, and to the next of the list when that cannot be reached or
 * takes no writes.
 */
import pg from 'pg';

export interface Hosts {
  /** Each server's address by itself. */
  readonly urls: readonly string[];
  /** Whether a connection to a server that takes no writes, such as a standby, is of no use. */
  readonly readWrite: boolean;
}

const defaultPort = 5432;
const attributes = ['any', 'read-write', 'primary'];
/**
 * Time for one of several servers to answer: one that hangs costs no more than this. It is long for a network and short of what a caller waits for a
 * connection: a machine that has much to do takes seconds to check a password, and the next of the list is then of no use, since it takes no writes.
 */
const timeoutOfHostMs = 8_000;
const readOnlyTransaction = '25006';
/** Of the pool itself, which says nothing about a server. */
const poolExhausted = /^timeout exceeded when trying to connect/;

/** @throws Error when the URL is malformed (its text is not repeated) */
export function listHosts(url: string, variable = 'DATABASE_URL'): Hosts {
  // super-linear: a setting of the operator
  const [, head = '', hosts = '', tail = ''] = /^(\w+:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/s.exec(url) ?? [];
  const parsed = hosts.split(',').map((host) => (URL.canParse(head + host + tail) ? new URL(head + host + tail) : undefined));
  const wanted = parsed[0]?.searchParams.get('target_session_attrs') ?? 'any';
  if (!attributes.includes(wanted)) throw new Error(`target_session_attrs of ${variable} must be one of ${attributes.join(', ')}`);
  const urls = parsed.map((one) => {
    if (one === undefined) throw new Error(`${variable} is not a valid PostgreSQL URL`);
    one.searchParams.delete('target_session_attrs');
    return one.href;
  });
  return { urls, readWrite: wanted !== 'any' };
}

/** `host:port` of each server, for messages. @throws as `listHosts` */
export function addressesOf(url: string): string[] {
  return listHosts(url).urls.map((one) => {
    const { hostname, port } = new URL(one);
    return `${hostname}:${port || defaultPort}`;
  });
}

/** Takes `options` out of the addresses, where it would hide those of a pool, such as the search path. */
export function splitStartOptions({ urls, readWrite }: Hosts): { readonly hosts: Hosts; readonly startOptions: string } {
  let startOptions = '';
  const plain = urls.map((one) => {
    const parsed = new URL(one);
    startOptions = parsed.searchParams.get('options') ?? '';
    parsed.searchParams.delete('options');
    return parsed.href;
  });
  return { hosts: { urls: plain, readWrite }, startOptions };
}

type Check = (client: pg.ClientBase) => Promise<void>;

/** A pool over these servers. A new connection for which a check fails is of no use. */
export function createHostPool(config: pg.PoolConfig, { urls, readWrite }: Hosts, check?: Check): pg.Pool {
  let current = 0;
  class Client extends pg.Client {
    constructor(options: pg.ClientConfig) {
      super({ ...options, connectionString: urls[current], connectionTimeoutMillis: timeoutOfHostMs });
    }
  }
  const several = urls.length === 1 ? {} : { Client };
  const onConnect: Check = async (client) => {
    if (readWrite) await refuseReadOnly(client);
    await check?.(client);
  };
  const checked = readWrite || check !== undefined ? { onConnect } : {};
  const pool = new pg.Pool({ ...config, connectionString: urls[0], ...several, ...checked } as pg.PoolConfig);
  if (urls.length === 1) return pool;
  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>;
  const connectToAny = async (): Promise<pg.PoolClient> => {
    for (let attempt = 1; ; attempt++) {
      const tried = current;
      try {
        return await connect();
      } catch (error) {
        if (attempt >= urls.length || poolExhausted.test((error as Error).message)) throw error;
        // All who wait hear of the failure; the first of them takes the next server for everybody.
        if (current === tried) current = (current + 1) % urls.length;
      }
    }
  };
  return Object.assign(pool, { connect: connectToAny });
}

/** @throws Error with the code of a write that was refused */
async function refuseReadOnly(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
  if (rows[0]?.transaction_read_only === 'off') return;
  throw Object.assign(new Error('the server takes no writes'), { code: readOnlyTransaction });
}
