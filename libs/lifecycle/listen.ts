import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';

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
