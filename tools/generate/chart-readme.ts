/** Generates the last section of the chart's `README.md`, a table of the secret settings. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chartDir, readPlatformFacts } from './chart.ts';
import { secretKeyOf } from '../../libs/product/servers/service-accounts.ts';

const heading = '## Secret settings';

export async function describeChartReadme(): Promise<string> {
  const [introduction = ''] = readFileSync(join(chartDir, 'README.md'), 'utf8').split(heading);
  return [
    introduction.trimEnd(),
    '',
    heading,
    '',
    'Keys of the Secret that `secrets.existingSecret` names. Keys marked * are required; the others enable optional features.',
    '',
    '| key | read by |',
    '|---|---|',
    ...(await listSecrets()),
    '',
  ].join('\n');
}

async function listSecrets(): Promise<string[]> {
  const { components } = await readPlatformFacts();
  const readers = new Map<string, { components: string[]; required: boolean }>([
    ['DATABASE_URL_ADMIN', { components: ['the set-up job'], required: true }],
    [
      'DATABASE_URL_AUDIT',
      { components: ['the job that keeps the audit logs, unless `audit.enabled` is false'], required: true },
    ],
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
