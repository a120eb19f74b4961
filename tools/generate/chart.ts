/** What the Helm chart needs to know of the code: components, their settings, the upload limit. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listPublicSecrets, minSecretLength } from '#libs/config';
import { maxAudioBytes, maxRecordingBytes } from '#services/media';
import { auditSettings } from '../audit.ts';
import { componentOf } from '#libs/release';
import { nodeOptionsOf } from '../../libs/servers/service-process.ts';
import { readServiceSettings, type ServiceSettings, type SettingSchema } from '../../libs/servers/service-settings.ts';

export const chartDir = join(import.meta.dirname, '..', '..', 'deploy', 'helm', 'coherence');

export interface PlatformFacts {
  readonly uploadLimitBytes: number;
  readonly recordingLimitBytes: number;
  /** Characters. */
  readonly shortestSecret: number;
  /** What nobody may use for one. */
  readonly publicSecrets: readonly string[];
  /** By the component's name in the values. */
  readonly components: Readonly<Record<string, ComponentFacts>>;
  /** Of the job that verifies and shortens the audit logs (A2). */
  readonly audit: Pick<ComponentFacts, 'settings'>;
}

interface SettingFacts {
  readonly required: boolean;
  readonly secret: boolean;
  /** Of a secret that must be long. */
  readonly own?: true;
  /** Of what names an account, and is no secret by itself. */
  readonly name?: true;
  /** Needed too, unless this setting is true. */
  readonly neededUnless?: string;
  /** Of a secret that may have several values, separated by white space (K8). */
  readonly mostValues?: number;
}

interface ComponentFacts {
  /** Folder in `services`. */
  readonly service: string;
  readonly nodeOptions: readonly string[];
  readonly settings: Readonly<Record<string, SettingFacts>>;
}

export async function readPlatformFacts(): Promise<PlatformFacts> {
  const components = (await readServiceSettings()).map((settings) => [componentOf(settings.service), describeComponent(settings)] as const);
  return {
    uploadLimitBytes: maxAudioBytes,
    recordingLimitBytes: maxRecordingBytes,
    shortestSecret: minSecretLength,
    publicSecrets: listPublicSecrets(),
    components: Object.fromEntries(components),
    audit: { settings: describeFacts(auditSettings.properties as Record<string, SettingSchema>, auditSettings.required ?? []) },
  };
}

/** `files/platform.json` of the chart. */
export async function describePlatform(): Promise<string> {
  return `${JSON.stringify(await readPlatformFacts(), null, 2)}\n`;
}

/** `files/demo-workspace.yaml` of the chart: what `npm start` applies too. */
export function describeDemoWorkspace(): string {
  const text = readFileSync(join(chartDir, '..', '..', '..', 'test', 'fixtures', 'demo-workspace.yaml'), 'utf8');
  // The path to the schema of editors is good where the file is written.
  return text.replace(/^# yaml-language-server: .*\n/, '');
}

function describeComponent({ service, properties, required }: ServiceSettings): ComponentFacts {
  return { service, nodeOptions: nodeOptionsOf(service), settings: describeFacts(properties, required) };
}

function describeFacts(properties: ServiceSettings['properties'], required: readonly string[]): Record<string, SettingFacts> {
  return Object.fromEntries(
    Object.entries(properties)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, schema]) => [
        name,
        {
          required: required.includes(name) && schema.default === undefined,
          secret: schema.writeOnly === true,
          ...(schema.chosenByUs === true ? { own: true } : {}),
          ...(schema.namesAccount === true ? { name: true } : {}),
          ...(schema.neededUnless === undefined ? {} : { neededUnless: schema.neededUnless }),
          ...(schema.mostValues === undefined ? {} : { mostValues: schema.mostValues }),
        },
      ]),
  );
}
