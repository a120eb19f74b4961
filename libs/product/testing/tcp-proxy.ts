/**
 * A TCP proxy in front of a real server, to simulate a network or server that disappears, hangs or loses single
 * connections.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { Transform } from 'node:stream';

export interface TcpProxy {
  /** The target's URL, with the proxy's address instead of the target's. */
  readonly url: string;
  /** Closes every connection and rejects new ones until `restore`. */
  cut(): void;
  /** Until `restore`, accepts new connections but forwards no data on any connection. */
  hang(): void;
  restore(): void;
  /** Delays all data from the target by this time; 0: no delay. */
  delay(ms: number): void;
  /**
   * Withholds data from the target until it contains these words. Then closes that connection without forwarding the
   * data, resumes normal operation and resolves.
   */
  loseAnswer(words: string): Promise<void>;
  /** Closes the current connections; new connections are accepted. */
  breakConnections(): void;
  /** Bytes received from the target so far. */
  readonly receivedBytes: number;
  /** Bytes sent to the target so far. */
  readonly sentBytes: number;
  stop(): Promise<void>;
}

/** Starts a proxy on a free port of the loopback interface. It forwards to host and port of `targetUrl`. */
export async function startTcpProxy(targetUrl: string): Promise<TcpProxy> {
  const target = new URL(targetUrl);
  const sockets = new Set<Socket>();
  let state: 'open' | 'cut' | 'hung' = 'open';
  let receivedBytes = 0;
  let sentBytes = 0;
  let delayMs = 0;
  let lost: { readonly words: string; readonly done: () => void } | undefined;

  const server = createServer((client) => {
    if (state === 'cut') return void client.resetAndDestroy();
    const upstream = connect({ host: target.hostname, port: Number(target.port) });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    upstream.on('data', (chunk: Buffer) => (receivedBytes += chunk.byteLength));
    client.on('data', (chunk: Buffer) => (sentBytes += chunk.byteLength));
    let heldBack = '';
    const holdBack = (chunk: Buffer, { words, done }: NonNullable<typeof lost>): void => {
      heldBack += chunk.toString('latin1');
      if (!heldBack.includes(words)) return;
      lost = undefined;
      client.resetAndDestroy();
      done();
    };
    const line = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        if (lost !== undefined) {
          holdBack(chunk, lost);
          done();
        } else if (delayMs === 0) done(null, chunk);
        else setTimeout(done, delayMs, null, chunk);
      },
    });
    client.pipe(upstream).pipe(line).pipe(client);
    if (state === 'hung') for (const socket of [client, upstream]) socket.pause();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(targetUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);

  const breakConnections = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    url: url.href.replace(/\/$/, ''),
    get receivedBytes() {
      return receivedBytes;
    },
    get sentBytes() {
      return sentBytes;
    },
    cut: () => {
      state = 'cut';
      breakConnections();
    },
    hang: () => {
      state = 'hung';
      for (const socket of sockets) {
        socket.unpipe();
        socket.pause();
      }
    },
    restore: () => {
      const wasHung = state === 'hung';
      state = 'open';
      if (wasHung) breakConnections();
    },
    delay: (ms) => {
      delayMs = ms;
    },
    loseAnswer: (words) => new Promise((done) => (lost = { words, done })),
    breakConnections,
    stop: async () => {
      breakConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
