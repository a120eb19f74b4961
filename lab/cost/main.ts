/**
 * `npm run bench:cost`: measures the cost of each kind of request per component (processor, memory, connections, syncs,
 * bytes), and prints the tables of docs/scaling.md.
 * - `--seconds N`: length of the measurement per kind of request (4)
 * - `--only TEXT`: only kinds of requests whose name contains TEXT
 */
import { parseArgs } from 'node:util';
import { renderCosts } from './costs.ts';
import { measure } from './measure.ts';

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '4' }, only: { type: 'string', default: '' } },
});
const measured = await measure(
  Number(values.seconds),
  (operation) => operation.includes(values.only),
  (line) => void process.stderr.write(`${line}\n`),
);
process.stdout.write(
  `${renderCosts(measured)}\n\n${measured.machine}; ${measured.syncsPerSecond} synced writes a second\n`,
);
