/** What is left of a run: JSON for `node tools/load/compare.ts`, Markdown for people, and the same on the screen. */
import { release, resultDir } from './settings.js';

/** Grows when a field changes its meaning; only summaries of one format can be compared. */
const format = 1;

/** `load` tells what the suite was asked for: only runs of the same load can be compared. */
export function summarize(suite, data, load) {
  const { metrics } = data;
  const thresholds = Object.entries(metrics).flatMap(([metric, { thresholds: all = {} }]) =>
    Object.entries(all).map(([expression, { ok }]) => ({ metric, expression, ok })),
  );
  const summary = {
    format,
    suite,
    release,
    finished_at: new Date().toISOString(),
    seconds: round(data.state.testRunDurationMs / 1000),
    load,
    passed: thresholds.every(({ ok }) => ok),
    requests: valueOf(metrics.http_reqs, 'count'),
    requests_per_second: round(valueOf(metrics.http_reqs, 'rate')),
    failed_share: valueOf(metrics.http_req_failed, 'rate'),
    visits: valueOf(metrics.iterations, 'count'),
    visits_dropped: valueOf(metrics.dropped_iterations, 'count'),
    bytes: { sent: valueOf(metrics.data_sent, 'count'), received: valueOf(metrics.data_received, 'count') },
    operations: readOperations(metrics),
    thresholds,
  };
  const markdown = renderMarkdown(summary);
  return {
    [`${resultDir}/${suite}.json`]: `${JSON.stringify(summary, null, 2)}\n`,
    [`${resultDir}/${suite}.md`]: markdown,
    stdout: `\n${markdown}\n`,
  };
}

/** Operation, with its phase where the suite has some → milliseconds. */
function readOperations(metrics) {
  const found = {};
  for (const [name, { values }] of Object.entries(metrics)) {
    const match = /^http_req_duration\{operation:([^,}]+)(?:,phase:([a-z]+))?\}$/.exec(name);
    if (match === null || values.count === 0) continue;
    const key = match[2] === undefined ? match[1] : `${match[1]} (${match[2]})`;
    found[key] = {
      count: values.count,
      p50: round(values.med),
      p95: round(values['p(95)']),
      p99: round(values['p(99)']),
      max: round(values.max),
    };
  }
  return found;
}

function renderMarkdown(summary) {
  const rows = Object.entries(summary.operations).map(
    ([name, { count, p50, p95, p99, max }]) => `| ${[name, count, p50, p95, p99, max].join(' | ')} |`,
  );
  const crossed = summary.thresholds.filter(({ ok }) => !ok).map(({ metric, expression }) => `- crossed: \`${metric}\` \`${expression}\``);
  return [
    `# ${summary.suite}: ${summary.passed ? 'passed' : 'FAILED'}`,
    '',
    `release ${summary.release}, ${summary.finished_at}, ${summary.seconds} s; ` +
      `${Object.entries(summary.load)
        .map(([name, value]) => `${name} ${value}`)
        .join(', ')}`,
    '',
    `${summary.requests} requests (${summary.requests_per_second}/s), ${(summary.failed_share * 100).toFixed(3)} % failed, ` +
      `${summary.visits} visits, ${summary.visits_dropped} could not be started in time; ` +
      `${summary.thresholds.length} thresholds, ${crossed.length} crossed`,
    ...(crossed.length === 0 ? [] : ['', ...crossed]),
    '',
    '| operation | count | p50 ms | p95 ms | p99 ms | max ms |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function valueOf(metric, name) {
  return metric === undefined ? 0 : metric.values[name];
}

function round(value) {
  return Math.round(value * 100) / 100;
}
