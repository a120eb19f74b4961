/** Reads facts about the code for the Helm chart: components, their settings, the upload limit. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listPublicSecrets, minSecretLength } from '#libs/infrastructure/config';
import { maxAudioBytes, maxRecordingBytes } from '#services/media';
import { auditSettings } from '../audit.ts';
import { componentOf } from '#libs/infrastructure/release';
import { nodeOptionsOf } from '../../libs/product/servers/service-process.ts';
import {
  readServiceSettings,
  type ServiceSettings,
  type SettingSchema,
} from '../../libs/product/servers/service-settings.ts';

export const chartDir = join(import.meta.dirname, '..', '..', 'deploy', 'helm', 'coherence');

export interface PlatformFacts {
  readonly uploadLimitBytes: number;
  readonly recordingLimitBytes: number;
  /** Characters. */
  readonly shortestSecret: number;
  /** Published values, e.g. of documents, which are rejected as secrets. */
  readonly publicSecrets: readonly string[];
  /** Component name in the values → facts about the component. */
  readonly components: Readonly<Record<string, ComponentFacts>>;
  /** Settings of the job that verifies and truncates the audit logs (A2). */
  readonly audit: Pick<ComponentFacts, 'settings'>;
}

interface SettingFacts {
  readonly required: boolean;
  readonly secret: boolean;
  /** True for a secret that the installer chooses, which has a minimum length. */
  readonly own?: true;
  /** True for an account name, which is not a secret. */
  readonly name?: true;
  /** Name of another setting: this setting is required unless the other one is true. */
  readonly neededUnless?: string;
  /** Maximum number of values of a secret that can have several, separated by whitespace (K8). */
  readonly mostValues?: number;
}

interface ComponentFacts {
  /** Name of the service's folder in `services`. */
  readonly service: string;
  readonly nodeOptions: readonly string[];
  readonly settings: Readonly<Record<string, SettingFacts>>;
}

export async function readPlatformFacts(): Promise<PlatformFacts> {
  const components = (await readServiceSettings()).map(
    (settings) => [componentOf(settings.service), describeComponent(settings)] as const,
  );
  return {
    uploadLimitBytes: maxAudioBytes,
    recordingLimitBytes: maxRecordingBytes,
    shortestSecret: minSecretLength,
    publicSecrets: listPublicSecrets(),
    components: Object.fromEntries(components),
    audit: {
      settings: describeFacts(auditSettings.properties as Record<string, SettingSchema>, auditSettings.required ?? []),
    },
  };
}

/** Returns `files/platform.json` of the chart. */
export async function describePlatform(): Promise<string> {
  return `${JSON.stringify(await readPlatformFacts(), null, 2)}\n`;
}

/** Returns `files/demo-workspace.yaml` of the chart, the workspace that `npm start` applies. */
export function describeDemoWorkspace(): string {
  const text = readFileSync(join(chartDir, '..', '..', '..', 'test', 'fixtures', 'demo-workspace.yaml'), 'utf8');
  // The schema path for editors is only valid in the original file.
  return text.replace(/^# yaml-language-server: .*\n/, '');
}

function describeComponent({ service, properties, required }: ServiceSettings): ComponentFacts {
  return { service, nodeOptions: nodeOptionsOf(service), settings: describeFacts(properties, required) };
}

function describeFacts(
  properties: ServiceSettings['properties'],
  required: readonly string[],
): Record<string, SettingFacts> {
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
