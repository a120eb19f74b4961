/**
 * Flow control per reading process. The broker disconnects a process with too many unread bytes (`max_pending`, 64
 * MiB), and all its calls fail. So the unread bytes of all replies for one process are limited to a window; further
 * replies wait in order.
 */
import { unavailable } from '#libs/errors';

/** Windows of several responders together stay below the limit of the broker. */
const windowBytes = 8 * 1024 * 1024;
/** Waiting replies are in memory: a further one is rejected. */
const maxWaiting = 64;

/** The unread bytes for one reader. */
interface ReaderWindow {
  bytes: number;
  slots: number;
  /** Callbacks of waiting replies, in order of arrival. */
  readonly waiting: Set<() => void>;
}

export class ReaderWindows {
  readonly #windows = new Map<string, ReaderWindow>();

  /** A slot for the chunks of one reply until it is closed; `wake` is called when `tryAcquire` should be repeated. */
  open(replyTo: string, wake: () => void): WindowSlot {
    const reader = replyTo.slice(0, replyTo.lastIndexOf('.'));
    const queue = this.#windows.get(reader) ?? { bytes: 0, slots: 0, waiting: new Set() };
    this.#windows.set(reader, queue);
    queue.slots++;
    return new WindowSlot(queue, wake, () => {
      if (--queue.slots === 0) this.#windows.delete(reader);
    });
  }
}

/** One reply in its window. */
export class WindowSlot {
  readonly #window: ReaderWindow;
  readonly #wake: () => void;
  readonly #onClosed: () => void;
  #entered = 0;
  /** Sizes of chunks sent and not acknowledged, in order. */
  readonly #underWay: number[] = [];

  constructor(queue: ReaderWindow, wake: () => void, onClosed: () => void) {
    this.#window = queue;
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
    const { waiting } = this.#window;
    if (waiting.size >= maxWaiting && this.#entered === 0 && !waiting.has(this.#wake))
      throw unavailable('The service is busy');
    waiting.add(this.#wake);
    const [first] = waiting;
    if (first !== this.#wake || this.#window.bytes >= windowBytes) return false;
    waiting.delete(this.#wake);
    this.#entered++;
    this.#underWay.push(bytes);
    this.#window.bytes += bytes;
    this.#wakeNext();
    return true;
  }

  /** The first `count` parts have come. */
  release(count: number): void {
    while (!this.isEmpty && this.#entered - this.#underWay.length < count)
      this.#window.bytes -= this.#underWay.shift() ?? 0;
    this.#wakeNext();
  }

  /** Nothing more is sent, or nobody is there to take it. */
  close(): void {
    this.#window.waiting.delete(this.#wake);
    this.release(this.#entered);
    this.#onClosed();
  }

  #wakeNext(): void {
    const [first] = this.#window.waiting;
    if (this.#window.bytes < windowBytes) first?.();
  }
}
