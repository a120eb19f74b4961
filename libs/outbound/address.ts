/**
 * Which addresses an outgoing call may reach: public unicast ones, and whatever host the configuration names (OUTBOUND_ALLOWED_HOSTS,
 * architecture#outgoing-calls).
 */
import { BlockList, isIP } from 'node:net';

/** Special-purpose IPv4 blocks (IANA registry): this network, private, shared, loopback, link-local with the metadata service, … */
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

/** Inside the global unicast block 2000::/3, what is not public or carries an IPv4 address (Teredo, documentation, 6to4). */
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

/** True for a public unicast address; an IPv4-mapped IPv6 address counts as the IPv4 address in it, any other text is not public. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !blockedV4.check(address, 'ipv4');
  if (family !== 6 || address.includes('%')) return false;
  if (mappedV4.check(address, 'ipv6')) return !blockedV4.check(address, 'ipv6');
  return globalV6.check(address, 'ipv6') && !blockedV6.check(address, 'ipv6');
}

/** A host that may be reached although its address is private; without a port: on every port. */
export interface AllowedHost {
  readonly hostname: string;
  readonly port: string | undefined;
}

/** Reads `host[:port]`, IPv6 with or without brackets. An empty text is no host. */
function parseAllowedHost(text: string): AllowedHost | undefined {
  const entry = text.trim().toLowerCase();
  if (entry === '') return undefined;
  const bracketed = /^\[([^\]]*)\](?::(\d+))?$/.exec(entry);
  if (bracketed !== null) return { hostname: bracketed[1] ?? '', port: bracketed[2] };
  if (isIP(entry) === 6) return { hostname: entry, port: undefined };
  const [hostname = '', port] = entry.split(':');
  return { hostname, port };
}

/** Hosts of the setting OUTBOUND_ALLOWED_HOSTS and, with their port, of the configured base URLs. */
export function listAllowedHosts(setting: string, baseUrls: readonly (string | undefined)[]): AllowedHost[] {
  const fromUrls = baseUrls.flatMap((text) => {
    const url = text === undefined ? null : URL.parse(text);
    return url === null ? [] : [{ hostname: bareHostname(url.hostname), port: effectivePort(url.protocol, url.port) }];
  });
  return [...setting.split(',').flatMap((entry) => parseAllowedHost(entry) ?? []), ...fromUrls];
}

/** True when the configuration names this host (and port, where it names one). */
export function isAllowedHost(allowed: readonly AllowedHost[], hostname: string, port: string): boolean {
  const bare = bareHostname(hostname.toLowerCase());
  return allowed.some((host) => host.hostname === bare && (host.port === undefined || host.port === port));
}

/** True when the setting OUTBOUND_ALLOWED_HOSTS names the host of this URL, with its port or without one. */
export function namesHost(setting: string, { protocol, hostname, port }: URL): boolean {
  return isAllowedHost(listAllowedHosts(setting, []), hostname, effectivePort(protocol, port));
}

/** The port of a URL, its protocol's default included. */
export function effectivePort(protocol: string, port: string): string {
  return port !== '' ? port : protocol === 'https:' ? '443' : '80';
}

function bareHostname(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}
