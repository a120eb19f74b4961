/** Checks that runbooks follow one template and that documented objects, metrics and messages exist. */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readPlatformFacts } from '../../tools/generate/chart.ts';
import { isClusterMetric, readAlerts, readExpression } from '../integration/telemetry/promql.ts';

const repoDir = join(import.meta.dirname, '..', '..');
const read = (path: string): string => readFileSync(join(repoDir, path), 'utf8');
const pages = globSync('{docs,deploy}/**/*.md', { cwd: repoDir }).map((page) => ({ page, text: read(page) }));

/** Returns what the first group of the expression matches in all pages. */
const findWords = (expression: RegExp): { page: string; word: string }[] =>
  pages.flatMap(({ page, text }) => [...text.matchAll(expression)].map(([, word = '']) => ({ page, word })));

/** Returns the components of the services and of the other pods in the chart. */
async function listComponents(): Promise<Set<string>> {
  const templates = globSync('deploy/helm/coherence/templates/**/*.yaml', { cwd: repoDir });
  const others = templates.flatMap((file) =>
    [...read(file).matchAll(/"component" "([a-z-]+)"/g)].map(([, name = '']) => name),
  );
  return new Set([...Object.keys((await readPlatformFacts()).components), ...others]);
}

const alerts = readAlerts();
const runbooks = pages
  .filter(({ page }) => page.startsWith('docs/runbooks/') && !page.endsWith('README.md'))
  .map(({ page, text }) => ({ name: basename(page, '.md'), text }));
const sources = globSync('{cli,libs,services,tools}/**/*.ts', { cwd: repoDir })
  .filter((path) => !path.includes('node_modules') && !path.endsWith('.test.ts'))
  .map(read)
  .join('\n');

/**
 * Metric names without the prefix `coherence_`: first strings of calls and lists, plus `_total` and `_duration_seconds`
 * of pairs declared together.
 */
const declared = new Set(
  [...sources.matchAll(/(\bred)?[([]\s*'([a-z]+(?:_[a-z]+)+)'/g)].flatMap(([, pair, name = '']) =>
    pair === undefined ? [name] : [`${name}_total`, `${name}_duration_seconds`],
  ),
);
/** Node metrics of the Prometheus client. */
const isProcessMetric = (metric: string): boolean => /^(nodejs|process)_/.test(metric);

function isKnownMetric(metric: string): boolean {
  if (isClusterMetric(metric) || isProcessMetric(metric)) return true;
  const [, name = ''] = /^coherence_(.+)$/.exec(metric) ?? [];
  return declared.has(name) || declared.has(name.replace(/_(bucket|count|sum)$/, ''));
}

const listCode = (text: string): string[] =>
  [...text.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);

/** Returns messages in quotation marks and log search terms of commands, without fields of log lines. */
function listMessages(text: string): string[] {
  const quoted = [
    ...text
      .replaceAll(/^```[\s\S]*?^```$/gm, '')
      .replaceAll(/`[^`\n]*`/g, '')
      .matchAll(/"([^"\n]+)"/g),
  ];
  const searched = [...text.matchAll(/\| grep (?:-i )?(?:'([^'"]+)'|([a-zA-Z][\w-]*))/g)];
  return [...quoted, ...searched]
    .map(([, first, second]) => first ?? second ?? '')
    .filter((message) => message !== 'REQUEST_ID');
}

describe('runbooks (rules/operations#alerts-and-dashboards)', () => {
  it('every alert has one runbook, which the index lists with the severity of the alert', () => {
    expect(runbooks.map(({ name }) => name).toSorted()).toEqual(alerts.map(({ runbook }) => runbook).toSorted());
    const list = [...read('docs/runbooks/README.md').matchAll(/^- \[Coherence.*$/gm)].map(([line]) => line);
    expect(list).toEqual(
      alerts.map(({ alert, runbook, labels }) => `- [${alert}](${runbook}.md) (${labels.severity})`),
    );
  });

  it.each(runbooks)('runbook $name has the title, the sections and the length of the template', ({ name, text }) => {
    expect(text.match(/^#+ .*$/gm)).toEqual([
      `# ${alerts.find(({ runbook }) => runbook === name)?.alert}`,
      '## Symptom',
      '## Check',
      '## Fix',
      '## Resolved when',
    ]);
    expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(40);
    for (const section of text.split(/^#+ .*$/m).slice(2)) expect(section.trim()).not.toBe('');
  });

  it('runbooks end with the console page that displays the alert', () => {
    const titles = [...read('services/api-gateway/console-page/pages.js').matchAll(/title: '(\w+)'/g)].map(
      ([, title = '']) => title,
    );
    expect(titles.length).toBeGreaterThan(10);
    for (const { name, text } of runbooks) {
      const [, named = ''] = /^Console page: (none\b|\*\w+\*).*$/.exec(text.trimEnd().split('\n').at(-1) ?? '') ?? [];
      expect([name, ['none', ...titles]]).toEqual([name, expect.arrayContaining([named.replaceAll('*', '')])]);
    }
  });

  it('runbooks query existing metrics in valid PromQL', () => {
    const queries = runbooks.flatMap(({ name, text }) =>
      listCode(text)
        .filter(
          (code) =>
            /\b(coherence|nodejs|process|container|kube|kubelet)_\w+/.test(code) &&
            !/^(kubectl|npm|select) /.test(code),
        )
        .map((query) => ({ name, query })),
    );
    expect(queries.length).toBeGreaterThan(100);
    const metrics = queries.flatMap(({ name, query }) =>
      readExpression(query).selectors.map(({ metric }) => ({ name, metric })),
    );
    expect(metrics.filter(({ metric }) => !isKnownMetric(metric))).toEqual([]);
  });

  it('runbooks quote messages that the code contains', () => {
    const text = sources.toLowerCase();
    const messages = runbooks.flatMap((runbook) =>
      listMessages(runbook.text).map((message) => ({ name: runbook.name, message })),
    );
    expect(messages.length).toBeGreaterThan(20);
    expect(messages.filter(({ message }) => !text.includes(message.toLowerCase()))).toEqual([]);
  });
});

describe('kubectl, helm and Prometheus in the documents', () => {
  it('kubectl commands in the documents select components and objects of the chart', async () => {
    const components = await listComponents();
    const selected = findWords(/component=([\w-]+)/g);
    const named = findWords(/\$RELEASE-([\w-]+)/g);
    expect(Math.min(selected.length, named.length)).toBeGreaterThan(10);
    // `COMPONENT` is a placeholder (docs/runbooks/README.md).
    const known = new Set([...components, 'COMPONENT']);
    expect([...selected, ...named].filter(({ word }) => !known.has(word))).toEqual([]);
  });

  it('commands in the documents distinguish the Helm release from the prefix of its objects', () => {
    expect(findWords(/(helm [^`\n]*\$RELEASE\b|instance=\$RELEASE\b)/g)).toEqual([]);
  });

  it('Prometheus queries in the documents use the service names of the metrics', async () => {
    const services = new Set(Object.values((await readPlatformFacts()).components).map(({ service }) => service));
    const asked = findWords(/\bservice="([^"]+)"/g);
    expect(asked.length).toBeGreaterThan(3);
    expect(asked.filter(({ word }) => !services.has(word) && word !== 'SERVICE')).toEqual([]);
  });
});
