/**
 * Flow control for each process that reads replies. The broker disconnects a process with too many unread bytes
 * (`max_pending`, 64 MiB), and all calls of that process fail. Therefore the unread bytes of all replies to one process
 * are limited to a window; further replies wait in order.
 */
import { unavailable } from '#libs/infrastructure/errors';

/** Window size. The windows of several responders together stay below the limit of the broker. */
const windowBytes = 8 * 1024 * 1024;
/** Maximum number of waiting replies, which are in memory. Further ones are rejected. */
const maxWaiting = 64;

/** Unread bytes of one reading process. */
interface ReaderWindow {
  bytes: number;
  slots: number;
  /** Callbacks of waiting replies, in order of arrival. */
  readonly waiting: Set<() => void>;
}

export class ReaderWindows {
  readonly #windows = new Map<string, ReaderWindow>();

  /**
   * Opens a slot for the chunks of one reply. `wake` is called when `tryAcquire` should be repeated. Close the slot at
   * the end.
   */
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

/** The chunks of one reply in the window of its reader. */
export class WindowSlot {
  readonly #window: ReaderWindow;
  readonly #wake: () => void;
  readonly #onClosed: () => void;
  #entered = 0;
  /** Sizes of sent chunks that are not acknowledged, in order. */
  readonly #underWay: number[] = [];

  constructor(queue: ReaderWindow, wake: () => void, onClosed: () => void) {
    this.#window = queue;
    this.#wake = wake;
    this.#onClosed = onClosed;
  }

  /** Whether the reader has acknowledged all sent chunks. */
  get isEmpty(): boolean {
    return this.#underWay.length === 0;
  }

  /**
   * Returns whether a chunk of this size may be sent now, and counts it if so. Otherwise the reply waits until `wake`
   * is called.
   * @throws AppError unavailable before the first chunk, when too many replies wait
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

  /** Releases the first `count` chunks, which the reader has acknowledged. */
  release(count: number): void {
    while (!this.isEmpty && this.#entered - this.#underWay.length < count)
      this.#window.bytes -= this.#underWay.shift() ?? 0;
    this.#wakeNext();
  }

  /** Closes the slot, when nothing more is sent or the reader has disconnected. */
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
