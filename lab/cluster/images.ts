/** The two images of the test: the platform, and the servers it needs. */
import { chmodSync, cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { repoDir } from '../../tools/check/commands.ts';
import { provideGoTool } from '../../libs/product/servers/go-tool.ts';
import { k6Tool, natsServerTool, versitygwTool } from '../../libs/product/servers/go-tools.ts';
import { prepareNativeDir } from '../../libs/product/servers/postgres.ts';
import { run } from './commands.ts';
import type { ClusterSettings } from './settings.ts';

const tag = 'cluster';
export const platformImage = { registry: '', repository: 'coherence', tag };
export const serversImage = { registry: '', repository: 'coherence-servers', tag };

/** Returns the image reference that the nodes use. */
export function refer(settings: ClusterSettings, image: typeof platformImage): string {
  return `${settings.registry === '' ? '' : `${settings.registry}/`}${image.repository}:${image.tag}`;
}

/**
 * Builds both images and loads them onto the nodes as the settings specify. @throws Error with the output of the
 * command
 */
export async function provideImages(settings: ClusterSettings, log: (line: string) => void): Promise<void> {
  if (settings.imageCommand === '') return log('CLUSTER_IMAGE_COMMAND is not set: the images must be on the nodes');
  await provideImage(settings, repoDir, platformImage);
  await provideImage(settings, await layOutServers(log), serversImage);
}

async function provideImage(settings: ClusterSettings, dir: string, image: typeof platformImage): Promise<void> {
  const env = { ...process.env, DIR: dir, NAME: `${image.repository}:${image.tag}`, BASE_IMAGE: settings.baseImage };
  const { status, stdout, stderr } = await run(['sh', '-c', settings.imageCommand], { env });
  if (status !== 0)
    throw new Error(
      `CLUSTER_IMAGE_COMMAND failed for ${image.repository}:\n${`${stdout}\n${stderr}`.trim().slice(-2_000)}`,
    );
}

/** Builds the folder of the servers' image from programs in the local cache, so that nothing is downloaded. */
async function layOutServers(log: (line: string) => void): Promise<string> {
  const dir = join(repoDir, '.data', 'cluster', 'servers');
  rmSync(dir, { recursive: true, force: true });
  const bin = join(dir, 'bin');
  mkdirSync(bin, { recursive: true });
  const source = join(repoDir, 'test', 'cluster');
  cpSync(join(source, 'Dockerfile'), join(dir, 'Dockerfile'));
  for (const script of ['start-postgresql', 'pg_isready']) cpSync(join(source, script), join(bin, script));
  for (const tool of [natsServerTool, versitygwTool, k6Tool])
    cpSync(await provideGoTool(tool, log), join(bin, tool.name), { dereference: true });
  for (const name of ['start-postgresql', 'pg_isready', 'nats-server', 'versitygw', 'k6'])
    chmodSync(join(bin, name), 0o755);
  cpSync(prepareNativeDir(join(repoDir, 'node_modules')), join(dir, 'postgresql'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  return dir;
}
