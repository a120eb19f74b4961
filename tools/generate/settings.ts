/** Generates the reference of environment variables from the services' schemas. */
import { backupSettings } from '../../cli/backup/settings.ts';
import {
  readServiceSettings,
  type ServiceSettings,
  type SettingSchema,
} from '../../libs/product/servers/service-settings.ts';
import { auditSettings } from '../audit.ts';
import { migrationSettings } from '../migrate.ts';
import { streamSettings } from '../streams.ts';

interface Setting {
  services: string[];
  schema: SettingSchema;
  required: boolean;
}

/** Settings of programs other than the services. */
const programs: ServiceSettings[] = Object.entries({
  migrations: migrationSettings,
  streams: streamSettings,
  audit: auditSettings,
  backups: backupSettings,
}).map(([service, { properties, required }]) => ({
  service,
  properties: properties as Record<string, SettingSchema>,
  required: required ?? [],
}));

/** Returns a Markdown page with one row per variable, including the services that read it. */
export async function describeSettings(): Promise<string> {
  const settings = new Map<string, Setting>();
  const services = await readServiceSettings();
  const names = services.map(({ service }) => service);
  for (const { service, properties, required } of [...services, ...programs]) {
    for (const [name, schema] of Object.entries(properties)) {
      const known = settings.get(name);
      if (known !== undefined) known.services.push(service);
      else settings.set(name, { services: [service], schema, required: required.includes(name) });
    }
  }
  const rows = [...settings]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, setting]) => row(name, setting, names));
  return [
    '# Settings',
    '',
    'Environment variables, generated from their schemas by `npm run fix`. Each can also be a file of its name in the folder `SECRETS_DIR`.',
    'Read by services, *migrations* (`tools/migrate.ts`), *streams* (`tools/streams.ts`), *audit* (`tools/audit.ts`) and *backups* (admin CLI).',
    '',
    '| name | meaning | default | services |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** Returns the names of the services, shortened when all services, or all except the gateway, read the variable. */
function listReaders(readers: readonly string[], services: readonly string[]): string {
  const missing = services.filter((service) => !readers.includes(service));
  const others = readers.filter((reader) => !services.includes(reader));
  if (missing.length === 0) return ['all services', ...others].join(', ');
  if (missing.length === 1) return [`all services but ${missing[0]}`, ...others].join(', ');
  return readers.join(', ');
}

function row(name: string, { services, schema, required }: Setting, all: readonly string[]): string {
  const fallback = schema.default;
  const value =
    fallback === undefined
      ? required
        ? 'required'
        : 'unset'
      : fallback === ''
        ? 'empty'
        : `\`${JSON.stringify(fallback)}\``;
  const meaning = (schema.description ?? '').replaceAll('|', '\\|') + (schema.writeOnly === true ? ' (secret)' : '');
  return `| \`${name}\` | ${meaning} | ${value} | ${listReaders(services, all)} |`;
}
