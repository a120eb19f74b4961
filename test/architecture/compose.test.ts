import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { nodeOptionsOf } from '../../tools/servers/service-process.ts';

const repoDir = join(import.meta.dirname, '..', '..');
const services = readdirSync(join(repoDir, 'services'));

interface ComposeService {
  command?: string[];
  entrypoint?: string[];
  environment?: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
}
interface SettingsSchema {
  properties: Record<string, unknown>;
  required?: string[];
}

async function readSchema(service: string): Promise<SettingsSchema> {
  const module = (await import(pathToFileURL(join(repoDir, 'services', service, 'config.ts')).href)) as Record<string, SettingsSchema>;
  const schema = Object.values(module).find((value) => typeof value === 'object' && 'properties' in value);
  if (schema === undefined) throw new Error(`${service} exports no schema`);
  return schema;
}

describe('compose.yaml (design/architecture.md §9)', () => {
  let compose: { services: Record<string, ComposeService>; configs: { nats: { content: string } } };

  beforeAll(() => {
    compose = parse(readFileSync(join(repoDir, 'compose.yaml'), 'utf8'), { merge: true }) as typeof compose;
  });

  it('runs every service from the one image, after the migrations', () => {
    for (const name of services) {
      expect(compose.services[name]?.command).toEqual(['node', ...nodeOptionsOf(name), `services/${name}/main.ts`]);
      expect(compose.services[name]?.depends_on?.['migrate']).toEqual({ condition: 'service_completed_successfully' });
    }
  });

  it.each(services)('gives %s what it needs and nothing that it does not know', async (name) => {
    const schema = await readSchema(name);
    const given = Object.keys(compose.services[name]?.environment ?? {});
    const defaults = Object.entries(schema.properties).filter(([, property]) => 'default' in (property as object));
    const needed = (schema.required ?? []).filter((variable) => !defaults.some(([known]) => known === variable));
    expect(given).toEqual(expect.arrayContaining(needed));
    expect(given.filter((variable) => !(variable in schema.properties))).toEqual([]);
  });

  it('lets NATS carry 8 MiB and syncs webhooks before they are acknowledged', () => {
    expect(compose.configs.nats.content).toMatch(/max_payload: 8MB/);
    expect(compose.configs.nats.content).toMatch(/sync_interval: always/);
  });

  it('names files that the image holds', () => {
    const dockerfile = readFileSync(join(repoDir, 'Dockerfile'), 'utf8');
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap((match) => (match[1] ?? '').split(' '));
    for (const { command, entrypoint } of Object.values(compose.services)) {
      const script = [...(entrypoint ?? []), ...(command ?? [])].find((part) => part.endsWith('.ts'));
      if (script === undefined) continue;
      expect(existsSync(join(repoDir, script))).toBe(true);
      expect(copied.some((path) => script === path || script.startsWith(`${path}/`))).toBe(true);
    }
  });
});
