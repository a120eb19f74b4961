/**
 * Compares two summaries of one suite, and reports the operations that became slower by more than the usual variation
 * between runs.
 */

/** Summary in the format that test/load/summary.js writes. */
export interface LoadSummary {
  readonly format: number;
  readonly suite: string;
  readonly release: string;
  readonly passed: boolean;
  readonly load: Readonly<Record<string, string | number>>;
  readonly failed_share: number;
  readonly personas: Readonly<Record<string, Times & { readonly failed_share: number }>>;
  readonly operations: Readonly<Record<string, Times>>;
}

interface Times {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export interface Comparison {
  readonly markdown: string;
  /** Names of what is worse in the second summary: operations, or `failed requests`. */
  readonly worse: readonly string[];
}

/** Differences below this many milliseconds are regarded as noise. */
const noiseMs = 5;

/**
 * Returns one phase of a run as a summary, so that phases can be compared, e.g. `first` and `second` of a soak.
 * @throws Error if the run does not have this phase
 */
export function selectPhase(summary: LoadSummary, phase: string): LoadSummary {
  const ending = ` (${phase})`;
  const select = <Value extends Times>(all: Readonly<Record<string, Value>>): Record<string, Value> =>
    Object.fromEntries(
      Object.entries(all).flatMap(([name, value]) =>
        name.endsWith(ending) ? [[name.slice(0, -ending.length), value] as const] : [],
      ),
    );
  const personas = select(summary.personas);
  const part = { ...summary, release: phase, personas, operations: select(summary.operations) };
  const requests = countRequests(part);
  if (requests === 0) throw new Error(`the run of the suite ${summary.suite} has no part "${phase}"`);
  const failed = Object.values(personas).reduce((sum, { count, failed_share }) => sum + count * failed_share, 0);
  return { ...part, failed_share: failed / requests };
}

/**
 * @param tolerance allowed relative increase of a 50th or 95th percentile
 * @throws Error if the summaries do not measure the same operations
 */
export function compareSummaries(before: LoadSummary, after: LoadSummary, tolerance: number): Comparison {
  if (before.format !== after.format)
    throw new Error(`the summaries have the formats ${before.format} and ${after.format}`);
  if (before.suite !== after.suite)
    throw new Error(`the summaries are of different suites: ${before.suite} and ${after.suite}`);
  const [loadBefore, loadAfter] = [describeLoad(before), describeLoad(after)];
  if (loadBefore !== loadAfter) throw new Error(`the runs had different loads: ${loadBefore}; ${loadAfter}`);
  const worse: string[] = [];
  const rows: string[] = [];
  for (const name of new Set([...Object.keys(before.operations), ...Object.keys(after.operations)])) {
    const [a, b] = [before.operations[name], after.operations[name]];
    if (a === undefined || b === undefined) {
      rows.push(`| ${name} | ${a === undefined ? 'absent' : a.p95} | ${b === undefined ? 'absent' : b.p95} | | | | |`);
      worse.push(name);
      continue;
    }
    const isWorse = isSlower(a.p50, b.p50, tolerance) || isSlower(a.p95, b.p95, tolerance);
    if (isWorse) worse.push(name);
    const verdict = isWorse ? 'slower' : isSlower(b.p95, a.p95, tolerance) ? 'faster' : '';
    rows.push(
      `| ${[name, a.p50, b.p50, change(a.p50, b.p50), a.p95, b.p95, change(a.p95, b.p95), verdict].join(' | ')} |`,
    );
  }
  if (after.failed_share > before.failed_share) worse.push('failed requests');
  if (before.passed && !after.passed) worse.push('thresholds');
  const percent = (share: number): string => `${(share * 100).toFixed(3)} %`;
  const markdown = [
    `# ${before.suite}: ${before.release} → ${after.release}`,
    '',
    `requests ${countRequests(before)} → ${countRequests(after)}; failed ${percent(before.failed_share)} → ${percent(after.failed_share)}; ` +
      `tolerance ${Math.round(tolerance * 100)} %`,
    '',
    `| operation | p50 ms ${before.release} | ${after.release} | change | p95 ms ${before.release} | ${after.release} | change | |`,
    '|---|---|---|---|---|---|---|---|',
    ...rows,
    '',
    worse.length === 0 ? 'Nothing is worse.' : `Worse: ${worse.join(', ')}.`,
    '',
  ].join('\n');
  return { markdown, worse };
}

function countRequests({ personas }: LoadSummary): number {
  return Object.values(personas).reduce((sum, { count }) => sum + count, 0);
}

function isSlower(before: number, after: number, tolerance: number): boolean {
  return after > before * (1 + tolerance) && after - before > noiseMs;
}

function change(before: number, after: number): string {
  if (before === 0) return '';
  const percent = Math.round((after / before - 1) * 100);
  return `${percent > 0 ? '+' : ''}${percent} %`;
}

function describeLoad({ load }: LoadSummary): string {
  return Object.entries(load)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}
