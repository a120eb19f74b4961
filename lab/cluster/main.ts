/**
 * `npm run test:cluster`: installs the chart in a real cluster configured by the environment (docs/kubernetes.md), and
 * tests availability, upgrades, rejected values and security. Creates a namespace and removes it. `--from N` starts at
 * check N on the release left by an earlier run with CLUSTER_KEEP=true.
 */
import { parseArgs } from 'node:util';
import { provideGoTool } from '../../libs/product/servers/go-tool.ts';
import { helmTool } from '../../libs/product/servers/go-tools.ts';
import { capabilities } from './capabilities.ts';
import { checks } from './checks.ts';
import { connectCluster, run, type Cluster } from './commands.ts';
import { provideImages } from './images.ts';
import { readClusterSettings } from './settings.ts';

const log = (line: string): void => void process.stdout.write(`${line}\n`);

/** @returns true if all checks passed */
async function test(): Promise<boolean> {
  const { values } = parseArgs({ options: { from: { type: 'string', default: '1' } } });
  const given = readClusterSettings(process.env);
  const helm = given.helm.length > 0 ? given.helm : [await provideGoTool(helmTool, log)];
  const cluster = connectCluster({ ...given, helm });
  const first = Number(values.from);
  if (first === 1) {
    await timed('images', () => provideImages(given, log));
    await timed(`namespace ${given.namespace}`, () => makeNamespace(cluster));
  }
  let failed = 0;
  try {
    for (const [index, check] of checks.entries()) {
      if (index + 1 < first) continue;
      const startedAt = performance.now();
      const seconds = (): string => `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`;
      try {
        const reported = await check.run(cluster);
        log(
          `ok      ${index + 1} ${check.title} (${seconds()})${reported === undefined ? '' : `\n          ${reported}`}`,
        );
      } catch (error) {
        failed += 1;
        log(
          `FAILED  ${index + 1} ${check.title} (${seconds()})\n${error instanceof Error ? error.message : String(error)}`,
        );
        await showState(cluster);
        break; // later checks need the state that this check leaves
      }
    }
  } finally {
    if (!given.keep) await removeNamespace(cluster);
  }
  for (const capability of given.without)
    log(`not shown, CLUSTER_WITHOUT names it: what needs ${capabilities[capability]}`);
  log(failed === 0 ? `${checks.length - first + 1} checks passed` : 'a check failed');
  return failed === 0;
}

async function timed(title: string, work: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  await work();
  log(`        ${title} (${((performance.now() - startedAt) / 1_000).toFixed(1)} s)`);
}

async function makeNamespace(cluster: Cluster): Promise<void> {
  await removeNamespace(cluster);
  const labels = {
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/warn': 'restricted',
  };
  await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: cluster.settings.namespace, labels } });
}

async function removeNamespace({ settings }: Cluster): Promise<void> {
  const { status, stderr } = await run([
    ...settings.kubectl,
    'delete',
    'namespace',
    settings.namespace,
    '--ignore-not-found',
    '--timeout=120s',
  ]);
  if (status !== 0)
    throw new Error(`the cluster cannot be used with "${settings.kubectl.join(' ')}": ${stderr.trim()}`);
}

async function showState(cluster: Cluster): Promise<void> {
  for (const args of [
    ['get', 'pods', '-o', 'wide'],
    ['get', 'events', '--field-selector', 'type=Warning', '--sort-by', '.lastTimestamp'],
  ]) {
    log((await cluster.kubectl(args).catch((error: unknown) => String(error))).split('\n').slice(-30).join('\n'));
  }
}

try {
  process.exitCode = (await test()) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
