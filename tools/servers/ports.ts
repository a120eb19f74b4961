import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';

/**
 * The system gives outgoing connections a port from 32768 (Linux) or 49152 (others) on. A port of theirs that is free now may be taken by any
 * connection before its server listens, so free ports are chosen below.
 */
const chosenPorts = { first: 12_000, end: 32_000 };
/** Workers of jest choose side by side, and seconds before their servers listen: each chooses from ports of its own. */
const shares = 8;
const chosen = new Set<number>();

/** A TCP port that nobody uses right now and that this process has not been given before. */
export async function findFreePort(): Promise<number> {
  const share = Number(process.env['JEST_WORKER_ID'] ?? 0) % shares;
  for (let attempt = 0; attempt < 1_000; attempt += 1) {
    const place = randomInt((chosenPorts.end - chosenPorts.first) / shares);
    const port = chosenPorts.first + place * shares + share;
    if (chosen.has(port) || (await findPortProblem(port)) !== undefined) continue;
    chosen.add(port);
    return port;
  }
  throw new Error(`No free TCP port found between ${chosenPorts.first} and ${chosenPorts.end}`);
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
