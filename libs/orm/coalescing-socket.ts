import { Socket } from 'node:net';

/**
 * A socket on which the statements of one turn of the event loop leave in one write. pg corks the socket around the messages of each
 * statement; the first of a turn keeps it corked until the turn ends.
 */
export class CoalescingSocket extends Socket {
  #gathers = false;

  override cork(): void {
    super.cork();
    if (this.#gathers) return;
    this.#gathers = true;
    super.cork();
    setImmediate(() => {
      this.#gathers = false;
      this.uncork();
    });
  }
}
