/** `README.md` of the chart: its introduction, and one table of the values, written from the comments in values.yaml. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, isScalar, parseDocument, type Pair, type YAMLMap } from 'yaml';
import { chartDir, readPlatformFacts } from './chart.ts';
import { secretKeyOf } from '../servers/service-accounts.ts';

interface Row {
  readonly key: string;
  readonly fallback: string;
  readonly meaning: string;
}

/** Sections that are shown as one value, not key by key. */
const wholes = new Set(['resources', 'requests', 'limits', 'image', 'podSecurityContext', 'containerSecurityContext', 'labels']);

export async function describeChartReadme(): Promise<string> {
  const values = parseDocument(readFileSync(join(chartDir, 'values.yaml'), 'utf8')).contents as YAMLMap;
  const rows = listRows(values, '', '');
  const introduction = readFileSync(join(chartDir, 'README.head.md'), 'utf8').trimEnd();
  return [
    introduction,
    '',
    '## Secret settings',
    '',
    'Keys of the Secret that `secrets.existingSecret` names. Keys marked * are required; the others enable optional features.',
    '',
    '| key | read by |',
    '|---|---|',
    ...(await listSecrets()),
    '',
    '## Values',
    '',
    'Generated from the comments in `values.yaml` by `npm run fix`. Sections of `components` accept every key of `defaults`.',
    '',
    '| key | default | meaning |',
    '|---|---|---|',
    ...rows.map(({ key, fallback, meaning }) => `| \`${key}\` | \`${fallback}\` | ${meaning} |`),
    '',
  ].join('\n');
}

function listRows(map: YAMLMap, prefix: string, inherited: string): Row[] {
  return map.items.flatMap((pair, index) => {
    const key = prefix + String(isScalar(pair.key) ? pair.key.value : pair.key);
    const own = readComment(pair, index === 0 ? map : undefined);
    const name = key.slice(prefix.length);
    if (isMap(pair.value) && pair.value.items.length > 0 && !wholes.has(name)) return listRows(pair.value, `${key}.`, own);
    const json = JSON.stringify((pair.value as { toJSON?: () => unknown } | null)?.toJSON?.() ?? null);
    return [{ key, fallback: json.replaceAll('|', '\\|'), meaning: (own === '' ? inherited : own).replaceAll('|', '\\|') }];
  });
}

/** The comment that begins with `--`, on one line; the first key's comment hangs on its map. */
function readComment(pair: Pair, map: YAMLMap | undefined): string {
  const key = pair.key as { commentBefore?: string | null };
  const comment = key.commentBefore ?? map?.commentBefore ?? '';
  const lines = comment.split('\n');
  const start = lines.findLastIndex((line) => line.startsWith(' -- '));
  return start < 0 ? '' : lines.slice(start).join(' ').slice(4).replaceAll(/\s+/g, ' ').trim();
}

async function listSecrets(): Promise<string[]> {
  const { components } = await readPlatformFacts();
  const readers = new Map<string, { components: string[]; required: boolean }>([
    ['DATABASE_URL_ADMIN', { components: ['the set-up job'], required: true }],
    ['DATABASE_URL_AUDIT', { components: ['the job that keeps the audit logs, unless `audit.enabled` is false'], required: true }],
    ['NATS_URL_ADMIN', { components: ['the set-up job'], required: true }],
    ['DEMO_PASSWORD', { components: ['the workspace job, with `workspace.demo`'], required: false }],
    ['NATS_URL_CLI', { components: ['the toolbox', 'the job that applies a workspace file'], required: false }],
  ]);
  for (const [component, { settings }] of Object.entries(components)) {
    for (const [name, { secret, required: always, neededUnless }] of Object.entries(settings)) {
      if (!secret) continue;
      const required = always || neededUnless !== undefined;
      const key = secretKeyOf(component, name);
      const known = readers.get(key) ?? { components: [], required };
      readers.set(key, { components: [...known.components, component], required: known.required || required });
    }
  }
  return [...readers]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, reader]) => `| \`${key}\`${reader.required ? ' *' : ''} | ${reader.components.join(', ')} |`);
}
