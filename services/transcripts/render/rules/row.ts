/** What the formats of a transcript are written from, and how (rules/transcripts#transcript-file). Text and names come from strangers. */

/** One stored row, in stored order. */
export interface TranscriptRow {
  /** Microseconds from the window's start; of rows that were never cut from the conversation's start. */
  readonly startUs: number;
  readonly endUs: number;
  /** Person, or negative unresolved speaker. */
  readonly personId: number;
  readonly text: string;
}

/** Writes one file piece by piece: `start` once, `write` for the rows in stored order, `finish` once. */
export interface TranscriptWriter {
  start(): string;
  write(rows: readonly TranscriptRow[]): string;
  finish(): string;
}

/** What a writer knows besides the rows. */
export interface WriterOptions {
  readonly nameOf: (personId: number) => string;
  /** Only this speaker; undefined = all. */
  readonly filterPersonId: number | undefined;
  /** Place of the first row in the whole transcript; default 0. */
  readonly firstIndex?: number;
}

/** One line: line breaks become a space. */
export function toLine(text: string): string {
  return text.replaceAll(/[\n\r\v\f\u0085\u2028\u2029]+/g, ' ').trim();
}
