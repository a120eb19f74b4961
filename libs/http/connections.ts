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

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #open = new Set<Socket>();
  readonly #running = new WeakMap<Socket, number>();
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
    this.#open.add(socket);
    if (this.#open.size > this.#options.max) {
      this.#options.refused('too_many_connections');
      const [loser = socket] = [...this.#silent.values().take(1), ...this.#kept.values().take(1), ...this.#anonymous.values().take(1)];
      this.#forget(loser);
      loser.destroy();
      if (loser === socket) return;
    }
    this.#silent.add(socket);
  }

  /** Requests of a connection that are worked on. */
  countRunning(socket: Socket): number {
    return this.#running.get(socket) ?? 0;
  }

  /** A request has come. @returns how many of its connection are worked on, this one included; each until `end`. */
  begin(req: IncomingMessage): number {
    const { socket } = req;
    const running = this.countRunning(socket) + 1;
    this.#running.set(socket, running);
    this.#setKind(socket, this.#options.isAnonymous(req) ? this.#anonymous : undefined);
    return running;
  }

  end(socket: Socket): void {
    const left = this.countRunning(socket) - 1;
    this.#running.set(socket, left);
    if (left === 0 && this.#open.has(socket)) this.#setKind(socket, this.#kept);
  }

  #setKind(socket: Socket, kind: Set<Socket> | undefined): void {
    for (const other of [this.#silent, this.#kept, this.#anonymous]) other.delete(socket);
    kind?.add(socket);
  }

  #forget(socket: Socket): void {
    this.#open.delete(socket);
    this.#setKind(socket, undefined);
  }
}
