/**
 * Writes the transcript as Markdown in chunks (rules/transcripts#transcript-file; D24, D24a). Text and names are
 * untrusted: line breaks in them become spaces, so that a text cannot forge a heading, a speaker or another run.
 */
import { toLine, type TranscriptRow, type TranscriptWriter, type WriterOptions } from './row.ts';

export interface TranscriptHead {
  readonly id: number;
  readonly title: string;
  readonly journey: string | null;
  readonly event: string | null;
  readonly start: string | null;
  readonly finish: string | null;
  readonly participants: readonly string[];
}

/** Returns an offset as `MM:SS`, rounded down. Minutes exceed 59. */
export function formatOffset(us: number): string {
  const seconds = Math.max(0, Math.floor(us / 1_000_000));
  return `${String(Math.floor(seconds / 60)).padStart(2, '0')}:${String(seconds % 60).padStart(2, '0')}`;
}

/** Returns the head of the file: title, existing metadata and the heading of the transcript. */
export function writeMarkdownHead(head: TranscriptHead): string {
  const options: [string, string | null][] = [
    ['Conversation', String(head.id)],
    ['Journey', head.journey],
    ['Event', head.event],
    ['Start', head.start],
    ['Finish', head.finish],
    ['Participants', head.participants.map(toLine).join(', ')],
  ];
  const lines = options.flatMap(([name, value]) =>
    value === null || toLine(value) === '' ? [] : [`- ${name}: ${toText(value)}`],
  );
  return `# ${toText(head.title)}\n\n${lines.join('\n')}\n\n## Transcript\n`;
}

/** Merges consecutive rows of one speaker into runs. Writes the runs of `onlyPersonId`, or all runs, below a head. */
export class MarkdownWriter implements TranscriptWriter {
  readonly #head: string;
  readonly #nameOf: (personId: number) => string;
  readonly #onlyPersonId: number | undefined;
  #speaker: number | undefined;
  #runHasText = false;

  constructor(head: string, { nameOf, filterPersonId }: WriterOptions) {
    this.#head = head;
    this.#nameOf = nameOf;
    this.#onlyPersonId = filterPersonId;
  }

  start(): string {
    return this.#head;
  }

  /** Returns the text of the next rows. A run can continue in the next call. */
  write(rows: readonly TranscriptRow[]): string {
    let out = '';
    for (const row of rows) {
      const isVisible = this.#onlyPersonId === undefined || row.personId === this.#onlyPersonId;
      if (row.personId !== this.#speaker) {
        if (this.#isOpen()) out += '\n';
        this.#speaker = row.personId;
        this.#runHasText = false;
        if (isVisible) out += `\n**${toName(this.#nameOf(row.personId))}** (${formatOffset(row.startUs)})\n`;
      }
      if (!isVisible) continue;
      const text = toText(row.text);
      out += this.#runHasText ? ` ${text}` : guardLineStart(text);
      this.#runHasText = true;
    }
    return out;
  }

  /** Returns the end of the last run. */
  finish(): string {
    return this.#isOpen() ? '\n' : '';
  }

  #isOpen(): boolean {
    return this.#runHasText;
  }
}

/** Escapes a name for use between the `**` of its run. */
function toName(name: string): string {
  return withoutHtml(toLine(name).replaceAll(/[\\*]/g, String.raw`\$&`));
}

/** Escapes a text: one line, with HTML shown as text. */
function toText(text: string): string {
  return withoutHtml(toLine(text));
}

function withoutHtml(line: string): string {
  return line.replaceAll(/<(?=[a-z/!?])/gi, String.raw`\<`);
}

/**
 * Prevents a text from starting a Markdown block: a heading, a code fence, a setext underline, a rule, or a link
 * definition, which is not shown.
 */
function guardLineStart(text: string): string {
  return /^(?:#{1,6}(?:\s|$)|`{3}|~{3}|=+$|-+$|\[[^\]]+\]:|[*_][*_ \t]*$)/.test(text) ? `\\${text}` : text;
}
