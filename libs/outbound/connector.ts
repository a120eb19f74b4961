/**
 * Opens connections for outgoing calls. The address is judged when it is connected to, so a name that changes its address between
 * a check and its use (DNS rebinding) gains nothing.
 */
import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { effectivePort, isAllowedHost, isPublicAddress, type AllowedHost } from './address.ts';
import { OutboundError } from './error.ts';
import { createNameResolver, type Resolve } from './names.ts';

function forbidden(hostname: string): OutboundError {
  return new OutboundError(
    'forbidden_address',
    `the address of ${hostname} is not public, or is reached without TLS, and no setting allows the host and port`,
  );
}

/** A `lookup` for sockets that yields public addresses only. */
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
 * Connector for undici. Names that the configuration allows are the system's; those that somebody else chose are asked of name servers, so that one
 * whose server is silent takes no place from the others (V7). `resolve` takes the place of both in tests.
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
      // With an error the system's lookup passes no list.
      if (error !== null) return done(error, [], 0);
      const [first] = found;
      if (first === undefined) done(new Error(`${hostname} has no address`), [], 0);
      else if (query.all === true) done(null, found);
      else done(null, first.address, first.family);
    });
  const open = buildConnector({ ...base, lookup: unguardedLookup });
  const openGuarded = buildConnector({ ...base, lookup: guardLookup(options.resolve ?? createNameResolver(options.nameServers)) });

  return (target, callback) => {
    const { hostname } = target;
    if (isAllowedHost(options.allowed, hostname, effectivePort(target.protocol, target.port))) return open(target, callback);
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
