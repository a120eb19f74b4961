/**
 * Bounds the bytes that clients have in this process at the same time: of bodies that arrive, of answers that are taken. Nobody gets
 * a place in advance. Who brings bytes while there is no room for them waits, and who has been under way longest makes room: a
 * client that dribbles, not the next one (D62, D77).
 */
import { lookRegularly } from '#libs/transfer';

/** One transfer. */
export interface Guest {
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
const patienceMs = 2_000;

export class Room {
  readonly #maxBytes: number;
  /** Under way, the oldest first. */
  readonly #moving = new Set<Guest>();
  readonly #paused = new Set<Guest>();
  #bytes = 0;
  #stopLooking: (() => void) | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** More than half of the room is taken. */
  get isCrowded(): boolean {
    return this.#bytes > this.#maxBytes / 2;
  }

  enter(guest: Guest): void {
    this.#moving.add(guest);
  }

  /** Bytes that are here and move no more. @returns what ends their stay */
  keep(bytes: number): () => void {
    let kept = bytes;
    this.#bytes += bytes;
    return () => {
      this.#bytes -= kept;
      kept = 0;
      if (this.#bytes <= this.#maxBytes) this.#resume();
    };
  }

  /** The guest has so many bytes more, or less, than before. */
  change(guest: Guest, bytes: number): void {
    guest.bytes += bytes;
    this.#bytes += bytes;
    if (this.#bytes <= this.#maxBytes) return this.#resume();
    if (bytes <= 0) return;
    this.#paused.add(guest);
    guest.pause();
    this.#stopLooking ??= lookRegularly((nowMs) => this.#makeRoom(nowMs));
  }

  /** Nothing more will come; the bytes stay until `leave`. */
  settle(guest: Guest): void {
    this.#moving.delete(guest);
    this.#paused.delete(guest);
  }

  leave(guest: Guest): void {
    this.settle(guest);
    this.#bytes -= guest.bytes;
    guest.bytes = 0;
    if (this.#bytes <= this.#maxBytes) this.#resume();
  }

  #resume(): void {
    if (this.#stopLooking === undefined) return;
    this.#stopLooking();
    this.#stopLooking = undefined;
    const paused = [...this.#paused];
    this.#paused.clear();
    for (const guest of paused) guest.resume();
  }

  /** While what is under way takes less than half of the room, it is the work that has to end first. */
  #makeRoom(nowMs: number): void {
    let moving = 0;
    for (const { bytes } of this.#moving) moving += bytes;
    for (const guest of this.#moving) {
      if (this.#bytes <= this.#maxBytes || moving <= this.#maxBytes / 2 || nowMs - guest.since < patienceMs) return;
      moving -= guest.bytes;
      guest.evict();
    }
  }
}
