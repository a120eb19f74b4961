/**
 * Decides which rows of an artifact are accepted by the window (rules/room#transcript-window, 7; D25 to D26a). Rows are
 * classified one by one. Mixed time bases are known only at the end of the artifact; `finish` then corrects the counts.
 */
import { isJsonObject, type JsonObject } from '#libs/infrastructure/json';
import { type Instant, parseInstant } from '#libs/infrastructure/time';
import { type ExclusionReason, exclusionReasons } from './evidence/contract.ts';

/** The approved time range of a session. `end` is after `start`. */
export interface Window {
  readonly start: Instant;
  readonly end: Instant;
}

export interface FilterContext {
  readonly window: Window;
  /** Instant from which offset times are counted. */
  readonly sessionStart: Instant;
}

/** A row completely inside the window. Times are microseconds from the window's start. */
export interface AcceptedRow {
  readonly startUs: bigint;
  readonly endUs: bigint;
  readonly sentence: string;
  /** The provider's description of the speaker, unchecked. */
  readonly peer: JsonObject;
}

export type Verdict = { kind: 'accepted'; row: AcceptedRow } | { kind: 'excluded'; reason: ExclusionReason };

/** Counts of one artifact. The sum of `accepted` and all exclusions equals `raw`. */
export interface FilterCounts {
  readonly raw: number;
  readonly accepted: number;
  readonly excludedByReason: Readonly<Record<ExclusionReason, number>>;
}

const exclusions: Readonly<Record<ExclusionReason, Verdict>> = {
  transcript_timestamp_malformed: { kind: 'excluded', reason: 'transcript_timestamp_malformed' },
  transcript_timestamp_ambiguous: { kind: 'excluded', reason: 'transcript_timestamp_ambiguous' },
  empty_sentence: { kind: 'excluded', reason: 'empty_sentence' },
  before_window_start: { kind: 'excluded', reason: 'before_window_start' },
  after_window_end: { kind: 'excluded', reason: 'after_window_end' },
  crosses_window_start: { kind: 'excluded', reason: 'crosses_window_start' },
  crosses_window_end: { kind: 'excluded', reason: 'crosses_window_end' },
};

/** Classifies rows by one window and counts them. */
export class RowFilter {
  readonly #context: FilterContext;
  readonly #excluded = new Map<ExclusionReason, number>();
  #accepted = 0;
  #raw = 0;
  #sawOffset = false;
  #sawAbsolute = false;

  constructor(context: FilterContext) {
    this.#context = context;
  }

  /** Whether both time bases were seen, so that no row with times can be trusted (D26a). */
  get mixesBases(): boolean {
    return this.#sawOffset && this.#sawAbsolute;
  }

  /**
   * Classifies the next row. The verdict `accepted` is final only if `mixesBases` is false at the end of the artifact.
   */
  classify(row: unknown): Verdict {
    this.#raw += 1;
    const verdict = this.#classify(row);
    if (verdict.kind === 'accepted') this.#accepted += 1;
    else this.#excluded.set(verdict.reason, (this.#excluded.get(verdict.reason) ?? 0) + 1);
    return verdict;
  }

