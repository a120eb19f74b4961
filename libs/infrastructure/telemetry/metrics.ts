/**
 * Metrics of one service and its process (rules/operations#metrics). Names follow the Prometheus conventions with
 * units; labels never contain ids. This module adds the prefix to the names.
 */
import {
  Counter,
  Gauge,
  Histogram as ClientHistogram,
  type Metric,
  Registry,
  collectDefaultMetrics,
} from '@prometheus-io/client';
import { readSampledTrace } from './trace-context.ts';

export type { Counter, Gauge };

type Labels = Record<string, string | number>;

/** One label with all its values, e.g. `{ reason: ['full', 'slow'] }`. */
type KnownLabel = Readonly<Record<string, readonly string[]>>;

export interface Histogram {
  /**
   * Records one duration. @param traceparent trace of the measured work; a sampled trace becomes the exemplar of the
   * bucket
   */
  observe(labels: Labels, seconds: number, traceparent?: string): void;
}

/** Rate, errors and duration of one kind of work, e.g. HTTP requests by route template. */
export interface Red {
  /**
   * Counts one finished operation. @param outcome status code or error code @param traceparent trace of the operation,
   * for an exemplar
   */
  observe(labels: Labels, outcome: string | number, seconds: number, traceparent?: string): void;
}

export interface Metrics {
  /**
   * Returns the counter of that name, created on first use. If a label is declared with all its values, their series
   * start at 0: Prometheus sees no increase in a series that begins with its first event.
   */
  counter(name: string, help: string, labels?: readonly string[] | KnownLabel): Counter<string>;
  /**
   * Creates a gauge whose `collect` is called before each scrape. When `collect` fails, the metric has no value, so
   * that no wrong value is exposed.
   */
  gauge(
    name: string,
    help: string,
    labelNames?: readonly string[],
    collect?: (gauge: Gauge<string>) => void | Promise<void>,
  ): Gauge<string>;
  /** Returns a histogram of durations, by default with buckets from 1 ms to 30 s. */
  histogram(name: string, help: string, labelNames?: readonly string[], buckets?: readonly number[]): Histogram;
  /** Creates the metrics `<name>_total{…,outcome}` and `<name>_duration_seconds{…}`. */
  red(name: string, help: string, labelNames: readonly string[]): Red;
  /**
   * Renders all metrics, including the process metrics, or only the metrics in `names`. `accept` selects the format.
   */
  render(options?: { readonly names?: ReadonlySet<string>; readonly accept?: string | undefined }): Promise<Rendered>;
}

interface Rendered {
  readonly contentType: string;
  readonly text: string;
}

/** Prefix of every metric of the platform. */
const prefix = 'coherence_';
const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Registry of the process metrics. They start timers that cannot be stopped, so all services of a process share it. */
let processRegistry: Registry | undefined;

function getProcessRegistry(): Registry {
  if (processRegistry === undefined) {
    processRegistry = new Registry();
    collectDefaultMetrics({
      register: processRegistry,
      eventLoopMonitoringPrecision: 20,
      eventLoopUtilizationTimeout: 1000,
    });
  }
  return processRegistry;
}

/**
 * Creates metrics with the label `service`.
 * @param options.oldNames whether metrics are also exposed without the prefix, as in earlier releases
 * (METRICS_OLD_NAMES)
 */
