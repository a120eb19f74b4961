/** nats-server with JetStream, on the loopback interface. */
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
  /** False: clients are told nothing of the others and know only the addresses that they were given, such as those of proxies. Default true. */
  readonly advertised?: boolean;
}

/**
 * `durable` syncs every JetStream write before it is acknowledged: a webhook that was answered 200 survives a power cut.
 * The server knows this as one setting for all streams.
 */
export async function startNats(options: {
  program: string;
  dataDir: string;
  logFile: string;
  durable: boolean;
  port?: number;
  /** Who may connect; absent = everyone on this machine. */
  users?: readonly NatsUser[];
  /** Further lines of its configuration, e.g. its certificate. */
  settings?: readonly string[];
  /** Makes it one of several: its own name and port for the others, and where these are. */
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
    // Each stream has its bound; whether it can be made must not depend on how much of the disk is free today.
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

/** A member that hangs is given up after three seconds by the others, which would go on sending it requests for minutes by default. */
function describeCluster({ name, port, routes, advertised = true }: ClusterMember): string[] {
  const addresses = routes.map((route) => `nats-route://127.0.0.1:${route}`);
  return [
    `server_name: ${JSON.stringify(name)}`,
    `cluster { name: coherence, listen: "127.0.0.1:${port}", ping_interval: "1s", no_advertise: ${!advertised}, routes: ${JSON.stringify(addresses)} }`,
  ];
}
