/** Derives the reference of environment variables from the services' schemas. */
import { backupSettings } from '../../cli/backup/settings.ts';
import { readServiceSettings, type ServiceSettings, type SettingSchema } from '../../libs/servers/service-settings.ts';
import { auditSettings } from '../audit.ts';
import { migrationSettings } from '../migrate.ts';
import { streamSettings } from '../streams.ts';

interface Setting {
  services: string[];
  schema: SettingSchema;
  required: boolean;
}

/** Programs beside the services. */
const programs: ServiceSettings[] = Object.entries({
  migrations: migrationSettings,
  'set-up of the streams': streamSettings,
  'keeping of the audit logs': auditSettings,
  'backups of the admin CLI': backupSettings,
}).map(([service, { properties, required }]) => ({
  service,
  properties: properties as Record<string, SettingSchema>,
  required: required ?? [],
}));

/** Markdown: one row per variable, with the services that read it. */
export async function describeSettings(): Promise<string> {
  const settings = new Map<string, Setting>();
  for (const { service, properties, required } of [...(await readServiceSettings()), ...programs]) {
    for (const [name, schema] of Object.entries(properties)) {
      const known = settings.get(name);
      if (known !== undefined) known.services.push(service);
      else settings.set(name, { services: [service], schema, required: required.includes(name) });
    }
  }
  const rows = [...settings].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, setting]) => row(name, setting));
  return [
    '# Settings',
    '',
    'Environment variables of the services, of the migrations, of the set-up of the streams, of the keeping of the audit logs and of backups, written from their schemas by `npm run fix`; change the schema, not this file.',
    'Each may also be a file of its name in the folder that `SECRETS_DIR` names, e.g. a mounted Secret.',
    '',
    '| name | meaning | default | services |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function row(name: string, { services, schema, required }: Setting): string {
  const fallback = schema.default;
  const value = fallback === undefined ? (required ? 'required' : 'unset') : fallback === '' ? 'empty' : `\`${JSON.stringify(fallback)}\``;
  const meaning = (schema.description ?? '').replaceAll('|', '\\|') + (schema.writeOnly === true ? ' (secret)' : '');
  return `| \`${name}\` | ${meaning} | ${value} | ${services.join(', ')} |`;
}
