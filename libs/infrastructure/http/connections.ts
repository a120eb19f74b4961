/** Connection limit of a server: when it is exceeded, the least valuable connection is closed (D62). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Refusal } from './exchange.ts';

export interface ConnectionsOptions {
  readonly max: number;
  readonly refused: (reason: Refusal) => void;
  /** Returns whether a request may be aborted in favour of another client. */
  readonly isAnonymous: (req: IncomingMessage) => boolean;
}

interface Connection {
  readonly socket: Socket;
  /** Number of requests in progress. */
  running: number;
  /** The latest request of the connection. */
  current: { readonly req: IncomingMessage; readonly res: ServerResponse | undefined } | undefined;
  /** Writes the rejection of malformed data that arrived after complete requests. */
  refuse: (() => void) | undefined;
  line: Line | undefined;
  before: Connection | undefined;
  pending: Connection | undefined;
}

/**
 * A linked list of connections in the same state, ordered by the time of entering. Every request adds and removes a
 * connection, so removal must be cheap (docs/performance-notes.md#slab-for-in-flight-requests).
 */
class Line {
  first: Connection | undefined;
  #last: Connection | undefined;

  enter(connection: Connection): void {
    connection.before = this.#last;
    if (this.#last === undefined) this.first = connection;
    else this.#last.pending = connection;
    this.#last = connection;
  }

  release(connection: Connection): void {
    const { before, pending } = connection;
    connection.before = undefined;
    connection.pending = undefined;
    if (before === undefined) this.first = pending;
    else before.pending = pending;
    if (pending === undefined) this.#last = before;
    else pending.before = before;
  }
}

export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #open = new Map<Socket, Connection>();
  // Connections that can be closed; the least valuable ones are in the first list.
  /** Connections without a complete request head: an attacker can open them at no cost. */
  readonly #silent = new Line();
  /** Idle keep-alive connections. */
  readonly #retained = new Line();
  /** Anonymous requests in progress. */
  readonly #anonymous = new Line();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  add(socket: Socket): void {
    socket.once('close', () => this.#forget(socket));
    const connection: Connection = {
      socket,
      running: 0,
      current: undefined,
      refuse: undefined,
      line: undefined,
      before: undefined,
      pending: undefined,
    };
    this.#open.set(socket, connection);
    if (this.#open.size > this.#options.max) {
      this.#options.refused('too_many_connections');
      const loser = (this.#silent.first ?? this.#retained.first ?? this.#anonymous.first ?? connection).socket;
      this.#forget(loser);
      loser.destroy();
      if (loser === socket) return;
    }
    this.#move(connection, this.#silent);
  }

  /** Returns the number of requests of the connection in progress. */
  countRunning(socket: Socket): number {
    return this.#open.get(socket)?.running ?? 0;
  }

  /**
   * Registers a request until `end`. @returns the number of requests in progress on the connection, including this one
   */
  begin(req: IncomingMessage, res?: ServerResponse): number {
    const connection = this.#open.get(req.socket);
    if (connection === undefined) return 1; // already closed
    this.#move(connection, this.#options.isAnonymous(req) ? this.#anonymous : undefined);
    connection.current = { req, res };
    return ++connection.running;
  }

  /**
   * Writes the rejection of malformed data in order: after the responses of earlier requests, never into one of them.
   */
  refuse(socket: Socket, write: () => void): void {
    const connection = this.#open.get(socket);
    const current = connection?.running === 0 ? undefined : connection?.current;
    if (connection === undefined || current === undefined) write();
    else if (current.req.complete) connection.refuse = write;
    // The malformed data is in the body of the current request.
    else if (connection.running === 1 && current.res?.headersSent === false) write();
    else socket.destroy();
  }

  end(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection === undefined || --connection.running > 0) return;
    connection.current = undefined;
    this.#move(connection, this.#retained);
    connection.refuse?.();
  }

  #move(connection: Connection, line: Line | undefined): void {
    if (connection.line === line) return;
    connection.line?.release(connection);
    connection.line = line;
    line?.enter(connection);
  }

  #forget(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    this.#move(connection, undefined);
    this.#open.delete(socket);
  }
}
