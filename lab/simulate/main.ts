/**
 * `node lab/simulate/main.ts`: what faults cost under many times the load of docs/guides/sizing.md, as a table.
 *   --factor N    times that load (default 100)
 *   --busy N      share of their time that parts work without a fault (default 0.5)
 *   --seed N      (default 1)
 */
import { parseArgs } from 'node:util';
import { toTable } from '../cost/costs.ts';
import { describeScenarios } from './scenarios.ts';
import { simulate } from './simulation.ts';

const { values } = parseArgs({
  options: { factor: { type: 'string', default: '100' }, busy: { type: 'string', default: '0.5' }, seed: { type: 'string', default: '1' } },
});
const heads = [
  'what happens',
  'requests',
  'refused',
  'seconds with refusals',
  'longest wait',
  'most jobs waiting',
  'jobs as quick as before after',
];
const rows = Object.entries(describeScenarios(Number(values.factor), Number(values.busy))).map(([title, scenario]) => {
  const { asked, refused, unavailableSeconds, longestWaitMs, mostJobs, recoveredAfterSeconds } = simulate(scenario, Number(values.seed));
  const recovered = recoveredAfterSeconds === undefined ? 'not within the hour' : `${recoveredAfterSeconds.toFixed(0)} s`;
  return [
    title,
    ...[asked, refused, unavailableSeconds].map(String),
    `${(longestWaitMs / 1_000).toFixed(1)} s`,
    String(mostJobs),
    recovered,
  ];
});
process.stdout.write(`${toTable(heads, rows)}\n`);
