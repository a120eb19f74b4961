/** Runs nats-server with JetStream on the loopback interface. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort, isListening } from './ports.ts';
import { startServerProcess, type ServerProcess } from './server-process.ts';
import type { NatsUser } from './nats-permissions.ts';

export interface NatsServer extends ServerProcess {
  readonly url: string;
}

interface ClusterMember {
  readonly name: string;
  readonly port: number;
  readonly routes: readonly number[];
  /**
   * Whether the server advertises the other members to clients. If false, clients use only the configured addresses,
   * such as proxies. Default true.
   */
  readonly advertised?: boolean;
}

/**
 * Starts nats-server. `durable` syncs every JetStream write before acknowledging it, so a webhook answered with 200
 * survives a power failure; the setting applies to all streams of the server.
 */
export async function startNats(options: {
  program: string;
  dataDir: string;
  logFile: string;
  durable: boolean;
  port?: number;
  /** Users that may connect; without them, every client on this machine may connect. */
  users?: readonly NatsUser[];
  /** Further lines of the configuration, e.g. for a certificate. */
  settings?: readonly string[];
  /** Makes the server a cluster member: its name, its cluster port, and the other members' addresses. */
  cluster?: ClusterMember;
}): Promise<NatsServer> {
  mkdirSync(options.dataDir, { recursive: true });
  const port = options.port ?? (await findFreePort());
  const configuration = join(options.dataDir, 'nats-server.conf');
  const lines = [
    `listen: "127.0.0.1:${port}"`,
    'max_payload: 8MB',
    'jetstream {',
    `  store_dir: ${JSON.stringify(options.dataDir)}`,
    // Every stream has a size limit; creating it must not depend on the free disk space at that time.
    '  max_file_store: 1TB',
    ...(options.durable ? ['  sync_interval: always'] : []),
    '}',
    ...(options.settings ?? []),
    ...(options.cluster === undefined ? [] : describeCluster(options.cluster)),
    ...(options.users === undefined ? [] : [`authorization: ${JSON.stringify({ users: options.users })}`]),
  ];
  writeFileSync(configuration, `${lines.join('\n')}\n`, { mode: 0o600 });
  const server = await startServerProcess({
    name: 'NATS',
    command: options.program,
    args: ['--config', configuration],
    logFile: options.logFile,
    stopSignal: 'SIGTERM',
    isReady: () => isListening('127.0.0.1', port),
  });
  return { ...server, url: `nats://127.0.0.1:${port}` };
}

/**
 * Returns the cluster configuration. The other members drop an unresponsive member after three seconds; by default they
 * would send it requests for minutes.
 */
function describeCluster({ name, port, routes, advertised = true }: ClusterMember): string[] {
  const addresses = routes.map((route) => `nats-route://127.0.0.1:${route}`);
  return [
    `server_name: ${JSON.stringify(name)}`,
    `cluster { name: coherence, listen: "127.0.0.1:${port}", ping_interval: "1s", no_advertise: ${!advertised}, routes: ${JSON.stringify(addresses)} }`,
  ];
}
