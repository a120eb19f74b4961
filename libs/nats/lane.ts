/**
 * What is on its way to one other process. The broker holds what a process has not read yet, and cuts off one for whom it holds too much
 * (`max_pending`, 64 MiB): with that every call of the process is lost. So there is no more than a lane's room on the way to it, whatever
 * the number of replies, and the others wait in turn.
 */
import { unavailable } from '#libs/errors';

/** Several processes, each with a lane of its own, stay below what the broker holds for their reader. */
export const laneBytes = 8 * 1024 * 1024;
/** Replies that wait are in memory: a further one is refused. */
export const maxWaiting = 64;

/** The way to one reader. */
interface Lane {
  bytes: number;
  places: number;
  /** Who waits for room, in the order in which they came: called to look again. */
  readonly waiting: Set<() => void>;
}

export class Lanes {
  readonly #lanes = new Map<string, Lane>();

  /** A place for the parts of one reply, until it is closed; `wake` is called when it is to try `enter` again. */
  open(replyTo: string, wake: () => void): Place {
    const reader = replyTo.slice(0, replyTo.lastIndexOf('.'));
    const lane = this.#lanes.get(reader) ?? { bytes: 0, places: 0, waiting: new Set() };
    this.#lanes.set(reader, lane);
    lane.places++;
    return new Place(lane, wake, () => {
      if (--lane.places === 0) this.#lanes.delete(reader);
    });
  }
}

/** One reply in its lane. */
export class Place {
  readonly #lane: Lane;
  readonly #wake: () => void;
  readonly #onClosed: () => void;
  #bytes = 0;
  #hasBegun = false;

  constructor(lane: Lane, wake: () => void, onClosed: () => void) {
    this.#lane = lane;
    this.#wake = wake;
    this.#onClosed = onClosed;
  }

  /** Whether so many bytes may leave now, which they do then; else it waits for its turn. @throws AppError unavailable: too many wait, and nothing has left */
  enter(bytes: number): boolean {
    const { waiting } = this.#lane;
    if (waiting.size >= maxWaiting && !this.#hasBegun && !waiting.has(this.#wake)) throw unavailable('The service is busy');
    waiting.add(this.#wake);
    const [first] = waiting;
    if (first !== this.#wake || this.#lane.bytes >= laneBytes) return false;
    waiting.delete(this.#wake);
    this.#hasBegun = true;
    this.#bytes += bytes;
    this.#lane.bytes += bytes;
    this.#wakeNext();
    return true;
  }

  /** So many of its bytes have come. */
  leave(bytes: number): void {
    this.#bytes -= bytes;
    this.#lane.bytes -= bytes;
    this.#wakeNext();
  }

  /** Nothing more is sent, or nobody is there to take it. */
  close(): void {
    this.#lane.waiting.delete(this.#wake);
    this.leave(this.#bytes);
    this.#onClosed();
  }

  #wakeNext(): void {
    const [first] = this.#lane.waiting;
    if (this.#lane.bytes < laneBytes) first?.();
  }
}
