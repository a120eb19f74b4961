/** Reads the metrics that the alerts and dashboards of the chart query, and the metrics that a scrape returns. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { parse as parseYaml } from 'yaml';

const filesDir = join(import.meta.dirname, '..', '..', '..', 'deploy', 'helm', 'coherence', 'files');

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  /** Reason why the alert has no pending time. */
  readonly instant?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
  /** Name of a page in docs/runbooks. */
  readonly runbook: string;
}

interface Panel {
  readonly title: string;
  readonly description?: string;
  readonly type: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  readonly fieldConfig?: { readonly defaults: { readonly unit: string } };
}
export interface Dashboard {
  readonly file: string;
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly Panel[];
  readonly annotations: {
    readonly list: readonly { readonly name: string; readonly enable: boolean; readonly expr: string }[];
  };
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
}

export function readAlerts(): Alert[] {
  return parseYaml(readFileSync(join(filesDir, 'alerts.yaml'), 'utf8')) as Alert[];
}

export function readDashboards(): Dashboard[] {
  const dir = join(filesDir, 'dashboards');
  return readdirSync(dir).map((file) => ({
    ...(JSON.parse(readFileSync(join(dir, file), 'utf8')) as Dashboard),
    file,
  }));
}

/** Returns every expression with its location. The time variable of Grafana is replaced. */
export function listExpressions(): { place: string; expr: string }[] {
  const alerts = readAlerts().map(({ alert, expr }) => ({ place: alert, expr }));
  const panels = readDashboards().flatMap(({ file, panels: list }) =>
    list.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ place: `${file}: ${title}`, expr }))),
  );
  const annotations = readDashboards().flatMap(({ file, annotations: { list } }) =>
    list.map(({ name, expr }) => ({ place: `${file}: ${name}`, expr })),
  );
  return [...alerts, ...panels, ...annotations].map(({ place, expr }) => ({
    place,
    expr: expr.replaceAll('$__rate_interval', '5m'),
  }));
}

/** Returns whether the metric belongs to Prometheus, kube-state-metrics or the kubelet. */
export const isClusterMetric = (metric: string): boolean =>
  metric === 'up' || /^(kube|container|kubelet)_/.test(metric);

export interface Selector {
  readonly metric: string;
  readonly labels: readonly string[];
}

/**
 * Returns the metrics with the labels of their selectors, and the labels by which results are grouped. @throws Error
 * when the expression is not valid PromQL
 */
export function readExpression(expr: string): { selectors: Selector[]; grouping: string[] } {
  const selectors: { metric: string; labels: string[] }[] = [];
  const grouping: string[] = [];
  let inGrouping = false;
  parser.parse(expr).iterate({
    enter: ({ type, name, from, to }) => {
      const text = expr.slice(from, to);
      if (type.isError) throw new Error(`no PromQL at character ${from}: ${expr}`);
      if (name === 'GroupingLabels') inGrouping = true;
      else if (name === 'Identifier') selectors.push({ metric: text, labels: [] });
      else if (name === 'LabelName' && inGrouping) grouping.push(text);
      else if (name === 'LabelName') selectors.at(-1)?.labels.push(text);
    },
    leave: ({ name }) => {
      if (name === 'GroupingLabels') inGrouping = false;
    },
  });
  return { selectors, grouping };
}

export interface Sample {
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Returns the samples of a scrape in the text format. */
export function readSamples(text: string): Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, metric = '', labels = ''] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? /.exec(line) ?? [];
      return {
        metric,
        labels: Object.fromEntries([...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map((match) => match.slice(1))),
      };
    });
}
