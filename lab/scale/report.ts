/** Tables of `npm run bench:scale`. */
import { quantile, type Measurement } from '../bench/load.ts';
import type { DoneAct } from './acts.ts';
import type { AnswerSize } from './latency.ts';
import type { StreamResult } from './stream.ts';

export interface LatencyRow {
  operation: string;
  small: Measurement;
  large: Measurement;
  /**
   * Answer sizes, [small, large]. They should be equal: otherwise the measurement would compare more than the database
   * size.
   */
  answers: readonly [AnswerSize, AnswerSize];
  /** True when the time grows with the matches, so that it is not compared with a target. */
  grows: boolean;
}

export const latencyGoal = 1.25;
export const extraMemoryGoalBytes = 64 * 1024 * 1024;

export function renderLatencies(rows: readonly LatencyRow[]): string {
  const lines = rows.map(({ operation, small, large, answers, grows }) => {
    const [before, after] = [quantile(small, 0.5), quantile(large, 0.5)];
    const tails = [quantile(small, 0.99), quantile(large, 0.99)];
    const ratio = after / before;
    return [
      operation,
      ...(['rows', 'matches'] as const).map((what) =>
        answers.map((answer) => String(Math.round(answer[what] * 10) / 10)).join(' / '),
      ),
      ...[before, after].map((ms) => ms.toFixed(2)),
      ratio.toFixed(2),
      ...(grows ? ['', 'with the matches'] : [`≤ ${latencyGoal}`, ratio <= latencyGoal ? 'yes' : 'NO']),
      ...tails.map((ms) => ms.toFixed(1)),
    ];
  });
  return renderTable(
    [
      'operation',
      'rows small / large',
      'matches',
      'small p50 ms',
      'large p50 ms',
      'ratio',
      'goal',
      'met',
      'small p99',
      'large p99',
    ],
    lines,
  );
}

/** Returns a table that compares only the large size with a target (P7). */
export function renderTails(rows: readonly LatencyRow[], p95GoalMs: number): string {
  const lines = rows.map(({ operation, small, large, answers, grows }) => {
    const p95 = quantile(large, 0.95);
    return [
      operation,
      answers.map(({ rows: count }) => String(Math.round(count * 10) / 10)).join(' / '),
      ...[quantile(small, 0.5), quantile(small, 0.95), quantile(large, 0.5), p95].map((ms) => ms.toFixed(1)),
      ...(grows ? ['', 'with the matches'] : [`< ${p95GoalMs}`, p95 < p95GoalMs ? 'yes' : 'NO']),
    ];
  });
  return renderTable(
    ['list', 'rows small / large', 'small p50 ms', 'small p95', 'large p50 ms', 'large p95', 'goal', 'met'],
    lines,
  );
}

export function renderActs(acts: readonly DoneAct[], goalSeconds: number): string {
  const lines = acts.map(({ name, matched, changed, seconds }) => [
    name,
    String(matched),
    String(changed),
    seconds.toFixed(2),
    `< ${goalSeconds}`,
    seconds < goalSeconds ? 'yes' : 'NO',
  ]);
  return renderTable(['act', 'matched', 'changed', 's', 'goal', 'met'], lines);
}

export function renderScans(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): string {
  const lines = [...after].map(([table, scans]) => {
    const during = scans - (before.get(table) ?? 0);
    return [table, String(during), during === 0 ? 'yes' : 'NO'];
  });
  return renderTable(['table', 'read from end to end', 'never'], lines);
}

export function renderStreams(streams: Readonly<Record<string, StreamResult & { remainingMs?: number }>>): string {
  const lines = Object.entries(streams).map(([size, { items, bytes, firstByteMs, seconds, remainingMs }]) => [
    size,
    String(items),
    (bytes / 1024 / 1024).toFixed(1),
    firstByteMs.toFixed(0),
    seconds.toFixed(1),
    remainingMs?.toFixed(0) ?? '',
  ]);
  return renderTable(
    ['search without a filter', 'items', 'MB', 'first byte ms', 'whole s', 'stopped after the reader left, ms'],
    lines,
  );
}

export function renderMemory({ memory }: StreamResult): string {
  const megabytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1);
  const lines = memory.map(({ name, beforeBytes, peakBytes }) => {
    const extra = peakBytes - beforeBytes;
    return [
      name,
      ...[beforeBytes, peakBytes, extra].map(megabytes),
      `< ${extraMemoryGoalBytes / 1024 / 1024}`,
      extra < extraMemoryGoalBytes ? 'yes' : 'NO',
    ];
  });
  return renderTable(['process', 'before MB', 'peak MB', 'extra MB', 'goal', 'met'], lines);
}

export function renderTable(headings: readonly string[], lines: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...lines.map((line) => line[column]?.length ?? 0)),
  );
  const render = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [render(headings), render(widths.map((width) => '-'.repeat(width))), ...lines.map(render)].join('\n');
}
