/** Applies the demo workspace to an empty database. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { pickVariables } from '../../libs/product/servers/process-environment.ts';
import { runNode } from './run-node.ts';

/** Settings that the admin CLI needs to apply the demo workspace. */
const cliSettings = ['NATS_URL', 'NATS_SUBJECT_PREFIX', 'MEDIA_INTERNAL_URL', 'DEMO_PASSWORD'];
export const demoWorkspaceFile = join('test', 'fixtures', 'demo-workspace.yaml');

/** Applies the demo workspace with the admin CLI. */
export async function applyDemoWorkspace(
  repoDir: string,
  dataDir: string,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const args = ['cli/main.ts', 'workspace', 'apply', demoWorkspaceFile];
  await runNode({
    title: 'Applying the demo workspace',
    repoDir,
    args,
    env: pickVariables({ ...settings, NATS_URL: settings['NATS_URL_CLI'] ?? settings['NATS_URL'] }, cliSettings),
    logFile: join(dataDir, 'logs', 'demo-workspace.log'),
  });
}

/** Returns the slugs of the demo workspace's agents. */
export function readDemoAgents(repoDir: string): string[] {
  const document = parse(readFileSync(join(repoDir, demoWorkspaceFile), 'utf8')) as { agents?: { slug: string }[] };
  return (document.agents ?? []).map(({ slug }) => slug);
}