export function createMetrics(service: string, { oldNames = false }: { readonly oldNames?: boolean } = {}): Metrics {
  // Only a registry with this content type supports exemplars; each scrape still selects its format.
  const registry = new Registry(Registry.OPENMETRICS_CONTENT_TYPE);
  const existing = (name: string): unknown => registry.getSingleMetric(prefix + name);
  const configOf = (name: string, help: string, labelNames: readonly string[]) => ({
    name: prefix + name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
  });
  const metrics: Metrics = {
    counter: (name, help, labels = []) => {
      const known = existing(name) as Counter<string> | undefined;
      if (known !== undefined) return known;
      const labelNames = Array.isArray(labels) ? (labels as readonly string[]) : Object.keys(labels);
      const counter = new Counter(configOf(name, help, labelNames));
      if (!Array.isArray(labels)) {
        for (const [label, values] of Object.entries(labels as KnownLabel))
          for (const value of values) counter.inc({ [label]: value }, 0);
      }
      return counter;
    },
    gauge: (name, help, labelNames = [], collect) =>
      (existing(name) as Gauge<string> | undefined) ??
      new Gauge({
        ...configOf(name, help, labelNames),
        ...(collect === undefined
          ? {}
          : {
              async collect(this: Gauge<string>) {
                try {
                  await collect(this);
                } catch {
                  this.reset();
                }
              },
            }),
      }),
    histogram: (name, help, labelNames = [], buckets = durationBuckets) => {
      const known = existing(name) as ClientHistogram<string> | undefined;
      const histogram =
        known ??
        new ClientHistogram({ ...configOf(name, help, labelNames), buckets: [...buckets], enableExemplars: true });
      return {
        observe: (labels, value, traceparent) => {
          const exemplarLabels = readSampledTrace(traceparent);
          histogram.observe(exemplarLabels === undefined ? { labels, value } : { labels, value, exemplarLabels });
        },
      };
    },
    red: (name, help, labelNames) => {
      const total = metrics.counter(`${name}_total`, `${help}, by outcome`, [...labelNames, 'outcome']);
      const duration = metrics.histogram(`${name}_duration_seconds`, `${help}, duration in seconds`, labelNames);
      return {
        observe: (labels, outcome, seconds, traceparent) => {
          total.inc({ ...labels, outcome: String(outcome) }, 1);
          duration.observe(labels, seconds, traceparent);
        },
      };
    },
    render: async ({ names, accept } = {}) => {
      const exposedNames = (name: string): string[] =>
        (oldNames && name.startsWith(prefix) ? [name, name.slice(prefix.length)] : [name]).filter(
          (exposed) => names?.has(exposed) ?? true,
        );
      const format = new Registry(
        prefersOpenMetrics(accept) ? Registry.OPENMETRICS_CONTENT_TYPE : Registry.PROMETHEUS_CONTENT_TYPE,
      );
      format.setDefaultLabels({ service });
      const read = await Promise.all(
        [registry, getProcessRegistry()].map((source) => readMetrics(source, exposedNames)),
      );
      const texts = await Promise.all(
        read.flat().flatMap((metric) => exposedNames(metric.name).map((name) => renderMetric(format, metric, name))),
      );
      const end = format.contentType === Registry.OPENMETRICS_CONTENT_TYPE ? '# EOF\n' : '';
      return { contentType: format.contentType, text: texts.map((text) => `${text}\n`).join('') + end };
    },
  };
  return metrics;
}

type ReadMetric = Awaited<ReturnType<Metric<string>['get']>>;

/** Collects only the exposed metrics. Process metrics are all collected, since some of them are collected together. */
async function readMetrics(source: Registry, exposedNames: (name: string) => readonly string[]): Promise<ReadMetric[]> {
  const exposed = source
    .getMetricsAsArray()
    .filter(({ name }) => exposedNames(name).length > 0) as unknown as Metric<string>[];
  if (source === processRegistry && exposed.length > 0) await source.getMetricsAsJSON();
  return Promise.all(exposed.map((metric) => metric.get()));
}

/**
 * Returns the lines of one metric. In OpenMetrics, the name of a counter has no `_total` suffix; `format` adds the
 * suffix to the samples.
 */
function renderMetric(format: Registry, metric: ReadMetric, name: string): Promise<string> {
  const isFamily = format.contentType === Registry.OPENMETRICS_CONTENT_TYPE && metric.type === 'counter';
  const values = metric.values.map((value) => {
    const { metricName } = value as { readonly metricName?: string };
    return metricName === undefined ? value : { ...value, metricName: name + metricName.slice(metric.name.length) };
  });
  const named = { ...metric, name: isFamily ? name.replace(/_total$/, '') : name, values };
  return format.getMetricsAsString({ get: () => Promise.resolve(named) } as unknown as Metric<string>);
}

/**
 * Returns whether an `Accept` header prefers OpenMetrics 1.0 to the Prometheus text format, or weights both equally.
 */
function prefersOpenMetrics(accept = ''): boolean {
  const weights = { openMetrics: 0, text: 0 };
  for (const item of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = item.split(';').map((part) => part.trim());
    const valueOf = (name: string): string | undefined =>
      parameters.find((parameter) => parameter.startsWith(`${name}=`))?.slice(name.length + 1);
    const weight = Number(valueOf('q') ?? 1);
    const version = valueOf('version') ?? '1.0.0';
    if (type === 'application/openmetrics-text' && version === '1.0.0')
      weights.openMetrics = Math.max(weights.openMetrics, weight);
    if (type === 'text/plain') weights.text = Math.max(weights.text, weight);
  }
  return weights.openMetrics > 0 && weights.openMetrics >= weights.text;
}

/**
 * Returns a function that counts the use of each value of a rotated secret. Operators can see when an old value can be
 * removed (K8; docs/guides/secret-rotation.md). Index 0 is value 1 in the metric.
 * @param values number of values of the secret
 */
export function createSecretUseCounter(metrics: Metrics, secret: string, values: number): (index: number) => void {
  const uses = metrics.counter('secret_uses_total', 'Uses of a shared secret, by the place of the value in its list', [
    'secret',
    'position',
  ]);
  const labels = Array.from({ length: values }, (_value, index) => ({ secret, position: String(index + 1) }));
  for (const known of labels) uses.inc(known, 0);
  return (index) => {
    const known = labels[index];
    if (known !== undefined) uses.inc(known);
  };
}
