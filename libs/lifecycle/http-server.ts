/** The orderly end of an HTTP server whose clients keep connections and hear of the end only after a moment. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket, AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Slab } from '#libs/concurrency';

export interface DrainOptions {
  /** Time in which requests are still taken, on connections old and new, until whoever distributes them has noticed. */
  readonly windowMs: number;
  /** After the window: what is still running then is broken off. */
  readonly deadlineMs: number;
}

/** Time between looks for idle connections while draining. */
const idleSweepMs = 50;
/** Time after the window in which the first byte of a connection may still come. */
const silentMs = 250;

/**
 * Prepares a server for its end; call it before the server listens. The returned function ends it: during the window every answer
 * closes its connection, so that no client writes on a connection that is being closed; then the server takes no new connection,
 * lets running requests finish and closes what is idle, also connections that clients have opened in advance and never used.
 */
export function prepareDrain(server: Server): (options: DrainOptions) => Promise<void> {
  const running = new Slab<ServerResponse>();
  const open = new Slab<Socket>();
  let draining = false;
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    if (draining) closeAfter(response);
    else {
      const place = running.add(response);
      response.once('close', () => running.remove(place));
    }
  });
  server.on('connection', (socket: Socket) => {
    const place = open.add(socket);
    socket.once('close', () => open.remove(place));
  });
  return async ({ windowMs, deadlineMs }) => {
    draining = true;
    for (const response of running) closeAfter(response);
    if (windowMs > 0 && server.listening) await sleep(windowMs);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => server.closeAllConnections(), deadlineMs);
      // A kept connection becomes idle when its last answer is sent, which may be after this.
      const sweep = setInterval(() => server.closeIdleConnections(), idleSweepMs);
      // To Node they are not idle.
      const unused = setTimeout(() => {
        for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
      }, silentMs);
      server.close(() => {
        clearTimeout(timer);
        clearInterval(sweep);
        clearTimeout(unused);
        resolve();
      });
      server.closeIdleConnections();
    });
  };
}

function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

/**
 * Resolves with the port really used (0 takes any free one). `::` means every address of the machine, on one without IPv6 too.
 * @throws Error that names the setting of the port, or the host, when nobody can listen there.
 */
export function listen(server: Server, options: { host: string; port: number; portName: string }): Promise<number> {
  const { host, port, portName } = options;
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const problem = explain(error.code, portName, port, host);
      reject(problem === undefined ? error : new Error(problem, { cause: error }));
    });
    server.listen({ port, ...(host === '::' ? {} : { host }) }, () => resolve((server.address() as AddressInfo).port));
  });
}

/** `host:port` by which this machine reaches who listens on `host`. */
export function reachableAddress(host: string, port: number | string): string {
  const name = host === '::' || host === '0.0.0.0' ? '127.0.0.1' : host;
  return `${name.includes(':') ? `[${name}]` : name}:${port}`;
}

function explain(code: string | undefined, portName: string, port: number, host: string): string | undefined {
  if (code === 'EADDRINUSE') return `${portName} ${port} is in use by another process`;
  if (code === 'EACCES') return `${portName} ${port} is not allowed to this account`;
  return code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' ? `${host} is no address of this machine` : undefined;
}
