/** Input and interface of the transcript formats (rules/transcripts#transcript-file). Text and names are untrusted. */

/** One stored row, in stored order. */
export interface TranscriptRow {
  /**
   * Microseconds from the window's start, or from the conversation's start for rows that were never filtered by a
   * window.
   */
  readonly startUs: number;
  readonly endUs: number;
  /** Person, or negative unresolved speaker. */
  readonly personId: number;
  readonly text: string;
}

/** Writes one file in chunks: `start` once, `write` for the rows in stored order, `finish` once. */
export interface TranscriptWriter {
  start(): string;
  write(rows: readonly TranscriptRow[]): string;
  finish(): string;
}

/** Settings of a writer. */
export interface WriterOptions {
  readonly nameOf: (personId: number) => string;
  /** Only this speaker; undefined = all. */
  readonly filterPersonId: number | undefined;
  /** Index of the first row in the whole transcript; default 0. */
  readonly firstIndex?: number;
}

/** Replaces line breaks with a space. */
export function toLine(text: string): string {
  return text.replaceAll(/[\n\r\v\f\u0085\u2028\u2029]+/g, ' ').trim();
}
