/** Listening, and graceful shutdown of an HTTP server with keep-alive connections. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket, AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Slab } from '#libs/infrastructure/concurrency';

export interface DrainOptions {
  /** Time in which the server still accepts requests, so that load balancers can notice the shutdown. */
  readonly windowMs: number;
  /** Time after the window until running requests are aborted. */
  readonly deadlineMs: number;
}

/** Interval between checks for idle connections while draining. */
const idleSweepMs = 50;
/** Time after the window in which an unused connection may send its first byte. */
const silentMs = 250;

/**
 * Prepares a graceful shutdown; call it before the server listens. The returned function runs the shutdown. During the
 * window every response closes its connection. After it the server accepts no connections, finishes running requests
 * and closes idle connections, including those that clients opened in advance and never used.
 */
export function prepareDrain(server: Server): (options: DrainOptions) => Promise<void> {
  const running = new Slab<ServerResponse>();
  const open = new Slab<Socket>();
  let draining = false;
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    if (draining) closeAfter(response);
    else {
      const slot = running.add(response);
      response.once('close', () => running.remove(slot));
    }
  });
  server.on('connection', (socket: Socket) => {
    const slot = open.add(socket);
    socket.once('close', () => open.remove(slot));
  });
  return async ({ windowMs, deadlineMs }) => {
    draining = true;
    for (const response of running) closeAfter(response);
    if (windowMs > 0 && server.listening) await sleep(windowMs);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => server.closeAllConnections(), deadlineMs);
      // A connection can become idle later, when its last response is sent.
      const sweep = setInterval(() => server.closeIdleConnections(), idleSweepMs);
      // Node does not count connections without a request as idle.
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
 * Starts listening and resolves with the actual port (0 = any free one). `::` means all addresses, also on a machine
 * without IPv6.
 * @throws Error that names the setting of the port, or the host, when listening fails
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

/** Returns `host:port` with which this machine reaches a server that listens on `host`. */
export function reachableAddress(host: string, port: number | string): string {
  const name = host === '::' || host === '0.0.0.0' ? '127.0.0.1' : host;
  return `${name.includes(':') ? `[${name}]` : name}:${port}`;
}

function explain(code: string | undefined, portName: string, port: number, host: string): string | undefined {
  if (code === 'EADDRINUSE') return `${portName} ${port} is in use by another process`;
  if (code === 'EACCES') return `${portName} ${port} is not allowed to this account`;
  return code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' ? `${host} is no address of this machine` : undefined;
}
