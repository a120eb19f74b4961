/** Checks of the chart that need no rendering; `npm run test:release` renders it (test/helm). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';

const chartDir = join(import.meta.dirname, '..', '..', 'deploy', 'helm', 'coherence');
type Values = Record<string, unknown>;
const readYaml = (...path: string[]): Values => parse(readFileSync(join(chartDir, ...path), 'utf8')) as Values;
const defaults = readYaml('values.yaml');
const templates = readdirSync(join(chartDir, 'templates'), { recursive: true, encoding: 'utf8' }).filter((file) =>
  /\.(yaml|tpl|txt)$/.test(file),
);
const isMap = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Merges values as Helm does: maps key by key, other values are replaced. */
function merge(base: Values, over: Values): Values {
  const merged = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const present = merged[key];
    merged[key] = isMap(present) && isMap(value) ? merge(present, value) : value;
  }
  return merged;
}

describe('the Helm chart without rendering', () => {
  const validate = new Ajv2020({ strict: false, allErrors: true }).compile(
    JSON.parse(readFileSync(join(chartDir, 'values.schema.json'), 'utf8')),
  );

  it.each(readdirSync(join(chartDir, 'ci')))('accepts the values of %s', (file) => {
    validate(merge(defaults, readYaml('ci', file)));
    expect(validate.errors).toBeNull();
  });

  it('rejects a misspelt chart value', () => {
    expect(validate(merge(defaults, { ingres: { enabled: true } }))).toBe(false);
  });

  it.each(templates)('%s reads only existing chart values and closes all its blocks', (file) => {
    const text = readFileSync(join(chartDir, 'templates', file), 'utf8');
    const unknown = [...text.matchAll(/\$?\.Values((?:\.\w+)+)/g)]
      .map(([, path = '']) => path.slice(1).split('.'))
      .filter(
        ([first = '', second]) =>
          !(first in defaults) ||
          (second !== undefined && isClosed(defaults[first]) && !hasKey(defaults[first], second)),
      );
    expect(unknown).toEqual([]);
    const opened = [...text.matchAll(/\{\{-?\s*(?:if|range|with|define|block)\b/g)].length;
    const closed = [...text.matchAll(/\{\{-?\s*end\b/g)].length;
    expect(closed).toBe(opened);
  });
});

/** Returns whether the value is a non-empty map. Empty maps are filled by the user of the chart. */
const isClosed = (value: unknown): boolean => isMap(value) && Object.keys(value).length > 0;
const hasKey = (value: unknown, key: string): boolean => isMap(value) && key in value;
