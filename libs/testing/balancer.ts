/**
 * What stands before the replicas of a service, as a cluster's load balancer does it: connections are handed out in turn to the replicas
 * that were ready when it last looked, and stay where they are. A replica that is no longer ready is noticed only after a moment.
 */
import { connect, createServer, type Socket } from 'node:net';

export interface Backend {
  readonly port: number;
  isReady(): Promise<boolean>;
}

export interface Balancer {
  /** Looks at the replicas now, e.g. after one was added. */
  look(): Promise<void>;
  stop(): Promise<void>;
}

/** Listens on `port`. `lookEveryMs` is the time after which a change of readiness is noticed at the latest. */
export async function startBalancer(port: number, backends: readonly Backend[], lookEveryMs = 500): Promise<Balancer> {
  const sockets = new Set<Socket>();
  let ready: readonly Backend[] = [];
  let turn = 0;
  const look = async (): Promise<void> => {
    const states = await Promise.all(backends.map((backend) => backend.isReady()));
    ready = backends.filter((_backend, index) => states[index] === true);
  };
  const server = createServer((client) => {
    turn += 1;
    const chosen = ready[turn % ready.length];
    if (chosen === undefined) return void client.resetAndDestroy();
    const upstream = connect({ host: '127.0.0.1', port: chosen.port });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.resetAndDestroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroySoon();
      });
    }
    client.pipe(upstream).pipe(client);
  });
  await look();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const timer = setInterval(() => void look(), lookEveryMs);
  return {
    look,
    stop: async () => {
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
