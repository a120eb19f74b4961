/** Summary of a run: JSON for `node lab/load/compare.ts`, Markdown for people, and console output. */
import { personas, release, resultDir, uploadBytes } from './settings.js';

/** Incremented when a field changes its meaning; only summaries of the same format can be compared. */
const format = 1;

/** Returns the summary; `load` describes the requested load, because only runs with the same load can be compared. */
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
    load: { ...load, personas: personas.join(' '), upload_bytes: uploadBytes },
    passed: thresholds.every(({ ok }) => ok),
    requests: valueOf(metrics.http_reqs, 'count'),
    requests_per_second: round(valueOf(metrics.http_reqs, 'rate')),
    failed_share: valueOf(metrics.http_req_failed, 'rate'),
    visits: valueOf(metrics.iterations, 'count'),
    visits_dropped: valueOf(metrics.dropped_iterations, 'count'),
    bytes: { sent: valueOf(metrics.data_sent, 'count'), received: valueOf(metrics.data_received, 'count') },
    personas: readPersonas(metrics),
    operations: readTimes(metrics, 'operation'),
    failed_checks: data.root_group.checks.filter(({ fails }) => fails > 0).map(({ name, fails }) => ({ name, fails })),
    thresholds,
  };
  const markdown = renderMarkdown(summary);
  return {
    [`${resultDir}/${suite}.json`]: `${JSON.stringify(summary, null, 2)}\n`,
    [`${resultDir}/${suite}.md`]: markdown,
    stdout: `\n${markdown}\n`,
  };
}

/** Returns the times in milliseconds and the share of failures by persona, with the phase if the run has phases. */
function readPersonas(metrics) {
  const found = {};
  for (const [key, times] of Object.entries(readTimes(metrics, 'persona'))) {
    const [, name, phase] = /^(\w+)(?: \((\w+)\))?$/.exec(key);
    const tags = phase === undefined ? `persona:${name}` : `persona:${name},phase:${phase}`;
    found[key] = { ...times, failed_share: valueOf(metrics[`http_req_failed{${tags}}`], 'rate') };
  }
  return found;
}

/** Returns the times in milliseconds by tag value, with the phase if the run has phases. */
function readTimes(metrics, tag) {
  const found = {};
  const pattern = new RegExp(`^http_req_duration\\{${tag}:([^,}]+)(?:,phase:([a-z]+))?\\}$`);
  for (const [metric, { values }] of Object.entries(metrics).sort(([one], [other]) => (one < other ? -1 : 1))) {
    const [, name, phase] = pattern.exec(metric) || [];
    if (name === undefined || values.count === 0) continue;
    found[phase === undefined ? name : `${name} (${phase})`] = {
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
  const operations = Object.entries(summary.operations).map(([name, times]) => renderRow(name, times));
  const personaRows = Object.entries(summary.personas).map(([name, times]) =>
    renderRow(name, times, percent(times.failed_share)),
  );
  const crossed = summary.thresholds
    .filter(({ ok }) => !ok)
    .map(({ metric, expression }) => `- crossed: \`${metric}\` \`${expression}\``);
  const failed = summary.failed_checks.map(({ name, fails }) => `- not as expected, ${fails} times: ${name}`);
  return [
    `# ${summary.suite}: ${summary.passed ? 'passed' : 'FAILED'}`,
    '',
    `release ${summary.release}, ${summary.finished_at}, ${summary.seconds} s; ` +
      `${Object.entries(summary.load)
        .map(([name, value]) => `${name} ${value}`)
        .join(', ')}`,
    '',
    `${summary.requests} requests (${summary.requests_per_second}/s), ${percent(summary.failed_share)} failed, ` +
      `${summary.visits} visits, ${summary.visits_dropped} could not be started in time; ` +
      `${summary.thresholds.length} thresholds, ${crossed.length} crossed`,
    ...(crossed.length === 0 ? [] : ['', ...crossed]),
    ...(failed.length === 0 ? [] : ['', ...failed]),
    '',
    '| persona | count | p50 ms | p95 ms | p99 ms | max ms | failed |',
    '|---|---|---|---|---|---|---|',
    ...personaRows,
    '',
    '| operation | count | p50 ms | p95 ms | p99 ms | max ms |',
    '|---|---|---|---|---|---|',
    ...operations,
    '',
  ].join('\n');
}

function renderRow(name, { count, p50, p95, p99, max }, ...more) {
  return `| ${[name, count, p50, p95, p99, max, ...more].join(' | ')} |`;
}

function percent(share) {
  return `${(share * 100).toFixed(3)} %`;
}

function valueOf(metric, name) {
  return metric === undefined ? 0 : metric.values[name];
}

function round(value) {
  return Math.round(value * 100) / 100;
}
