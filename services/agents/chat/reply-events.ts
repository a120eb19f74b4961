/** Server-sent events of a turn: snapshots of the reply while the model writes, then the recorded turn (C1). */
import { setTimeout as sleep } from 'node:timers/promises';
import { toStorableText } from '#libs/infrastructure/json';
import type { TextListener } from '#libs/infrastructure/openai';

/** Minimum time between snapshots. The time is longer if rendering takes more than a tenth of it. */
const minPauseMs = 80;
const pausePerRenderTime = 10;

/** Latest text of the model. A reader skips intermediate states. */
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

  /** Resolves when there is unread text. */
  async waitForText(): Promise<void> {
    if (this.#text === this.#readUpTo) await this.#changed.promise;
  }

  /** Drops the unread text and all later text. */
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
 * Yields the current state of the reply whenever the consumer is ready. If the consumer disconnects, the turn
 * continues; the generator waits for it, so that a stopping service waits too (C2).
 */
export async function* writeEvents<Turn>(
  reply: PartialReply,
  turn: Promise<Turn>,
  render: (unfinished: string) => string,
): AsyncGenerator<string> {
  const settled = turn.then(
    () => true,
    () => true,
  );
  const isSettledBefore = (event: Promise<unknown>): Promise<boolean> =>
    Promise.race([settled, event.then(() => false)]);
  try {
    let lastHtml = '';
    while (!(await isSettledBefore(reply.waitForText()))) {
      const startedMs = performance.now();
      const html = render(toStorableText(reply.readText()).trim()); // D75
      // Text that is now recognised as thoughts leaves the visible reply unchanged (D84).
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
