/**
 * Input and interface of the writers for all transcript formats (rules/transcripts#transcript-file). Text and names are
 * untrusted.
 */

/** One stored row. */
export interface TranscriptRow {
  /**
   * Start in microseconds from the window's start, or from the conversation's start for rows that were never filtered
   * by a window.
   */
  readonly startUs: number;
  readonly endUs: number;
  /** Id of the person, or the negative number of an unresolved speaker. */
  readonly personId: number;
  readonly text: string;
}

/** Writes one file in chunks. Call `start` once, `write` for the rows in stored order, and `finish` once. */
export interface TranscriptWriter {
  start(): string;
  write(rows: readonly TranscriptRow[]): string;
  finish(): string;
}

/** Settings of a writer. */
export interface WriterOptions {
  readonly nameOf: (personId: number) => string;
  /** Writes only this speaker's rows; undefined = all rows. */
  readonly filterPersonId: number | undefined;
  /** Index of the first row in the whole transcript. By default 0. */
  readonly firstIndex?: number;
}

/** Replaces line breaks with a space. */
export function toLine(text: string): string {
  return text.replaceAll(/[\n\r\v\f\u0085\u2028\u2029]+/g, ' ').trim();
}
