/**
 * Decides which addresses outgoing calls may reach: public unicast addresses, and hosts listed in the configuration
 * (OUTBOUND_ALLOWED_HOSTS, WEBHOOK_ALLOWED_HOSTS; D90, architecture#outgoing-calls).
 */
import { BlockList, isIP } from 'node:net';

/**
 * Special-purpose IPv4 blocks (IANA registry): this network, private, shared, loopback, link-local with the metadata
 * service, …
 */
const forbiddenV4: readonly [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/**
 * Ranges inside the global unicast block 2000::/3 that are not public or embed an IPv4 address (Teredo, documentation,
 * 6to4).
 */
const forbiddenV6: readonly [string, number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const blockedV4 = new BlockList();
for (const [network, prefix] of forbiddenV4) blockedV4.addSubnet(network, prefix, 'ipv4');
const blockedV6 = new BlockList();
for (const [network, prefix] of forbiddenV6) blockedV6.addSubnet(network, prefix, 'ipv6');
const globalV6 = new BlockList();
globalV6.addSubnet('2000::', 3, 'ipv6');
const mappedV4 = new BlockList();
mappedV4.addSubnet('::ffff:0:0', 96, 'ipv6');

/**
 * Returns true for a public unicast address. For an IPv4-mapped IPv6 address, its IPv4 address is checked. Returns
 * false for other text.
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !blockedV4.check(address, 'ipv4');
  if (family !== 6 || address.includes('%')) return false;
  if (mappedV4.check(address, 'ipv6')) return !blockedV4.check(address, 'ipv6');
  return globalV6.check(address, 'ipv6') && !blockedV6.check(address, 'ipv6');
}

/** A host and port that may be reached even at a private address. */
export interface AllowedHost {
  readonly hostname: string;
  readonly port: string;
}

/**
 * Parses `host`, `host:port`, or either after `http://` or `https://`; IPv6 with or without brackets. Default port:
 * 443, or 80 after `http://`. Undefined for other text.
 */
function parseAllowedHost(entry: string): AllowedHost | undefined {
  const host = isIP(entry) === 6 ? `[${entry}]` : entry;
  const url = URL.parse(/^https?:\/\//i.test(host) ? host : `https://${host}`);
  return url === null ? undefined : toAllowedHost(url);
}

function toAllowedHost({ protocol, hostname, port }: URL): AllowedHost {
  return { hostname, port: effectivePort(protocol, port) };
}

/** Returns the hosts of a setting (separated by commas or white space) and of the configured base URLs. */
export function listAllowedHosts(setting: string, baseUrls: readonly (string | undefined)[]): AllowedHost[] {
  const fromUrls = baseUrls.flatMap((text) => {
    const url = text === undefined ? null : URL.parse(text);
    return url === null ? [] : [toAllowedHost(url)];
  });
  const entries = setting.split(/[\s,]+/).filter((entry) => entry !== '');
  return [...entries.flatMap((entry) => parseAllowedHost(entry) ?? []), ...fromUrls];
}

/** Returns whether the configuration allows this host with this port. */
export function isAllowedHost(allowed: readonly AllowedHost[], hostname: string, port: string): boolean {
  const written = isIP(hostname) === 6 ? `[${hostname}]` : hostname.toLowerCase();
  return allowed.some((host) => host.hostname === written && host.port === port);
}

/**
 * Returns whether the value of OUTBOUND_ALLOWED_HOSTS or WEBHOOK_ALLOWED_HOSTS contains the host and port of this URL.
 */
export function namesHost(setting: string, { protocol, hostname, port }: URL): boolean {
  return isAllowedHost(listAllowedHosts(setting, []), hostname, effectivePort(protocol, port));
}

/** Returns the port of a URL, or the default port of its protocol. */
export function effectivePort(protocol: string, port: string): string {
  return port !== '' ? port : protocol === 'https:' ? '443' : '80';
}

/** Why an outgoing call failed. */
export type OutboundFailure =
  | 'invalid_url'
  | 'forbidden_address'
  | 'connect'
  | 'timeout'
  | 'too_large'
  | 'aborted'
  | 'broken';

/**
 * A failed outgoing call. The message contains only the origin, because paths and queries of signed URLs are secrets.
 * Causes whose text could contain the URL are dropped.
 */
export class OutboundError extends Error {
  readonly kind: OutboundFailure;
  /** Error code of the system or the HTTP client, e.g. `ECONNREFUSED`. */
  readonly code: string | undefined;

  constructor(kind: OutboundFailure, message: string, code?: string) {
    super(message);
    this.name = 'OutboundError';
    this.kind = kind;
    this.code = code;
  }
}
