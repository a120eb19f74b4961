/**
 * Limits the bytes of transfers in this process: request bodies being received and responses being read. Without free
 * budget, new data waits. Under pressure the oldest transfer is aborted, which affects the slow client instead of a new
 * one (D62, D77).
 */
import { pollRegularly } from '#libs/infrastructure/transfer';

export interface Transfer {
  /** `performance.now()` at the start of the transfer. */
  readonly since: number;
  /** Bytes of the transfer in memory. */
  bytes: number;
  /** Stops reading; called when the budget is exhausted. */
  pause(): void;
  resume(): void;
  /** Aborts the transfer. The transfer must then be removed with `remove`. */
  evict(): void;
}

/** Minimum age of a transfer that can be aborted. */
const evictableAfterMs = 2_000;

export class ByteBudget {
  readonly #maxBytes: number;
  /** Active transfers, the oldest first. */
  readonly #active = new Set<Transfer>();
  readonly #paused = new Set<Transfer>();
  #bytes = 0;
  #stopEviction: (() => void) | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Returns whether more than half of the budget is in use. */
  get isOverHalf(): boolean {
    return this.#bytes > this.#maxBytes / 2;
  }

  add(holder: Transfer): void {
    this.#active.add(holder);
  }

  /** Counts bytes that do not belong to a transfer. @returns a function that releases them */
  reserve(bytes: number): () => void {
    let buffered = bytes;
    this.#bytes += bytes;
    return () => {
      this.#bytes -= buffered;
      buffered = 0;
      if (this.#bytes <= this.#maxBytes) this.#resume();
    };
  }

  /** Changes the number of bytes of a transfer by a positive or negative number. */
  adjust(holder: Transfer, bytes: number): void {
    holder.bytes += bytes;
    this.#bytes += bytes;
    if (this.#bytes <= this.#maxBytes) return this.#resume();
    if (bytes <= 0) return;
    this.#paused.add(holder);
    holder.pause();
    this.#stopEviction ??= pollRegularly((nowMs) => this.#evictOldest(nowMs));
  }

  /** Marks a transfer as complete; its bytes count until `remove`. */
  finish(holder: Transfer): void {
    this.#active.delete(holder);
    this.#paused.delete(holder);
  }

  remove(holder: Transfer): void {
    this.finish(holder);
    this.#bytes -= holder.bytes;
    holder.bytes = 0;
    if (this.#bytes <= this.#maxBytes) this.#resume();
  }

  #resume(): void {
    if (this.#stopEviction === undefined) return;
    this.#stopEviction();
    this.#stopEviction = undefined;
    const paused = [...this.#paused];
    this.#paused.clear();
    for (const holder of paused) holder.resume();
  }

  /**
   * Aborts the oldest transfers while the budget is exceeded. It stops when active transfers use less than half of the
   * budget: the other bytes are bodies in processing, which are released first.
   */
  #evictOldest(nowMs: number): void {
    let moving = 0;
    for (const { bytes } of this.#active) moving += bytes;
    for (const holder of this.#active) {
      if (this.#bytes <= this.#maxBytes || moving <= this.#maxBytes / 2 || nowMs - holder.since < evictableAfterMs)
        return;
      moving -= holder.bytes;
      holder.evict();
    }
  }
}
