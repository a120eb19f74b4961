/** What limits count a client by. */
import { isIP } from 'node:net';

/**
 * An IPv4 address, or the /64 of an IPv6 address, each in one spelling: whoever has one IPv6 address has the 2^64 beside it (D71). IPv4 that is
 * seen through IPv6 counts as IPv4. A port, which proxies may add, is left out; all that is no address counts as one client.
 */
export function toAddressBlock(text: string): string {
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const address = bare.replace(/%.*/s, ''); // the interface of a link-local address
  const version = isIP(address);
  if (version === 4) return address;
  if (version !== 6) return 'unknown';
  const groups = readGroups(address);
  return readEmbedded(groups) ?? `${groups.slice(0, 4).join(':')}::/64`;
}

/** The eight groups of an IPv6 address, in lower case and without leading zeros. */
function readGroups(address: string): string[] {
  const [left, right] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const before = (left ?? '').split(':').filter((group) => group !== '');
  const after = (right ?? '').split(':').filter((group) => group !== '');
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after];
}

/** `::ffff:0:0/96` (mapped) and `64:ff9b::/96` (NAT64, RFC 6052). */
const embedding = /^(?:0,0,0,0,0,ffff|64,ff9b,0,0,0,0),([0-9a-f]+),([0-9a-f]+)$/;

function readEmbedded(groups: readonly string[]): string | undefined {
  const found = embedding.exec(groups.join(','));
  if (found === null) return undefined;
  return found
    .slice(1)
    .map((group) => Number.parseInt(group, 16))
    .flatMap((pair) => [pair >> 8, pair & 0xff])
    .join('.');
}
