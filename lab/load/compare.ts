/**
 * `node lab/load/compare.ts BEFORE.json AFTER.json [--tolerance 0.2]`: prints the comparison of two summaries as
 * Markdown. Exits with 1 if the second summary is worse, and with 2 if they cannot be compared. `compare.ts RUN.json
 * --phases first,second` compares two phases of one run.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { compareSummaries, type LoadSummary, selectPhase } from './comparison.ts';

const read = (file: string): LoadSummary => JSON.parse(readFileSync(file, 'utf8')) as LoadSummary;
const usage =
  'usage: node lab/load/compare.ts BEFORE.json AFTER.json | RUN.json --phases FIRST,SECOND [--tolerance 0.2]';

function readBoth(files: readonly string[], phases: readonly string[]): [LoadSummary, LoadSummary] {
  const [first, second] = files;
  const [phase, laterPhase] = phases;
  if (first !== undefined && second !== undefined && phases.length === 0) return [read(first), read(second)];
  if (first === undefined || second !== undefined || phase === undefined || laterPhase === undefined)
    throw new Error(usage);
  return [selectPhase(read(first), phase), selectPhase(read(first), laterPhase)];
}

try {
  const options = { tolerance: { type: 'string', default: '0.2' }, phases: { type: 'string' } } as const;
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  const tolerance = Number(values.tolerance);
  if (!(tolerance >= 0)) throw new Error(usage);
  const [before, after] = readBoth(positionals, values.phases?.split(',') ?? []);
  const { markdown, worse } = compareSummaries(before, after, tolerance);
  process.stdout.write(markdown);
  process.exitCode = worse.length === 0 ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
