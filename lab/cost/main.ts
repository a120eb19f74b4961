/**
 * `npm run bench:cost`: measures the cost of each kind of request per part (processor, memory, connections, syncs,
 * bytes), and prints it as the tables of docs/scaling.md. --seconds N per kind (default 4) --only TEXT only kinds whose
 * name contains TEXT
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
