/**
 * Bounds the bytes that clients have in this process at the same time: of bodies that arrive, of answers that are taken. Nobody gets
 * a place in advance. Who brings bytes while there is no room for them waits, and who has been under way longest makes room: a
 * client that dribbles, not the next one (D62, D77).
 */
import { lookRegularly } from '#libs/transfer';

/** One transfer. */
export interface Transfer {
  /** `performance.now()` at its beginning. */
  readonly since: number;
  /** Its bytes here. */
  bytes: number;
  /** There is no room: nothing more may come. */
  pause(): void;
  resume(): void;
  /** It has to go; `leave` is called for it. */
  evict(): void;
}

/** Time under way after which a transfer may be sent away. */
const evictableAfterMs = 2_000;

export class ByteBudget {
  readonly #maxBytes: number;
  /** Under way, the oldest first. */
  readonly #active = new Set<Transfer>();
  readonly #paused = new Set<Transfer>();
  #bytes = 0;
  #stopEviction: (() => void) | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** More than half of the room is taken. */
  get isOverHalf(): boolean {
    return this.#bytes > this.#maxBytes / 2;
  }

  add(guest: Transfer): void {
    this.#active.add(guest);
  }

  /** Bytes that are here and move no more. @returns what ends their stay */
  reserve(bytes: number): () => void {
    let kept = bytes;
    this.#bytes += bytes;
    return () => {
      this.#bytes -= kept;
      kept = 0;
      if (this.#bytes <= this.#maxBytes) this.#resume();
    };
  }

  /** The guest has so many bytes more, or less, than before. */
  adjust(guest: Transfer, bytes: number): void {
    guest.bytes += bytes;
    this.#bytes += bytes;
    if (this.#bytes <= this.#maxBytes) return this.#resume();
    if (bytes <= 0) return;
    this.#paused.add(guest);
    guest.pause();
    this.#stopEviction ??= lookRegularly((nowMs) => this.#evictOldest(nowMs));
  }

  /** Nothing more will come; the bytes stay until `leave`. */
  finish(guest: Transfer): void {
    this.#active.delete(guest);
    this.#paused.delete(guest);
  }

  remove(guest: Transfer): void {
    this.finish(guest);
    this.#bytes -= guest.bytes;
    guest.bytes = 0;
    if (this.#bytes <= this.#maxBytes) this.#resume();
  }

  #resume(): void {
    if (this.#stopEviction === undefined) return;
    this.#stopEviction();
    this.#stopEviction = undefined;
    const paused = [...this.#paused];
    this.#paused.clear();
    for (const guest of paused) guest.resume();
  }

  /** While what is under way takes less than half of the room, it is the work that has to end first. */
  #evictOldest(nowMs: number): void {
    let moving = 0;
    for (const { bytes } of this.#active) moving += bytes;
    for (const guest of this.#active) {
      if (this.#bytes <= this.#maxBytes || moving <= this.#maxBytes / 2 || nowMs - guest.since < evictableAfterMs) return;
      moving -= guest.bytes;
      guest.evict();
    }
  }
}
