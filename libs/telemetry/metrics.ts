/**
 * Metrics of one service and of its process. Names are Prometheus names with units; labels never hold ids
 * (rules/operations#metrics).
 */
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from '@prometheus-io/client';

export type { Counter, Gauge, Histogram };

type Labels = Record<string, string | number>;

/** One label and every value that it may have, e.g. `{ reason: ['full', 'slow'] }`. */
type KnownLabel = Readonly<Record<string, readonly string[]>>;

/** Rate, errors, duration of one kind of work, e.g. HTTP requests by route template. */
export interface Red {
  /** Counts one finished piece of work; `outcome` is a status code or an error code, `seconds` its duration. */
  observe(labels: Labels, outcome: string | number, seconds: number): void;
}

export interface Metrics {
  /**
   * The metric of that name, made on first use; later calls return the same one. A label given with all its values counts
   * from 0: a series that begins with its first event is no increase for Prometheus.
   */
  counter(name: string, help: string, labels?: readonly string[] | KnownLabel): Counter<string>;
  /** `collect` is called before each scrape; when it fails, the metric has no value: better none than a wrong one. */
  gauge(
    name: string,
    help: string,
    labelNames?: readonly string[],
    collect?: (gauge: Gauge<string>) => void | Promise<void>,
  ): Gauge<string>;
  /** Buckets default to seconds from 1 ms to 30 s. */
  histogram(name: string, help: string, labelNames?: readonly string[], buckets?: readonly number[]): Histogram<string>;
  /** `<name>_total{…,outcome}` and `<name>_duration_seconds{…}`. */
  red(name: string, help: string, labelNames: readonly string[]): Red;
  /** In the Prometheus text format, the process's own metrics included: everything, or the metrics of these names alone, those that there are. */
  render(names?: ReadonlySet<string>): Promise<{ contentType: string; text: string }>;
}

const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Process metrics start timers that nobody can stop: one set per process, however many services run in it. */
let processRegistry: Registry | undefined;

function getProcessRegistry(): Registry {
  if (processRegistry === undefined) {
    processRegistry = new Registry();
    collectDefaultMetrics({ register: processRegistry, eventLoopMonitoringPrecision: 20, eventLoopUtilizationTimeout: 1000 });
  }
  return processRegistry;
}

/** Metrics that all carry the label `service`. */
export function createMetrics(service: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  const existing = (name: string): unknown => registry.getSingleMetric(name);
  const metrics: Metrics = {
    counter: (name, help, labels = []) => {
      const known = existing(name) as Counter<string> | undefined;
      if (known !== undefined) return known;
      const labelNames = Array.isArray(labels) ? (labels as readonly string[]) : Object.keys(labels);
      const counter = new Counter({ name, help, labelNames: [...labelNames], registers: [registry] });
      if (!Array.isArray(labels)) {
        for (const [label, values] of Object.entries(labels as KnownLabel)) for (const value of values) counter.inc({ [label]: value }, 0);
      }
      return counter;
    },
    gauge: (name, help, labelNames = [], collect) =>
      (existing(name) as Gauge<string> | undefined) ??
      new Gauge({
        name,
        help,
        labelNames: [...labelNames],
        registers: [registry],
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
    histogram: (name, help, labelNames = [], buckets = durationBuckets) =>
      (existing(name) as Histogram<string> | undefined) ??
      new Histogram({ name, help, labelNames: [...labelNames], buckets: [...buckets], registers: [registry] }),
    red: (name, help, labelNames) => {
      const total = metrics.counter(`${name}_total`, `${help}, by outcome`, [...labelNames, 'outcome']);
      const duration = metrics.histogram(`${name}_duration_seconds`, `${help}, duration in seconds`, labelNames);
      return {
        observe: (labels, outcome, seconds) => {
          total.inc({ ...labels, outcome: String(outcome) }, 1);
          duration.observe(labels, seconds);
        },
      };
    },
    render: async (names) => {
      const processMetrics = getProcessRegistry();
      processMetrics.setDefaultLabels({ service });
      const texts = await Promise.all([registry, processMetrics].map((metricsOf) => renderSome(metricsOf, names)));
      return { contentType: registry.contentType, text: texts.join('\n') };
    },
  };
  return metrics;
}

/** A metric that is not asked for is not collected either, apart from those of the process: some of them are read together with another. */
async function renderSome(registry: Registry, names: ReadonlySet<string> | undefined): Promise<string> {
  if (names === undefined) return registry.metrics();
  const known = [...names].filter((name) => registry.getSingleMetric(name) !== undefined);
  if (known.length > 0 && registry === processRegistry) await registry.getMetricsAsJSON();
  const texts = await Promise.all(known.map((name) => registry.getSingleMetricAsString(name)));
  return texts.map((text) => `${text}\n`).join('');
}
