/**
 * Tables of `npm run bench`: the platform compared with the baseline of the same run, and the memory of its services.
 */
import { quantile, type Measurement } from './load.ts';
import type { MemoryRow } from './memory.ts';

export interface Row {
  operation: string;
  floor: string;
  platformRate: number;
  floorRate: number;
  /** Milliseconds; absent for job throughput. */
  platform?: Measurement;
  floorMeasurement?: Measurement;
  goal?: number;
  /** Set if the displayed ratio is not the ratio of the rates. */
  ratio?: number;
}

const headings = [
  'operation',
  'platform/s',
  'p50 ms',
  'p99 ms',
  'floor/s',
  'p50 ms',
  'p99 ms',
  'ratio',
  'goal',
  'floor',
];

export function renderTable(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.operation,
    Math.round(row.platformRate).toString(),
    ...latency(row.platform),
    Math.round(row.floorRate).toString(),
    ...latency(row.floorMeasurement),
    (row.ratio ?? row.platformRate / row.floorRate).toFixed(2),
    row.goal?.toFixed(2) ?? '',
    row.floor,
  ]);
  return renderLines([headings, ...cells]);
}

/** Returns a table of memory in MB, in which values over the target are marked. */
export function renderMemory(rows: readonly MemoryRow[]): string {
  const cells = rows.map(({ service, megabytes, goal }) => [
    service,
    megabytes.toFixed(0),
    `≤ ${goal}`,
    megabytes <= goal ? 'kept' : `${(megabytes - goal).toFixed(0)} MB too much`,
  ]);
  return renderLines([['service', 'PSS MB', 'goal', ''], ...cells]);
}

function renderLines([headings = [], ...cells]: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...cells.map((line) => line[column]?.length ?? 0)),
  );
  const line = (values: readonly string[]): string =>
    `| ${values.map((value, column) => value.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(headings), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n');
}

function latency(measurement: Measurement | undefined): [string, string] {
  if (measurement === undefined) return ['', ''];
  return [quantile(measurement, 0.5).toFixed(1), quantile(measurement, 0.99).toFixed(1)];
}
