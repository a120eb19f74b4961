import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';

/**
 * The system gives outgoing connections a port from 32768 (Linux) or 49152 (others) on. A port of theirs that is free now may be taken by any
 * connection before its server listens, so free ports are chosen below.
 */
const single = { first: 12_000, end: 32_000, length: 1 };
const rows = { first: 10_000, end: 12_000, length: 8 };
/** Workers of jest choose side by side, and seconds before their servers listen: each chooses from ports of its own. */
const shares = 8;
const chosen = new Set<number>();

/** For a process that chooses ports itself while some that it was given wait for who listens there: it chooses from a share of its own. */
export const withOwnPorts = (): Record<string, string> => ({ JEST_WORKER_ID: String((ownShare() + shares / 2) % shares) });

const ownShare = (): number => Number(process.env['JEST_WORKER_ID'] ?? 0) % shares;

/** A TCP port that nobody uses right now and that this process has not been given before. */
export function findFreePort(): Promise<number> {
  return choose(single);
}

/** The first of eight such ports in a row, for who is told one and takes those behind it too. */
export function findFreeRow(): Promise<number> {
  return choose(rows);
}

async function choose({ first, end, length }: typeof single): Promise<number> {
  const share = ownShare();
  for (let attempt = 0; attempt < 1_000; attempt += 1) {
    const slot = randomInt(Math.floor((end - first) / (shares * length)));
    const port = first + (slot * shares + share) * length;
    const row = Array.from({ length }, (_, index) => port + index);
    if (chosen.has(port) || (await Promise.all(row.map((item) => findPortProblem(item)))).some((problem) => problem !== undefined))
      continue;
    chosen.add(port);
    return port;
  }
  throw new Error(`No free TCP port found between ${first} and ${end}`);
}

/** Why no server can listen there (`EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL`); undefined = it can. `::` means every address. */
export function findPortProblem(port: number, host = '::'): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, ...(host === '::' ? {} : { host }) }, () => server.close(() => resolve(undefined)));
  });
}

/** `preferred` when it is free and none of `others`, else any free one. */
export async function choosePort(preferred: number, others: readonly number[] = []): Promise<number> {
  return !others.includes(preferred) && (await findPortProblem(preferred)) === undefined ? preferred : findFreePort();
}

/** True when something accepts connections there. */
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
