/**
 * Runs a Prometheus that scrapes the platform of `npm start` with the settings of the chart's ServiceMonitor, and
 * evaluates the chart's alerts.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { findFreePort } from '../../libs/product/servers/ports.ts';
import { type ServerProcess, startServerProcess } from '../../libs/product/servers/server-process.ts';
import type { Range, Series } from './dashboard.ts';

export interface Prometheus extends ServerProcess {
  /** Returns the series of an expression. @throws Error with Prometheus' message for an invalid expression */
  queryRange(expr: string, range: Range): Promise<Series[]>;
  /** Returns the names of firing alerts. @throws Error if a rule could not be evaluated */
  listFiring(): Promise<string[]>;
}

export const scrapeSeconds = 5;
const filesDir = join(import.meta.dirname, '..', '..', 'deploy', 'helm', 'coherence', 'files');
const alertsFile = join(filesDir, 'alerts.yaml');
const platformFile = join(filesDir, 'platform.json');

/** Returns the chart's alerts as Prometheus rules, rendered as the chart does, for one installation per namespace. */
export function describeRules(namespaces: readonly string[]): string {
  const alerts = parse(readFileSync(alertsFile, 'utf8')) as { expr: string; runbook: string; instant?: string }[];
  const components = Object.keys((JSON.parse(readFileSync(platformFile, 'utf8')) as { components: object }).components);
  const scoped = (expr: string, namespace: string): string =>
    expr
      .replaceAll('$namespace', namespace)
      .replaceAll('$release', 'coherence')
      .replaceAll('$components', components.join('|'))
      .replaceAll('$claims', '(data|spool)-coherence-.*');
  const groups = namespaces.map((namespace) => ({
    name: namespace,
    rules: alerts.map(({ runbook: _page, instant: _reason, ...rule }) => ({
      ...rule,
      expr: scoped(rule.expr, namespace),
    })),
  }));
  return stringify({ groups });
}

/** @param metricsPorts metrics ports of the services on this machine */
export async function startPrometheus(
  program: string,
  dir: string,
  metricsPorts: readonly number[],
): Promise<Prometheus> {
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'alerts.yaml'), describeRules(['coherence']));
  const scrape = {
    job_name: 'coherence',
    honor_labels: true,
    static_configs: [{ targets: metricsPorts.map((port) => `127.0.0.1:${port}`), labels: { namespace: 'coherence' } }],
  };
  const interval = `${scrapeSeconds}s`;
  const configuration = {
    global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval },
    rule_files: ['alerts.yaml'],
    scrape_configs: [scrape],
  };
  writeFileSync(join(dir, 'prometheus.yaml'), stringify(configuration));
  const address = `127.0.0.1:${await findFreePort()}`;
  const server = await startServerProcess({
    name: 'Prometheus',
    command: program,
    args: [
      `--config.file=${join(dir, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(dir, 'data')}`,
      `--web.listen-address=${address}`,
      '--log.level=warn',
    ],
    logFile: join(dir, 'prometheus.log'),
    stopSignal: 'SIGTERM',
    isReady: async () => (await fetch(`http://${address}/-/ready`).catch(() => undefined))?.ok === true,
  });
  const runQuery = async <Data>(path: string, form?: Record<string, string>): Promise<Data> => {
    const init = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) };
    const answer = (await (await fetch(`http://${address}/api/v1/${path}`, init)).json()) as {
      status: string;
      error?: string;
      data: Data;
    };
    if (answer.status !== 'success') throw new Error(answer.error ?? answer.status);
    return answer.data;
  };
  return {
    ...server,
    queryRange: async (expr, { fromSeconds, toSeconds, stepSeconds }) => {
      const form = { query: expr, start: String(fromSeconds), end: String(toSeconds), step: String(stepSeconds) };
      return (await runQuery<{ result: Series[] }>('query_range', form)).result;
    },
    listFiring: async () => {
      const { groups } = await runQuery<{
        groups: { rules: { name: string; health: string; lastError?: string; state: string }[] }[];
      }>('rules');
      const rules = groups.flatMap((group) => group.rules);
      const broken = rules.find(({ health }) => health !== 'ok');
      if (broken !== undefined)
        throw new Error(`the alert ${broken.name} could not be evaluated: ${broken.lastError ?? broken.health}`);
      return rules.filter(({ state }) => state === 'firing').map(({ name }) => name);
    },
  };
}
