/**
 * `node lab/predict/main.ts`: what 1, 10, 100 and 1,000 times the load of docs/guides/sizing.md need, and what a cluster gives way at first, predicted from
 * lab/cost/measured.json; the tables of docs/scaling.md.
 *   --check       measures instead what processes that are limited to a tenth of a core do, beside what is predicted of them (needs root); ends with
 *                 status 1 where one is off by more than a fifth
 *   --seconds N   of each measurement (default 10)
 */
import { parseArgs } from 'node:util';
import { toTable } from '../cost/costs.ts';
import { readMeasured, renderLimits, renderNeeds } from './tables.ts';

/** Part of what was measured by which a prediction may differ from it. */
const tolerated = 0.2;

const { values } = parseArgs({
  options: { check: { type: 'boolean', default: false }, seconds: { type: 'string', default: '10' } },
});
if (values.check) {
  const { compare, coresOfProcess, describe } = await import('./check.ts');
  const reading = { 'read a conversation': 3, 'change a conversation (PATCH)': 1 };
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  const rows = await compare(
    [
      { limited: 'gateway', mixes: [{ 'read a conversation': 1 }, reading] },
      { limited: 'conversations', mixes: [reading] },
    ],
    [1, 2, 4],
    Number(values.seconds),
    say,
  );
  const heads = ['requests; what is limited', `processes of ${coresOfProcess} cores`, 'predicted a second', 'measured', 'difference'];
  const judged = rows.map((row) => ({ ...row, difference: (row.predicted - row.measured) / row.measured }));
  const cells = judged.map(({ replicas, predicted, measured, difference, ...row }) => [
    describe(row),
    String(replicas),
    predicted.toFixed(0),
    measured.toFixed(0),
    `${(difference * 100).toFixed(0)} %`,
  ]);
  process.stdout.write(`${toTable(heads, cells)}\n`);
  const wrong = judged.filter(({ difference }) => !(Math.abs(difference) <= tolerated));
  if (wrong.length > 0) {
    say(`${wrong.length} of ${rows.length} predictions are off by more than ${tolerated * 100} %`);
    process.exitCode = 1;
  }
} else {
  const measured = readMeasured();
  process.stdout.write(`${renderNeeds(measured)}\n\n${renderLimits(measured)}\n`);
}
