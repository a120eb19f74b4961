/** A server inside the network that requires no authentication; tests use it as the target of SSRF attempts. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export interface InnerServer {
  readonly port: number;
  /** `connection` for each connection, and method and path of each request. */
  readonly seen: readonly string[];
  stop(): Promise<void>;
}

/** Starts a server that listens on all IPv4 and IPv6 addresses of the machine. */
export async function startInnerServer(): Promise<InnerServer> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.end('[]');
  });
  server.on('connection', () => void requests.push('connection'));
  server.listen(0, '::');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    seen: requests,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
