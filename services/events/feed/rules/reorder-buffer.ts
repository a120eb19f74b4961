/**
 * Determines which messages of the stream can be appended to the feed (V2). Messages are appended in stream order,
 * after earlier unacknowledged messages. A short delay allows events of several services about one subject to be sorted
 * by time.
 */

export interface BufferedMessage<Message> {
  readonly sequence: number;
  readonly receivedMs: number;
  /** True when the broker has delivered the message before. */
  readonly isRedelivered: boolean;
  readonly message: Message;
}

/** Delay before a message is appended; longer than the batching time of an outbox relay. */
export const delayMs = 170;
/** A missing message is skipped after this time, which is longer than its redelivery takes. */
const giveUpMs = 10_000;

export class ReorderBuffer<Message> {
  readonly #buffer = new Map<number, BufferedMessage<Message>>();
  #settled: number;
  #missingSinceMs: number | undefined;

  /** @param settled sequence of the last message in the feed */
  constructor(settled: number) {
    this.#settled = settled;
  }

  get buffered(): Iterable<BufferedMessage<Message>> {
    return this.#buffer.values();
  }

  /**
   * Adds a message to the buffer.
   * @returns the discarded one of two messages with the same sequence: a redelivered message is a duplicate of the
   * buffered message; a first delivery belongs to a recreated stream and replaces the buffered message
   */
  add(item: BufferedMessage<Message>): BufferedMessage<Message> | undefined {
    const existing = this.#buffer.get(item.sequence);
    if (existing !== undefined && item.isRedelivered) return item;
    this.#buffer.set(item.sequence, item);
    return existing;
  }

  /** Returns the messages that can be appended now, in order. They remain buffered until `settle`. */
  due(nowMs: number): BufferedMessage<Message>[] {
    const sorted = [...this.#buffer.values()].toSorted((a, b) => a.sequence - b.sequence);
    const due: BufferedMessage<Message>[] = [];
    let expected = this.#settled + 1;
    for (const item of sorted) {
      // A message with an earlier sequence is a redelivery or belongs to a recreated stream; the feed drops duplicates.
      if (item.sequence > expected || nowMs - item.receivedMs < delayMs) break;
      due.push(item);
      expected = Math.max(expected, item.sequence + 1);
    }
    this.#skipMissing(due.length === 0 ? sorted[0] : undefined, expected, nowMs);
    return due;
  }

  /** Returns the sequence up to which messages are settled once these messages are settled. */
  settledAfter(items: readonly BufferedMessage<Message>[]): number {
    let settled = this.#settled;
    for (const { sequence, isRedelivered } of items) if (!isRedelivered || sequence > settled) settled = sequence;
    return settled;
  }

  settle(items: readonly BufferedMessage<Message>[]): void {
    this.#settled = this.settledAfter(items);
    for (const item of items) if (this.#buffer.get(item.sequence) === item) this.#buffer.delete(item.sequence);
  }

  /** Empties the buffer. @returns its messages */
  clear(): BufferedMessage<Message>[] {
    const all = [...this.#buffer.values()];
    this.#buffer.clear();
    return all;
  }

  /** Skips messages that are missing for too long. */
  #skipMissing(first: BufferedMessage<Message> | undefined, expected: number, nowMs: number): void {
    if (first === undefined || first.sequence <= expected) {
      this.#missingSinceMs = undefined;
      return;
    }
    this.#missingSinceMs ??= nowMs;
    if (nowMs - this.#missingSinceMs < giveUpMs) return;
    this.#settled = first.sequence - 1;
    this.#missingSinceMs = undefined;
  }
}
