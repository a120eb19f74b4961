/**
 * `node lab/dashboards/main.ts [--minutes 6]`: renders the chart's dashboards to `docs/images/dashboard-<name>.png`,
 * from Prometheus data of a dedicated platform under the average load and demo conversations. Fails if a panel's query
 * is rejected, a panel without `noValue` has no data, a legend uses a missing label, or an alert cannot be evaluated.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startLlm } from '../../libs/product/testing/llm.ts';
import { readSettings } from '../../cli/settings.ts';
import { startOwnPlatform } from '../load/own-platform.ts';
import { provideGoTool } from '../../libs/product/servers/go-tool.ts';
import { prometheusTool } from '../../libs/product/servers/go-tools.ts';
import {
  type Dashboard,
  fillVariables,
  type Line,
  type Panel,
  type Range,
  readDashboards,
  toLines,
} from './dashboard.ts';
import { type DrawnPanel, drawPictures, type Picture } from './picture.ts';
import { type Prometheus, scrapeSeconds, startPrometheus } from './prometheus.ts';

const repoDir = join(import.meta.dirname, '..', '..');
/** Value of Grafana's `$__rate_interval`, which is at least four scrape intervals. */
const rateInterval = `${6 * scrapeSeconds}s`;
/** Delay between two demo conversations. */
const pauseMs = 20_000;
const log = (line: string): void => void process.stdout.write(`${line}\n`);

async function run(minutes: number): Promise<void> {
  const program = await provideGoTool(prometheusTool, log);
  const workDir = mkdtempSync(join(tmpdir(), 'dashboards-'));
  const stops: (() => unknown)[] = [() => rmSync(workDir, { recursive: true, force: true })];
  try {
    const model = await startLlm();
    stops.push(model.stop);
    log('starting a platform');
    const platform = await startOwnPlatform({
      LLM_BASE_URL: model.baseUrl,
      LLM_API_KEY: model.apiKey,
      LLM_MODEL: 'demo',
    });
    stops.push(platform.stop);
    const settings = readSettings({}, join(platform.dataDir, 'environment.json'));
    const ports = Object.entries(settings).flatMap(([name, value]) =>
      name.startsWith('METRICS_PORT_') ? [Number(value)] : [],
    );
    const prometheus = await startPrometheus(program, workDir, ports);
    stops.push(prometheus.stop);
    const fromSeconds = Math.floor(Date.now() / 1000);
    const { endedAtMs } = await playLoad(minutes, { COHERENCE_DATA_DIR: platform.dataDir, RESULT_DIR: workDir });
    const range = { fromSeconds, toSeconds: Math.floor(endedAtMs / 1000), stepSeconds: scrapeSeconds };
    log(`alerts that are firing: ${(await prometheus.listFiring()).join(', ') || 'none'}`);
    await draw(prometheus, range);
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
}

/** Runs the average load, and one demo conversation after the other. */
async function playLoad(minutes: number, variables: NodeJS.ProcessEnv): Promise<Ended> {
  log(`playing the average load for ${minutes} minutes`);
  const load = runNode(['lab/load/main.ts', 'average'], {
    RATE: '5',
    WARM_UP: '1m',
    DURATION: `${minutes - 1}m`,
    ...variables,
  });
  let end: Ended | undefined;
  while (end === undefined) {
    const demo = await runNode(['tools/demo/main.ts'], variables);
    if (demo.code !== 0) throw new Error(`The demo has failed:\n${demo.output}`);
    end = await Promise.race([load, sleep(pauseMs, undefined)]);
  }
  if (end.code !== 0) log(end.output); // on a slow machine the load exceeds its thresholds, but the panels still have data
  return end;
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly endedAtMs: number;
}

function runNode(args: readonly string[], variables: NodeJS.ProcessEnv): Promise<Ended> {
  const child = spawn(process.execPath, [...args], {
    cwd: repoDir,
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output, endedAtMs: Date.now() })));
}

/** @throws Error that lists every panel with a problem; the pictures are rendered anyway */
async function draw(prometheus: Prometheus, range: Range): Promise<void> {
  const problems: string[] = [];
  const pictures = new Map<string, Picture>();
  for (const dashboard of readDashboards()) {
    const panels: DrawnPanel[] = [];
    for (const panel of dashboard.panels) {
      const lines = await queryPanel(prometheus, dashboard, panel, range).catch((error: unknown) => {
        problems.push(`${dashboard.name}, ${panel.title}: ${error instanceof Error ? error.message : String(error)}`);
        return [];
      });
      panels.push(describePanel(panel, lines));
    }
    const { title, description } = dashboard;
    pictures.set(join(repoDir, 'docs', 'images', `dashboard-${dashboard.name}.png`), {
      title,
      description,
      times: listTimes(range),
      panels,
    });
  }
  await drawPictures(pictures, log);
  for (const file of pictures.keys()) log(file);
  if (problems.length > 0) throw new Error(`These panels are not as they should be:\n${problems.join('\n')}`);
}

async function queryPanel(prometheus: Prometheus, dashboard: Dashboard, panel: Panel, range: Range): Promise<Line[]> {
  const lines: Line[] = [];
  for (const { expr, legendFormat } of panel.targets ?? []) {
    lines.push(
      ...toLines(await prometheus.queryRange(fillVariables(expr, dashboard, rateInterval), range), legendFormat, range),
    );
  }
  const mayBeEmpty = panel.type === 'row' || panel.fieldConfig?.defaults.noValue !== undefined;
  if (lines.length === 0 && !mayBeEmpty) throw new Error('no data');
  return lines;
}

function describePanel(
  { type, title, description = '', gridPos, fieldConfig }: Panel,
  lines: readonly Line[],
): DrawnPanel {
  const { unit = 'none', noValue = 'No data', custom } = fieldConfig?.defaults ?? {};
  return {
    type,
    title,
    description,
    gridPos,
    unit,
    noValue,
    lines,
    fill: custom?.fillOpacity ?? 0,
    stacked: custom?.stacking.mode === 'normal',
  };
}

function listTimes({ fromSeconds, toSeconds, stepSeconds }: Range): number[] {
  const count = Math.floor((toSeconds - fromSeconds) / stepSeconds) + 1;
  return Array.from({ length: count }, (_, index) => fromSeconds + index * stepSeconds);
}

try {
  const { values } = parseArgs({ options: { minutes: { type: 'string', default: '6' } } });
  await run(Number(values.minutes));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
