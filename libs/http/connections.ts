/** How many connections a server has, and which one goes when there is no room for another (D62). */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Refusal } from './exchange.ts';

export interface ConnectionsOptions {
  readonly max: number;
  readonly refused: (reason: Refusal) => void;
  /** Whether a request may be given up for somebody else's. */
  readonly isAnonymous: (req: IncomingMessage) => boolean;
}

interface Connection {
  /** Requests that are worked on. */
  running: number;
  kind: Set<Socket> | undefined;
}

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #open = new Map<Socket, Connection>();
  // Those that can be closed, the cheapest kind first; of each kind who has been of it for longest is first.
  /** Have sent no whole head: they cost an attacker nothing. */
  readonly #silent = new Set<Socket>();
  /** Have their answers, and may be used again. */
  readonly #kept = new Set<Socket>();
  /** Have anonymous requests under way. */
  readonly #anonymous = new Set<Socket>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  add(socket: Socket): void {
    socket.once('close', () => this.#forget(socket));
    const connection: Connection = { running: 0, kind: undefined };
    this.#open.set(socket, connection);
    if (this.#open.size > this.#options.max) {
      this.#options.refused('too_many_connections');
      const [loser = socket] = [...this.#silent.values().take(1), ...this.#kept.values().take(1), ...this.#anonymous.values().take(1)];
      this.#forget(loser);
      loser.destroy();
      if (loser === socket) return;
    }
    this.#setKind(socket, connection, this.#silent);
  }

  /** Requests of a connection that are worked on. */
  countRunning(socket: Socket): number {
    return this.#open.get(socket)?.running ?? 0;
  }

  /** A request has come. @returns how many of its connection are worked on, this one included; each until `end`. */
  begin(req: IncomingMessage): number {
    const connection = this.#open.get(req.socket);
    if (connection === undefined) return 1; // closed a moment ago
    this.#setKind(req.socket, connection, this.#options.isAnonymous(req) ? this.#anonymous : undefined);
    return ++connection.running;
  }

  end(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection !== undefined && --connection.running === 0) this.#setKind(socket, connection, this.#kept);
  }

  #setKind(socket: Socket, connection: Connection, kind: Set<Socket> | undefined): void {
    if (connection.kind === kind) return;
    connection.kind?.delete(socket);
    connection.kind = kind;
    kind?.add(socket);
  }

  #forget(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    this.#setKind(socket, connection, undefined);
    this.#open.delete(socket);
  }
}
