/**
 * What is on its way to one other process. The broker holds what a process has not read yet, and cuts off one for whom it holds too much
 * (`max_pending`, 64 MiB): with that every call of the process is lost. So there is no more than a lane's room on the way to it, whatever
 * the number of replies, and the others wait in turn.
 */
import { unavailable } from '#libs/errors';

/** Several processes, each with a lane of its own, stay below what the broker holds for their reader. */
const windowBytes = 8 * 1024 * 1024;
/** Replies that wait are in memory: a further one is refused. */
const maxWaiting = 64;

/** The way to one reader. */
interface ReaderWindow {
  bytes: number;
  slots: number;
  /** Who waits for room, in the order in which they came: called to look again. */
  readonly waiting: Set<() => void>;
}

export class ReaderWindows {
  readonly #windows = new Map<string, ReaderWindow>();

  /** A place for the parts of one reply, until it is closed; `wake` is called when it is to try `enter` again. */
  open(replyTo: string, wake: () => void): WindowSlot {
    const reader = replyTo.slice(0, replyTo.lastIndexOf('.'));
    const lane = this.#windows.get(reader) ?? { bytes: 0, slots: 0, waiting: new Set() };
    this.#windows.set(reader, lane);
    lane.slots++;
    return new WindowSlot(lane, wake, () => {
      if (--lane.slots === 0) this.#windows.delete(reader);
    });
  }
}

/** One reply in its lane. */
export class WindowSlot {
  readonly #lane: ReaderWindow;
  readonly #wake: () => void;
  readonly #onClosed: () => void;
  #entered = 0;
  /** Sizes of parts that have entered and not come yet, in their order. */
  readonly #underWay: number[] = [];

  constructor(lane: ReaderWindow, wake: () => void, onClosed: () => void) {
    this.#lane = lane;
    this.#wake = wake;
    this.#onClosed = onClosed;
  }

  /** Whether all that has entered has come. */
  get isEmpty(): boolean {
    return this.#underWay.length === 0;
  }

  /**
   * Whether a part of so many bytes may leave now, which it does then; else it waits for its turn.
   * @throws AppError unavailable when too many wait, before the first part.
   */
  tryAcquire(bytes: number): boolean {
    const { waiting } = this.#lane;
    if (waiting.size >= maxWaiting && this.#entered === 0 && !waiting.has(this.#wake)) throw unavailable('The service is busy');
    waiting.add(this.#wake);
    const [first] = waiting;
    if (first !== this.#wake || this.#lane.bytes >= windowBytes) return false;
    waiting.delete(this.#wake);
    this.#entered++;
    this.#underWay.push(bytes);
    this.#lane.bytes += bytes;
    this.#wakeNext();
    return true;
  }

  /** The first `count` parts have come. */
  release(count: number): void {
    while (!this.isEmpty && this.#entered - this.#underWay.length < count) this.#lane.bytes -= this.#underWay.shift() ?? 0;
    this.#wakeNext();
  }

  /** Nothing more is sent, or nobody is there to take it. */
  close(): void {
    this.#lane.waiting.delete(this.#wake);
    this.release(this.#entered);
    this.#onClosed();
  }

  #wakeNext(): void {
    const [first] = this.#lane.waiting;
    if (this.#lane.bytes < windowBytes) first?.();
  }
}
