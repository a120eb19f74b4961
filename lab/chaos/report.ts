/** Renders the results table of a run: the injected faults and their effects on clients. */
import type { Problem } from './checker/check-history.ts';
import type { Entry } from './history.ts';

export interface Turn {
  readonly fault: string;
  /** Process or server that the fault affected. */
  readonly target: string;
  /**
   * Milliseconds from the start of the run to the fault (`from`), and to the time when all requests were answered again
   * (`to`).
   */
  readonly from: number;
  readonly to: number;
}

export interface Row {
  readonly fault: string;
  readonly times: number;
  readonly requests: number;
  /** Number of requests without an answer, or with a retryable answer. */
  readonly unanswered: number;
  readonly lost: number;
  readonly doubled: number;
  /** Seconds during which requests of at least one kind were not answered. */
  readonly unavailable: number;
}

export function summarize(entries: readonly Entry[], turns: readonly Turn[], problems: readonly Problem[]): Row[] {
  const outages = listOutages(entries);
  return [...Map.groupBy(turns, ({ fault }) => fault)].map(([fault, some]) => {
    const during = (time: number): boolean => some.some(({ from, to }) => time >= from && time < to);
    const requested = entries.filter(({ from }) => during(from));
    const count = (what: Problem['what']): number =>
      problems.filter((problem) => problem.what === what && problem.entries.some(({ from }) => during(from))).length;
    return {
      fault,
      times: some.length,
      requests: requested.length,
      unanswered: requested.filter(({ outcome }) => outcome === 'unknown').length,
      lost: count('lost'),
      doubled: count('doubled'),
      unavailable: some.reduce((sum, turn) => sum + overlap(outages, turn), 0) / 1000,
    };
  });
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the outages of each kind of request, from a failed request to the next successful one. Overlapping outages
 * are joined.
 */
export function listOutages(entries: readonly Entry[]): Span[] {
  const spans = [...Map.groupBy(entries, ({ kind }) => kind).values()].flatMap((some) => {
    const done = some.filter(({ outcome }) => outcome === 'done');
    return some
      .filter(({ outcome }) => outcome === 'unknown')
      .map(({ from, to }) => {
        const next = done
          .filter((entry) => entry.to > from)
          .reduce((least, entry) => Math.min(least, entry.to), Infinity);
        return { from, to: next === Infinity ? to : next };
      });
  });
  const joined: Span[] = [];
  for (const span of spans.toSorted((one, other) => one.from - other.from)) {
    const last = joined.at(-1);
    if (last !== undefined && span.from <= last.to)
      joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, span.to) };
    else joined.push(span);
  }
  return joined;
}

const overlap = (spans: readonly Span[], { from, to }: Span): number =>
  spans.reduce((sum, span) => sum + Math.max(0, Math.min(to, span.to) - Math.max(from, span.from)), 0);

export function formatTable(rows: readonly Row[]): string {
  const lines = rows.map(({ fault, times, requests, unanswered, lost, doubled, unavailable }) =>
    [fault, times, requests, unanswered, lost, doubled, unavailable.toFixed(1)].join(' | '),
  );
  const head = 'fault | times | requests | unanswered | lost | doubled | unavailable s';
  return [`| ${head} |`, '|---|---:|---:|---:|---:|---:|---:|', ...lines.map((line) => `| ${line} |`)].join('\n');
}
