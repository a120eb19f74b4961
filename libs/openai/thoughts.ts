/**
 * What a model thinks before it answers (rules/providers#language-models). Most servers tell it in a field of its own, which is not read; some make parts
 * of the answer, and some leave it at the beginning, between these signs. It is for no reader: it quotes what the model was told in confidence.
 */
const opening = '<think>';
const closing = '</think>';

/** Takes an answer in pieces, cut anywhere, and gives back what is behind the thoughts. */
export class ThoughtFilter {
  #state: 'before' | 'thinking' | 'behind' = 'before';
  /** What may be part of a sign. */
  #held = '';

  push(piece: string): string {
    this.#held += piece;
    while (this.#step());
    return this.#state === 'behind' ? this.#release() : '';
  }

  /** What is held back when nothing more comes. Thoughts without an end are no answer. */
  finish(): string {
    return this.#state === 'thinking' ? '' : this.#release();
  }

  /** False when it takes more to go on. */
  #step(): boolean {
    if (this.#state === 'behind') return false;
    if (this.#state === 'thinking') {
      const end = this.#held.indexOf(closing);
      this.#held = end < 0 ? this.#held.slice(-closing.length) : this.#held.slice(end + closing.length);
      if (end >= 0) this.#state = 'before';
      return end >= 0;
    }
    this.#held = this.#held.trimStart();
    if (this.#held.startsWith(opening)) this.#state = 'thinking';
    else if (!opening.startsWith(this.#held)) this.#state = 'behind';
    return this.#state === 'thinking';
  }

  #release(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }
}

export function dropThoughts(answer: string): string {
  const filter = new ThoughtFilter();
  return filter.push(answer) + filter.finish();
}

/** What a message says: its text, or that of its parts which are text. Undefined when it has none. */
export function textOf(content: unknown): string | undefined {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : undefined;
  return content.map((part: { type?: unknown; text?: unknown } | null) => (part?.type === 'text' ? textOf(part.text) : '')).join('');
}
