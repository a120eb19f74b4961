/**
 * Addresses of names that somebody else chose. The system's resolver has four places in a process, for every name, file and cipher together; a name
 * whose server is silent would hold one of them for seconds. Here each name is a question of its own to the name servers.
 */
import { type LookupAddress, promises } from 'node:dns';
import { callbackify } from 'node:util';

export type Resolve = (
  hostname: string,
  options: { all: true; family?: number },
  done: (error: Error | null, addresses: LookupAddress[]) => void,
) => void;

/** With its second try a question ends before the time for connecting does. */
const options = { timeout: 1_000, tries: 2 };
const local: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** @param servers instead of the system's, in tests */
export function createNameResolver(servers?: readonly string[]): Resolve {
  const resolver = new promises.Resolver(options);
  if (servers !== undefined) resolver.setServers(servers);
  const ask = async (hostname: string, family: 4 | 6): Promise<LookupAddress[]> =>
    (await (family === 4 ? resolver.resolve4(hostname) : resolver.resolve6(hostname))).map((address) => ({ address, family }));
  /** Of both families; one of them is enough. */
  const find = callbackify(async (hostname: string, families: readonly (4 | 6)[]): Promise<LookupAddress[]> => {
    const answers = await Promise.allSettled(families.map((family) => ask(hostname, family)));
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const failure = answers.find((answer) => answer.status === 'rejected');
    if (addresses.length === 0 && failure !== undefined) throw failure.reason;
    return addresses;
  });
  return (hostname, { family: wanted }, done) => {
    // Name servers are not asked for these (RFC 6761).
    if (/(?:^|\.)localhost\.?$/i.test(hostname)) return done(null, [...local]);
    const families = ([4, 6] as const).filter((family) => wanted === undefined || wanted === family);
    find(hostname, families, (error, addresses) => done(error, error === null ? addresses : []));
  };
}