  /** Returns the counts. If the artifact mixes time bases, every row that is not malformed counts as ambiguous. */
  finish(): FilterCounts {
    const excludedByReason = Object.fromEntries(
      exclusionReasons.map((reason) => [reason, this.#excluded.get(reason) ?? 0]),
    ) as Record<ExclusionReason, number>;
    if (!this.mixesBases) return { raw: this.#raw, accepted: this.#accepted, excludedByReason };
    const malformed = excludedByReason.transcript_timestamp_malformed;
    for (const reason of exclusionReasons) excludedByReason[reason] = 0;
    excludedByReason.transcript_timestamp_malformed = malformed;
    excludedByReason.transcript_timestamp_ambiguous = this.#raw - malformed;
    return { raw: this.#raw, accepted: 0, excludedByReason };
  }

  #classify(row: unknown): Verdict {
    if (!isJsonObject(row)) return exclusions.transcript_timestamp_malformed;
    const { startTime, endTime, sentence, peerData } = row;
    const start: ProviderTime =
      startTime === undefined || startTime === null
        ? { kind: 'malformed' }
        : readProviderTime(startTime, this.#context.sessionStart);
    const end: ProviderTime =
      endTime === undefined || endTime === null
        ? { kind: 'ambiguous' }
        : readProviderTime(endTime, this.#context.sessionStart);
    if (start.kind === 'malformed' || end.kind === 'malformed') return exclusions.transcript_timestamp_malformed;
    if (typeof sentence !== 'string' || sentence.includes('\u0000')) return exclusions.transcript_timestamp_malformed;
    if (start.kind === 'ambiguous' || end.kind === 'ambiguous') return exclusions.transcript_timestamp_ambiguous;
    if (start.base === end.base && end.instant < start.instant) return exclusions.transcript_timestamp_malformed;
    this.#sawOffset ||= start.base === 'offset' || end.base === 'offset';
    this.#sawAbsolute ||= start.base === 'absolute' || end.base === 'absolute';
    if (start.base !== end.base) return exclusions.transcript_timestamp_ambiguous;
    if (sentence.trim() === '') return exclusions.empty_sentence;
    const reason = compareWithWindow(start.instant, end.instant, this.#context.window);
    if (reason !== undefined) return exclusions[reason];
    const origin = this.#context.window.start;
    return {
      kind: 'accepted',
      row: {
        startUs: start.instant - origin,
        endUs: end.instant - origin,
        sentence,
        peer: isJsonObject(peerData) ? peerData : {},
      },
    };
  }
}

/**
 * Returns why a row is not completely inside the window, or undefined when it is. D25 defines the edges, D26a
 * zero-length rows.
 */
function compareWithWindow(start: Instant, end: Instant, window: Window): ExclusionReason | undefined {
  if (start < window.start) return end <= window.start ? 'before_window_start' : 'crosses_window_start';
  if (start >= window.end) return 'after_window_end';
  return end > window.end ? 'crosses_window_end' : undefined;
}

/**
 * Origin of a time: the session's start, or the calendar, whether as epoch milliseconds or as ISO 8601 with an offset.
 */
export type TimeBase = 'offset' | 'absolute';

export type ProviderTime =
  | { kind: 'time'; base: TimeBase; instant: Instant }
  | { kind: 'malformed' }
  | { kind: 'ambiguous' };

/** Maximum milliseconds from the session's start: the seven days for which the provider stores a session. */
const maxOffsetMs = 604_799_999;
/** Minimum epoch milliseconds. Accepted values range from September 2001 to November 2286. */
const minEpochMs = 1e12;
const maxEpochMs = 1e13;

/** Maximum length of a time; longer than any valid time. It prevents the patterns from scanning long hostile text. */
const maxTextLength = 64;
const numericText = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/;
const malformed: ProviderTime = { kind: 'malformed' };
const ambiguous: ProviderTime = { kind: 'ambiguous' };

/** Parses a time value that is present and not null. `sessionStart` is the origin of offsets. */
export function readProviderTime(value: unknown, sessionStart: Instant): ProviderTime {
  if (typeof value === 'number') {
    if (!Number.isInteger(value)) return ambiguous;
    if (value >= 0 && value <= maxOffsetMs)
      return { kind: 'time', base: 'offset', instant: sessionStart + BigInt(value) * 1000n };
    if (value >= minEpochMs && value <= maxEpochMs)
      return { kind: 'time', base: 'absolute', instant: BigInt(value) * 1000n };
    return ambiguous;
  }
  if (typeof value !== 'string' || value.length > maxTextLength) return malformed;
  const parsed = parseInstant(value);
  if (parsed.kind === 'instant') return { kind: 'time', base: 'absolute', instant: parsed.instant };
  return parsed.kind === 'naive' || numericText.test(value) ? ambiguous : malformed;
}
