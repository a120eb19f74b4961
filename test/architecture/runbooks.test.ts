/** Commands of the documents name what the chart makes. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readPlatformFacts } from '../../tools/generate/chart.ts';

const repoDir = join(import.meta.dirname, '..', '..');
const pages = globSync('{docs,deploy}/**/*.md', { cwd: repoDir }).map((page) => ({
  page,
  text: readFileSync(join(repoDir, page), 'utf8'),
}));

/** What the pages say at the first group of the expression, with the page. */
const said = (expression: RegExp): { page: string; word: string }[] =>
  pages.flatMap(({ page, text }) => [...text.matchAll(expression)].map(([, word = '']) => ({ page, word })));

/** Components of the services, and the label of each pod beside them. */
async function listComponents(): Promise<Set<string>> {
  const templates = globSync('deploy/helm/coherence/templates/**/*.yaml', { cwd: repoDir });
  const others = templates.flatMap((file) =>
    [...readFileSync(join(repoDir, file), 'utf8').matchAll(/"component" "([a-z-]+)"/g)].map(([, name = '']) => name),
  );
  return new Set([...Object.keys((await readPlatformFacts()).components), ...others]);
}

describe('kubectl and helm in the documents', () => {
  it('select components of the chart, and name its objects', async () => {
    const components = await listComponents();
    const selected = said(/component=([\w-]+)/g);
    const named = said(/\$RELEASE-([\w-]+)/g);
    expect(Math.min(selected.length, named.length)).toBeGreaterThan(10);
    // The README of the runbooks says what this stands for.
    const known = new Set([...components, 'COMPONENT']);
    expect([...selected, ...named].filter(({ word }) => !known.has(word))).toEqual([]);
  });

  it('tell the release of helm and the name of its objects apart', () => {
    expect(said(/(helm [^`\n]*\$RELEASE\b|instance=\$RELEASE\b)/g)).toEqual([]);
  });

  it('ask Prometheus for services by their own names', async () => {
    const services = new Set(Object.values((await readPlatformFacts()).components).map(({ service }) => service));
    const asked = said(/\bservice="([^"]+)"/g);
    expect(asked.length).toBeGreaterThan(3);
    expect(asked.filter(({ word }) => !services.has(word) && word !== 'SERVICE')).toEqual([]);
  });
});
