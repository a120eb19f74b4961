/**
 * Reads the chart's dashboards like Grafana: their panels, and the lines that each panel draws from Prometheus'
 * samples.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Panel {
  readonly type: 'row' | 'stat' | 'timeseries';
  readonly title: string;
  readonly description?: string;
  /** Position in the grid of 24 columns. */
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  readonly fieldConfig?: {
    readonly defaults: {
      readonly unit: string;
      /** Shown instead of "No data"; a panel with this text may be empty. */
      readonly noValue?: string;
      readonly custom?: { readonly fillOpacity: number; readonly stacking: { readonly mode: 'none' | 'normal' } };
    };
  };
}

export interface Dashboard {
  /** Name of the dashboard's file without the extension. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly allValue?: string }[] };
}

/** One line of a panel. `values` has one value for each time of the range; null = no value. */
export interface Line {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

export interface Range {
  readonly fromSeconds: number;
  readonly toSeconds: number;
  readonly stepSeconds: number;
}

/** One series of the result of a Prometheus range query. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [seconds: number, value: string])[];
}

const dashboardsDir = join(import.meta.dirname, '..', '..', 'deploy', 'helm', 'coherence', 'files', 'dashboards');

export function readDashboards(): Dashboard[] {
  return readdirSync(dashboardsDir)
    .toSorted()
    .map((file) => ({
      ...(JSON.parse(readFileSync(join(dashboardsDir, file), 'utf8')) as Omit<Dashboard, 'name'>),
      name: file.replace('.json', ''),
    }));
}

/**
 * Replaces variables like Grafana with every variable set to "All". @throws Error for a variable that the dashboard
 * does not define
 */
export function fillVariables(expr: string, { name, templating }: Dashboard, rateInterval: string): string {
  return expr.replaceAll(/\$(?:\{(\w+)\}|(\w+))/g, (_all, braced?: string, bare?: string) => {
    const variable = braced ?? bare ?? '';
    if (variable === '__rate_interval') return rateInterval;
    const value = templating.list.find((item) => item.name === variable)?.allValue;
    if (value === undefined) throw new Error(`${name}: $${variable} must be a variable with a value for all`);
    return value;
  });
}

/**
 * @returns the lines that have at least one value, with the names that the legend defines
 * @throws Error if the legend uses a label that a series does not have
 */
export function toLines(series: readonly Series[], legendFormat: string, range: Range): Line[] {
  const { fromSeconds, toSeconds, stepSeconds } = range;
  const count = Math.floor((toSeconds - fromSeconds) / stepSeconds) + 1;
  return series.flatMap(({ metric, values }) => {
    const line = Array.from<number | null>({ length: count }).fill(null);
    for (const [seconds, text] of values) {
      const value = Number(text);
      if (Number.isFinite(value)) line[Math.round((seconds - fromSeconds) / stepSeconds)] = value;
    }
    if (line.every((value) => value === null)) return []; // a line can have no value at all, e.g. a quantile of an empty series
    return [{ name: nameLine(legendFormat, metric), values: line }];
  });
}

function nameLine(legendFormat: string, labels: Readonly<Record<string, string>>): string {
  return legendFormat.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (_all, label: string) => {
    const value = labels[label];
    if (value === undefined)
      throw new Error(
        `the legend "${legendFormat}" names ${label}, the series has only ${Object.keys(labels).join(', ')}`,
      );
    return value;
  });
}
