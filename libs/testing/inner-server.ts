/** A server inside the network that believes whoever reaches it: where attackers want the platform to go. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export interface InnerServer {
  readonly port: number;
  /** What has come: `connection`, and the method and path of each request. */
  readonly seen: readonly string[];
  stop(): Promise<void>;
}

/** On every address of the machine, of IPv4 and IPv6. */
export async function startInnerServer(): Promise<InnerServer> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.end('[]');
  });
  server.on('connection', () => void seen.push('connection'));
  server.listen(0, '::');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
