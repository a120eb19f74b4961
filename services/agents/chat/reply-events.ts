/** A turn as server-sent events while the model writes: snapshots of the reply so far, at last the recorded turn (C1). */
import { setTimeout as sleep } from 'node:timers/promises';
import { toStorableText } from '#libs/json';
import type { Listener } from '#libs/openai';

/** Time between two snapshots; longer where making one takes more than a tenth of it. */
const leastPauseMs = 80;
const pauseOfWork = 10;

/** What the model has written so far; a snapshot is made of the newest, whatever was missed in between. */
export class WordsSoFar {
  #words = '';
  #seen = '';
  #isDiscarded = false;
  #wake = Promise.withResolvers<void>();

  readonly listener: Listener = (content) => {
    if (this.#isDiscarded) return;
    this.#words = content;
    this.#wake.resolve();
  };

  /** Resolves when there are words that nobody has taken. */
  async arrive(): Promise<void> {
    if (this.#words === this.#seen) await this.#wake.promise;
  }

  /** Drops words that were not taken, and all that follow. */
  discard(): void {
    this.#isDiscarded = true;
    this.#words = this.#seen;
  }

  take(): string {
    this.#seen = this.#words;
    this.#wake = Promise.withResolvers();
    return this.#seen;
  }
}

/**
 * Whoever takes the events gets what there is at that moment. Who leaves does not end the turn: the source ends with it, so that a service that
 * stops waits for it (C2).
 */
export async function* writeEvents<Turn>(
  words: WordsSoFar,
  turn: Promise<Turn>,
  render: (unfinished: string) => string,
): AsyncGenerator<string> {
  const over = turn.then(
    () => true,
    () => true,
  );
  const isOver = (event: Promise<unknown>): Promise<boolean> => Promise.race([over, event.then(() => false)]);
  try {
    let shown = '';
    while (!(await isOver(words.arrive()))) {
      const startedMs = performance.now();
      const html = render(toStorableText(words.take()).trim()); // D75
      // Nothing is shown again of what turns out to be a thought (D84).
      if (html === shown) continue;
      shown = html;
      const pauseMs = Math.max(leastPauseMs, pauseOfWork * (performance.now() - startedMs));
      yield writeEvent('snapshot', { agent_html: html });
      await isOver(sleep(pauseMs));
    }
    yield writeEvent('done', await turn);
  } finally {
    await over;
  }
}

function writeEvent(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
