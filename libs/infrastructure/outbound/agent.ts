/** Opens and reuses the connections of outgoing calls. */
import { lookup as systemLookup, type LookupAddress, promises } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { Agent, buildConnector } from 'undici';
import { type AllowedHost, effectivePort, isAllowedHost, isPublicAddress, OutboundError } from './address.ts';

export interface AgentOptions {
  /** Whether TLS is required for hosts that the configuration does not list; default false. */
  requireTls?: boolean;
  /** Timeout for opening a connection; default 10 000. */
  connectTimeoutMs?: number;
  /** Timeout until the response headers are received; default 30 000. */
  headersTimeoutMs?: number;
  /** Maximum time without data while a body is received; default 30 000. */
  bodyIdleTimeoutMs?: number;
  /** Replaces all resolvers in tests. */
  resolve?: Resolve;
  /** `address[:port]` of name servers used instead of the system's, in tests. */
  nameServers?: readonly string[];
}

export function createAgent(allowed: readonly AllowedHost[], options: AgentOptions): Agent {
  return new Agent({
    connect: createConnector({
      allowed,
      requireTls: options.requireTls ?? false,
      connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
      ...(options.resolve === undefined ? {} : { resolve: options.resolve }),
      ...(options.nameServers === undefined ? {} : { nameServers: options.nameServers }),
    }),
    headersTimeout: options.headersTimeoutMs ?? 30_000,
    bodyTimeout: options.bodyIdleTimeoutMs ?? 30_000,
    allowH2: false,
    pipelining: 1,
  });
}

function forbidden(hostname: string): OutboundError {
  return new OutboundError(
    'forbidden_address',
    `the address of ${hostname} is not public, or is reached without TLS, and no setting allows the host and port`,
  );
}

/** Returns a `lookup` for sockets that only returns public addresses. */
function guardLookup(resolve: Resolve): LookupFunction {
  return (hostname, options, done) => {
    const family = options.family === 4 || options.family === 6 ? { family: options.family } : {};
    resolve(hostname, { all: true, ...family }, (error, found) => {
      if (error !== null) return done(error, [], 0);
      const addresses = found.filter((item) => isPublicAddress(item.address));
      const [first] = addresses;
      if (first === undefined) return done(forbidden(hostname), [], 0);
      if (options.all === true) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
}

/**
 * Creates a connector for undici. Host names from the configuration use the system resolver. Other names are sent to
 * name servers directly, so that an unresponsive server does not block other look-ups (V7). `resolve` replaces both in
 * tests.
 */
export function createConnector(options: {
  allowed: readonly AllowedHost[];
  requireTls: boolean;
  connectTimeoutMs: number;
  resolve?: Resolve;
  nameServers?: readonly string[];
}): buildConnector.connector {
  const resolve: Resolve = options.resolve ?? ((hostname, query, done) => systemLookup(hostname, query, done));
  const base = { timeout: options.connectTimeoutMs, allowH2: false, autoSelectFamily: true };
  const unguardedLookup: LookupFunction = (hostname, query, done) =>
    resolve(hostname, { all: true }, (error, found) => {
      // The system's lookup does not pass a list after an error.
      if (error !== null) return done(error, [], 0);
      const [first] = found;
      if (first === undefined) done(new Error(`${hostname} has no address`), [], 0);
      else if (query.all === true) done(null, found);
      else done(null, first.address, first.family);
    });
  const open = buildConnector({ ...base, lookup: unguardedLookup });
  const openGuarded = buildConnector({
    ...base,
    lookup: guardLookup(options.resolve ?? createNameResolver(options.nameServers)),
  });

  return (target, callback) => {
    const { hostname } = target;
    if (isAllowedHost(options.allowed, hostname, effectivePort(target.protocol, target.port)))
      return open(target, callback);
    if (options.requireTls && target.protocol !== 'https:') return callback(forbidden(hostname), null);
    if (isIP(hostname) !== 0 && !isPublicAddress(hostname)) return callback(forbidden(hostname), null);
    openGuarded(target, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      if (isPublicAddress(socket.remoteAddress ?? '')) return callback(null, socket);
      socket.destroy();
      callback(forbidden(hostname), null);
    });
  };
}

export type Resolve = (
  hostname: string,
  options: { all: true; family?: number },
  done: (error: Error | null, addresses: LookupAddress[]) => void,
) => void;

/** Both tries together are shorter than the connect timeout. */
const options = { timeout: 1_000, tries: 2 };
const local: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** @param servers name servers that replace the system's, for tests */
export function createNameResolver(servers?: readonly string[]): Resolve {
  const resolver = new promises.Resolver(options);
  if (servers !== undefined) resolver.setServers(servers);
  const request = async (hostname: string, family: 4 | 6): Promise<LookupAddress[]> =>
    (await (family === 4 ? resolver.resolve4(hostname) : resolver.resolve6(hostname))).map((address) => ({
      address,
      family,
    }));
  /** Queries IPv4 and IPv6; a result for one family is enough. */
  const find = callbackify(async (hostname: string, families: readonly (4 | 6)[]): Promise<LookupAddress[]> => {
    const answers = await Promise.allSettled(families.map((family) => request(hostname, family)));
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const failure = answers.find((answer) => answer.status === 'rejected');
    if (addresses.length === 0 && failure !== undefined) throw failure.reason;
    return addresses;
  });
  return (hostname, { family: requested }, done) => {
    // `localhost` names are resolved here and never sent to name servers (RFC 6761).
    if (/(?:^|\.)localhost\.?$/i.test(hostname)) return done(null, [...local]);
    const families = ([4, 6] as const).filter((family) => requested === undefined || requested === family);
    find(hostname, families, (error, addresses) => done(error, error === null ? addresses : []));
  };
}
