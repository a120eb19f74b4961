/** A turn as server-sent events while the model writes: snapshots of the reply so far, at last the recorded turn (C1). */
import { setTimeout as sleep } from 'node:timers/promises';
import { toStorableText } from '#libs/json';
import type { TextListener } from '#libs/openai';

/** Time between two snapshots; longer where making one takes more than a tenth of it. */
const minPauseMs = 80;
const pausePerRenderTime = 10;

/** What the model has written so far; a snapshot is made of the newest, whatever was missed in between. */
export class PartialReply {
  #text = '';
  #readUpTo = '';
  #isDiscarded = false;
  #changed = Promise.withResolvers<void>();

  readonly listener: TextListener = (content) => {
    if (this.#isDiscarded) return;
    this.#text = content;
    this.#changed.resolve();
  };

  /** Resolves when there are words that nobody has taken. */
  async waitForText(): Promise<void> {
    if (this.#text === this.#readUpTo) await this.#changed.promise;
  }

  /** Drops words that were not taken, and all that follow. */
  discard(): void {
    this.#isDiscarded = true;
    this.#text = this.#readUpTo;
  }

  readText(): string {
    this.#readUpTo = this.#text;
    this.#changed = Promise.withResolvers();
    return this.#readUpTo;
  }
}

/**
 * Whoever takes the events gets what there is at that moment. Who leaves does not end the turn: the source ends with it, so that a service that
 * stops waits for it (C2).
 */
export async function* writeEvents<Turn>(
  words: PartialReply,
  turn: Promise<Turn>,
  render: (unfinished: string) => string,
): AsyncGenerator<string> {
  const settled = turn.then(
    () => true,
    () => true,
  );
  const isSettledBefore = (event: Promise<unknown>): Promise<boolean> => Promise.race([settled, event.then(() => false)]);
  try {
    let lastHtml = '';
    while (!(await isSettledBefore(words.waitForText()))) {
      const startedMs = performance.now();
      const html = render(toStorableText(words.readText()).trim()); // D75
      // Nothing is shown again of what turns out to be a thought (D84).
      if (html === lastHtml) continue;
      lastHtml = html;
      const pauseMs = Math.max(minPauseMs, pausePerRenderTime * (performance.now() - startedMs));
      yield writeEvent('snapshot', { agent_html: html });
      await isSettledBefore(sleep(pauseMs));
    }
    yield writeEvent('done', await turn);
  } finally {
    await settled;
  }
}

function writeEvent(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
