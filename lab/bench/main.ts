/**
 * `npm run bench`: starts a platform and compares it with a bare HTTP + SQL baseline, in alternating rounds of one run,
 * so that noise affects both alike. Prints the memory of idle services, then a table of ratios.
 * - `--seconds N`: length of one round (3)
 * - `--rounds N`: rounds of platform and baseline each (3)
 * - `--only TEXT`: only operations whose name contains TEXT; `memory` measures only memory; `retention` measures the
 * removal of old rows, which is otherwise skipped
 * - `--rows N`: old rows per table for `retention` (1,000,000)
 */
import { parseArgs } from 'node:util';
import { startPlatformWithFloor, type PlatformWithFloor } from './floor.ts';
import { measureBareConsumer, measureJobs } from './jobs.ts';
import { joinMeasurements, runLoad, type Measurement } from './load.ts';
import { measureMemory } from './memory.ts';
import { measureRetention } from './retention.ts';
import { renderMemory, renderTable, type Row } from './report.ts';
import { readCounted } from '../cost/processes.ts';
import { prepareScenarios, type Scenario } from './scenarios.ts';

const connections = 64;
const warmUpSeconds = 2;
const jobCount = 5_000;
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    rows: { type: 'string', default: '1000000' },
  },
});
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
const startedAt = performance.now();
const log = (line: string): void => {
  process.stderr.write(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(4)} s  ${line}\n`);
};

const selected = (name: string): boolean => name.includes(values.only);
if (selected('memory')) process.stdout.write(`\nidle after the demo\n\n${renderMemory(await measureMemory(log))}\n\n`);
if (values.only === 'retention') console.table(await measureRetention(Number(values.rows), log));
if (values.only !== 'memory' && values.only !== 'retention') await measureRates();

async function measureRates(): Promise<void> {
  const platform = await startPlatformWithFloor(log);
  try {
    const scenarios = (await prepareScenarios(platform, log)).filter((scenario) => selected(scenario.name));
    const rows: Row[] = [];
    for (const [index, scenario] of scenarios.entries()) {
      log(`${scenario.name} (${index + 1} of ${scenarios.length}): ${rounds} rounds of ${seconds} s on each side`);
      rows.push(await measure(platform, scenario));
    }
    if (selected('job throughput')) {
      log(`job throughput: ${jobCount} jobs`);
      const floorRate = await measureBareConsumer(platform.settings, jobCount);
      const platformRate = await measureJobs(platform.settings, jobCount);
      rows.push({
        operation: 'job throughput',
        floor: 'bare JetStream publish, consume and acknowledge',
        platformRate,
        floorRate,
      });
    }
    process.stdout.write(
      `\n${connections} connections, conversations of 3 KB, ${rounds} × ${seconds} s a side\n\n${renderTable(rows)}\n`,
    );
  } finally {
    log('stopping');
    await platform.stop();
  }
}

async function measure(target: PlatformWithFloor, scenario: Scenario): Promise<Row> {
  const { baseUrl, floorUrl } = target;
  const sides = {
    platform: { baseUrl, makeRequest: scenario.platformRequest },
    floor: { baseUrl: scenario.isOfItself === true ? baseUrl : floorUrl, makeRequest: scenario.floorRequest },
  };
  const measured: Record<keyof typeof sides, Measurement[]> = { platform: [], floor: [] };
  if (scenario.without !== undefined) await target.stopService(scenario.without);
  const { turns = 1 } = scenario;
  const busy = { platform: 0, floor: 0 };
  for (const side of ['platform', 'floor'] as const)
    await runLoad({ ...sides[side], connections, seconds: warmUpSeconds });
  for (let turn = 0; turn < rounds * turns; turn += 1) {
    // Alternates the first side, so that periodic events such as garbage collection affect both.
    for (const side of turn % 2 === 0 ? (['platform', 'floor'] as const) : (['floor', 'platform'] as const)) {
      const before = busyMs(target);
      measured[side].push(await runLoad({ ...sides[side], connections, seconds: seconds / turns }));
      busy[side] += busyMs(target) - before;
    }
  }
  if (scenario.without !== undefined) await target.startService(scenario.without);
  const [mine, floor] = [joinMeasurements(measured.platform), joinMeasurements(measured.floor)];
  return {
    operation: scenario.name,
    floor: scenario.floor,
    platformRate: mine.requests / mine.seconds,
    floorRate: floor.requests / floor.seconds,
    platform: mine,
    floorMeasurement: floor,
    ...(scenario.goal === undefined ? {} : { goal: scenario.goal }),
    ...(scenario.isOfItself === true ? { ratio: busy.floor / floor.requests / (busy.platform / mine.requests) } : {}),
  };
}

/**
 * Returns the processor time of the gateway and the services. Other load on the machine affects it less than a rate.
 */
function busyMs({ processes }: PlatformWithFloor): number {
  const listed = [...processes].flatMap(([name, { identity }]) => (identity === undefined ? [] : [{ name, identity }]));
  return [...readCounted(listed).values()].reduce((sum, { cpuMs }) => sum + cpuMs, 0);
}
