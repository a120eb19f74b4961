/**
 * `node tools/load/compare.ts BEFORE.json AFTER.json [--tolerance 0.2]`: prints the comparison of two summaries as Markdown. Exit status 1 when
 * the second is worse, 2 when they cannot be compared.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { compareSummaries, type LoadSummary } from './comparison.ts';

const read = (file: string): LoadSummary => JSON.parse(readFileSync(file, 'utf8')) as LoadSummary;

try {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { tolerance: { type: 'string', default: '0.2' } } });
  const [before, after] = positionals;
  const tolerance = Number(values.tolerance);
  if (before === undefined || after === undefined || !(tolerance >= 0)) {
    throw new Error('usage: node tools/load/compare.ts BEFORE.json AFTER.json [--tolerance 0.2]');
  }
  const { markdown, worse } = compareSummaries(read(before), read(after), tolerance);
  process.stdout.write(markdown);
  process.exitCode = worse.length === 0 ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
