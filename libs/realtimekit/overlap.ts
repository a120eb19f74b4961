/** Which of a meeting's sessions or recordings the conversation was (architecture#a-recorded-meeting): the one that overlaps the window longest. */
import type { Instant } from '#libs/time';

/** A stretch of time; `end` is undefined while it lasts. */
export interface Span {
  readonly id: string;
  readonly start: Instant;
  readonly end: Instant | undefined;
}

/**
 * The one with the longest overlap, the earlier one when two overlap equally; undefined when none does.
 * @param window its end is undefined when it is not known; what has no end either counts up to the other's end.
 */
export function chooseByOverlap<S extends Span>(
  spans: readonly S[],
  window: { readonly start: Instant; readonly end: Instant | undefined },
): S | undefined {
  let best: { span: S; overlap: bigint } | undefined;
  for (const span of spans.toSorted(compareSpans)) {
    const end = earlier(span.end, window.end) ?? endless;
    const start = span.start > window.start ? span.start : window.start;
    const overlap = end - start;
    if (overlap > 0n && (best === undefined || overlap > best.overlap)) best = { span, overlap };
  }
  return best?.span;
}

const endless = 1n << 62n;

function earlier(a: Instant | undefined, b: Instant | undefined): Instant | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a < b ? a : b;
}

function compareSpans(a: Span, b: Span): number {
  if (a.start !== b.start) return a.start < b.start ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}
