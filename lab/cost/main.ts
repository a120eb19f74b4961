/**
 * `npm run bench:cost`: measures what each kind of request costs at each part (processor, memory, connections, syncs, bytes), prints it as the tables
 * of docs/scaling.md and, with `--save`, keeps it in lab/cost/measured.json, from where the model takes it.
 *   --seconds N   of each kind (default 4)
 *   --only TEXT   only kinds whose name contains it; --save takes their rows alone into what is kept
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type MeasuredCosts, renderCosts, replaceRows } from './costs.ts';
import { measure } from './measure.ts';

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '4' }, only: { type: 'string', default: '' }, save: { type: 'boolean', default: false } },
});
const measured = await measure(
  Number(values.seconds),
  (operation) => operation.includes(values.only),
  (line) => void process.stderr.write(`${line}\n`),
);
if (values.save) {
  const file = join(import.meta.dirname, 'measured.json');
  const kept = values.only === '' ? measured : replaceRows(JSON.parse(readFileSync(file, 'utf8')) as MeasuredCosts, measured.operations);
  writeFileSync(file, `${JSON.stringify(kept, null, 2)}\n`);
}
process.stdout.write(`${renderCosts(measured)}\n\n${measured.machine}; ${measured.syncsPerSecond} synced writes a second\n`);
