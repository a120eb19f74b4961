/** The orderly end of an HTTP server whose clients keep connections and hear of the end only after a moment. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Slab } from '#libs/slab';

export interface DrainOptions {
  /** Time in which requests are still taken, on connections old and new, until whoever distributes them has noticed. */
  readonly windowMs: number;
  /** After the window: what is still running then is broken off. */
  readonly deadlineMs: number;
}

/** Time between looks for idle connections while draining. */
const idleSweepMs = 50;

/**
 * Prepares a server for its end; call it before the server listens. The returned function ends it: during the window every answer
 * closes its connection, so that no client writes on a connection that is being closed; then the server takes no new connection,
 * lets running requests finish and closes what is idle.
 */
export function prepareDrain(server: Server): (options: DrainOptions) => Promise<void> {
  const running = new Slab<ServerResponse>();
  let draining = false;
  server.prependListener('request', (_request: IncomingMessage, response: ServerResponse) => {
    if (draining) closeAfter(response);
    else {
      const place = running.add(response);
      response.once('close', () => running.remove(place));
    }
  });
  return async ({ windowMs, deadlineMs }) => {
    draining = true;
    for (const response of running) closeAfter(response);
    if (windowMs > 0 && server.listening) await sleep(windowMs);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => server.closeAllConnections(), deadlineMs);
      // A kept connection becomes idle when its last answer is sent, which may be after this.
      const sweep = setInterval(() => server.closeIdleConnections(), idleSweepMs);
      server.close(() => {
        clearTimeout(timer);
        clearInterval(sweep);
        resolve();
      });
      server.closeIdleConnections();
    });
  };
}

function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
