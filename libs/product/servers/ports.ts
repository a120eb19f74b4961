import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';

/**
 * Outgoing connections use ports from 32768 (Linux) or 49152 (other systems) on. A connection could take a free port of
 * that range before the server listens on it, so free ports are chosen below that range.
 */
const single = { first: 12_000, end: 32_000, length: 1 };
const rows = { first: 10_000, end: 12_000, length: 8 };
/** Parallel workers of jest choose ports seconds before their servers listen, so each worker has a separate range. */
const shares = 8;
const chosen = new Set<number>();

/**
 * Returns variables for a child process that also chooses ports. They assign it a separate range, because some ports
 * passed to it may not be in use yet.
 */
export const withOwnPorts = (): Record<string, string> => ({
  JEST_WORKER_ID: String((ownShare() + shares / 2) % shares),
});

const ownShare = (): number => Number(process.env['JEST_WORKER_ID'] ?? 0) % shares;

/** Returns an unused TCP port that this process has not returned before. */
export function findFreePort(): Promise<number> {
  return choose(single);
}

/**
 * Returns the first of eight consecutive unused ports, for programs that receive one port and also use the following
 * ones.
 */
export function findFreeRow(): Promise<number> {
  return choose(rows);
}

async function choose({ first, end, length }: typeof single): Promise<number> {
  const share = ownShare();
  for (let attempt = 0; attempt < 1_000; attempt += 1) {
    const slot = randomInt(Math.floor((end - first) / (shares * length)));
    const port = first + (slot * shares + share) * length;
    const row = Array.from({ length }, (_, index) => port + index);
    if (
      chosen.has(port) ||
      (await Promise.all(row.map((item) => findPortProblem(item)))).some((problem) => problem !== undefined)
    )
      continue;
    chosen.add(port);
    return port;
  }
  throw new Error(`No free TCP port found between ${first} and ${end}`);
}

/**
 * Returns why a server cannot listen on this port (`EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL`); undefined if it can. `::`
 * means every address.
 */
export function findPortProblem(port: number, host = '::'): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, ...(host === '::' ? {} : { host }) }, () => server.close(() => resolve(undefined)));
  });
}

/** Returns `preferred` if it is free and not in `others`, otherwise any free port. */
export async function choosePort(preferred: number, others: readonly number[] = []): Promise<number> {
  return !others.includes(preferred) && (await findPortProblem(preferred)) === undefined ? preferred : findFreePort();
}

/** Returns true if the port accepts connections. */
export function isListening(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1_000 });
    const finish = (result: boolean): void => {
      socket.destroy();
      resolve(result);
    };
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
    socket.once('timeout', () => finish(false));
  });
}
