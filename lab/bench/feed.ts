/**
 * `npm run bench:feed [costs|faults]`: measures cost and correctness of the event feed, on dedicated PostgreSQL, NATS
 * and services.
 * - `costs`: pages of 500 for accounts that can read few of many events, and a reader that catches up. `--days N` and
 * `--events N`: days stored and events per day (30, 1,000,000). `--subjects N`: subjects of each type (300,000).
 * - `faults`: writers change conversations while every process, NATS and PostgreSQL are killed in turn. `--changes N`
 * (100,000). `--writers N` (8). `--rounds N`: how often each process and server is killed (5).
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureCosts } from './feed-costs.ts';
import { startFaultEnvironment } from './feed-environment.ts';
import { runFaults } from './feed-faults.ts';

const text = (value: string): { type: 'string'; default: string } => ({ type: 'string', default: value });
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    days: text('30'),
    events: text('1000000'),
    subjects: text('300000'),
    changes: text('100000'),
    writers: text('8'),
    rounds: text('5'),
  },
});
const startedAt = performance.now();
const log = (line: string): void => {
  process.stderr.write(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(4)} s  ${line}\n`);
};
const count = (name: keyof typeof values): number => {
  const value = Number(values[name]);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} is a whole number from 1`);
  return value;
};

const [command = 'costs'] = positionals;
if (command !== 'costs' && command !== 'faults') throw new Error(`there is costs and faults, not "${command}"`);
const environment = await startFaultEnvironment(mkdtempSync(join(tmpdir(), 'coherence-feed-')), {
  CONVERSATION_ACCESS: 'members',
});
try {
  if (command === 'faults') {
    const table = await runFaults(environment, {
      changes: count('changes'),
      writers: count('writers'),
      rounds: count('rounds'),
      log,
    });
    console.table([table]);
    if (table.lost + table.doubled + table.outOfOrder + table.gaps > 0) process.exitCode = 1;
  } else {
    const sizes = { days: count('days'), eventsPerDay: count('events'), hiddenSubjects: count('subjects') };
    const { pages, catchUpPerSecond } = await measureCosts(environment, sizes, log);
    console.table(
      pages.map(({ median, slowest, ...row }) => ({
        ...row,
        'median ms': Math.round(median),
        'slowest ms': Math.round(slowest),
      })),
    );
    console.log(`catching up: ${Math.round(catchUpPerSecond)} events/s`);
  }
} finally {
  await environment.stop();
}
