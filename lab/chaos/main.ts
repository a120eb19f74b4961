/**
 * `npm run test:chaos`: runs the platform with two processes of each service, three NATS servers, PostgreSQL with a
 * synchronous standby and an object store, under load and fault injection; then checks that all answers are consistent
 * with a platform without faults (docs/chaos.md).
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { describeProblem, checkHistory, type Problem } from './checker/check-history.ts';
import { faults } from './faults.ts';
import { createHistory, readHistory } from './history.ts';
import { formatTable } from './report.ts';
import { run } from './run.ts';
import { enterNameSpaces } from './small-disk.ts';

const repoDir = join(import.meta.dirname, '..', '..');
const log = (line: string): void => void process.stdout.write(`${line}\n`);
/** Maximum number of printed violations, since a single bug usually causes many. */
const maxPrinted = 10;

interface Parameters {
  readonly seconds: number;
  readonly seed: number;
  readonly faults: readonly string[];
  /** History file of an earlier run to check again. */
  readonly history: string | undefined;
}

/** Parses the command line. @throws Error with a readable message */
function readParameters(): Parameters {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: String(1 + Math.floor(Math.random() * 1_000_000)) },
      faults: { type: 'string', default: Object.keys(faults).join(',') },
      history: { type: 'string' },
    },
  });
  const names = values.faults.split(',').filter((name) => name !== '');
  const unknown = names.filter((name) => !Object.hasOwn(faults, name));
  if (unknown.length > 0)
    throw new Error(`There is no fault ${unknown.join(', ')}; there are ${Object.keys(faults).join(', ')}.`);
  const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
  if (!(seconds >= 0) || !Number.isInteger(seed))
    throw new Error('--seconds and --seed are numbers, the seed a whole one.');
  return { seconds, seed, faults: names, history: values.history };
}

function printReport(problems: readonly Problem[], seed: number | undefined, file: string): void {
  for (const problem of problems.slice(0, maxPrinted)) log(`\n${describeProblem(problem)}`);
  if (problems.length > maxPrinted) log(`\nand ${problems.length - maxPrinted} more`);
  log(`\n${problems.length} problems; ${seed === undefined ? '' : `seed ${seed}, `}history ${file}`);
}

/** @returns the exit status */
async function main(): Promise<number> {
  const parameters = readParameters();
  if (parameters.history !== undefined) {
    const problems = checkHistory(readHistory(parameters.history), { effects: {}, leftovers: [] });
    printReport(problems, undefined, parameters.history);
    return problems.length === 0 ? 0 : 1;
  }
  const { seed } = parameters;
  const folder = join(repoDir, '.data', 'chaos');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `history-${seed}.jsonl`);
  rmSync(file, { force: true });
  const dir = mkdtempSync(join(tmpdir(), 'coherence-chaos-'));
  log(`seed ${seed}; faults ${parameters.faults.join(', ')}`);
  try {
    const progress = (line: string): void => log(`${(performance.now() / 1_000).toFixed(0).padStart(4)} s  ${line}`);
    const { rows, problems, requests, kinds } = await run({
      ...parameters,
      dir,
      history: createHistory(file),
      log: progress,
    });
    log(`\n${formatTable(rows)}\n`);
    log(`${requests} requests of ${kinds} kinds`);
    printReport(problems, seed, file);
    return problems.length === 0 ? 0 : 1;
  } catch (error) {
    log(
      `\nThe run with seed ${seed} broke off: ${error instanceof Error ? error.stack : String(error)}\nhistory ${file}`,
    );
    return 1;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

enterNameSpaces();
// Exits explicitly: open connections of an aborted run would keep the process running.
try {
  process.exit(await main());
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(2);
}
