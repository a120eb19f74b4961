/** Tests the profile `evaluation` as a new user would use it: one release that includes all servers. */
import { join } from 'node:path';
import { execInClient } from './client.ts';
import { type Cluster, mustSucceed, until } from './commands.ts';
import { platformImage } from './images.ts';
import { findOpen } from './policies.ts';
import { describeAbsent } from './capabilities.ts';
import {
  chartDir,
  clientApp,
  components,
  describeServerImages,
  evaluationSecrets,
  listObjects,
  mergeValues,
  password,
  small,
  type Values,
} from './release.ts';

const release = 'trial';
const fullname = `${release}-coherence`;
const servers = ['nats', 'object-store', 'postgresql'];

/**
 * Client program: logs in as a demo person, then creates a person (argument `-`) or reads the person with the given id.
 * Prints the id.
 */
const program = `
const [id] = process.argv.slice(1);
const ask = async (method, path, headers, body) => {
  const json = { 'content-type': 'application/json' };
  const response = await fetch('http://${fullname}-gateway' + path, { method, headers: { ...json, ...headers }, body: body && JSON.stringify(body) });
  if (!response.ok) throw new Error(method + ' ' + path + ': ' + response.status + ' ' + (await response.text()));
  return response.json();
};
const account = { email: 'admin@example.org', password: '${password}' };
const { token } = await ask('POST', '/api/v1/auth/login', { 'x-svc-api-key': '${password}' }, account);
const own = { authorization: 'Bearer ' + token };
const found = id === '-' ? await ask('POST', '/api/v1/people', own, { name: 'Kept' }) : await ask('GET', '/api/v1/people/' + id, own);
console.log(found.person?.id ?? found.id);`;

export async function checkEvaluation(cluster: Cluster): Promise<string> {
  const hasVolumes = !cluster.settings.without.has('volumes');
  const seconds = await install(cluster, hasVolumes);
  await mustSucceed(cluster.helm(['test', release, '--timeout', '3m']));
  const id = await runProgram(cluster, '-');
  if (!cluster.settings.without.has('network-policies')) await mustBeClosed(cluster);
  await uninstall(cluster, hasVolumes);
  let reported = `ready after ${seconds} s`;
  if (hasVolumes) {
    const again = await install(cluster, hasVolumes);
    if ((await runProgram(cluster, id)) !== id) throw new Error(`person ${id} is not found again`);
    await uninstall(cluster, hasVolumes);
    reported += `, with the data that were left after ${again} s`;
  }
  return reported;
}

/** @returns seconds until every pod was ready */
async function install(cluster: Cluster, hasVolumes: boolean): Promise<number> {
  const startedAt = performance.now();
  const { settings } = cluster;
  const values: Values = {
    global: { imageRegistry: settings.registry },
    image: platformImage,
    components: Object.fromEntries(components.map((name) => [name, { resources: small }])),
    evaluation: { ...describeServerImages(), persistence: { enabled: hasVolumes } },
  };
  const args = [
    'install',
    release,
    chartDir,
    '-f',
    join(chartDir, 'ci', 'evaluation-values.yaml'),
    '-f',
    '-',
    '--timeout',
    '10m',
  ];
  const { status, stderr } = await cluster.helm(args, {
    input: JSON.stringify(mergeValues(evaluationSecrets, values)),
  });
  if (status !== 0) throw new Error(`${stderr.trim()}\n${await explainClaims(cluster)}`);
  for (const name of servers) await rolledOut(cluster, `statefulset/${fullname}-${name}`);
  for (const name of components) await rolledOut(cluster, `deployment/${fullname}-${name}`);
  return Math.round((performance.now() - startedAt) / 1_000);
}

async function rolledOut(cluster: Cluster, workload: string): Promise<void> {
  await cluster.kubectl(['rollout', 'status', workload, '--timeout=300s']);
}

async function explainClaims(cluster: Cluster): Promise<string> {
  const phases = await cluster.kubectl(['get', 'persistentvolumeclaims', '-o', 'jsonpath={.items[*].status.phase}']);
  return phases.includes('Pending') ? describeAbsent('volumes') : '';
}

function runProgram(cluster: Cluster, id: string): Promise<string> {
  return execInClient(cluster, ['node', '--input-type=module', '--eval', program, id]).then((text) => text.trim());
}

/** Verifies that only the release can reach its servers, since their credentials are published. */
async function mustBeClosed(cluster: Cluster): Promise<void> {
  const ports = { nats: 4222, 'object-store': 7070, postgresql: 5432 };
  const targets = Object.entries(ports).map(([name, port]) => [`${fullname}-${name}`, port] as const);
  const open = await findOpen(cluster, `pod/${clientApp}`, targets);
  if (open.length > 0) throw new Error(`an unrelated pod reaches ${open.join(', ')}`);
}

async function uninstall(cluster: Cluster, hasVolumes: boolean): Promise<void> {
  await mustSucceed(cluster.helm(['uninstall', release, '--wait', '--timeout', '3m']));
  const claims = hasVolumes ? servers.map((name) => `persistentvolumeclaim/data-${fullname}-${name}-0`) : [];
  const expected = [`configmap/${fullname}-test`, ...claims, `pod/${fullname}-test`].join(' ');
  await until('nothing else to be left', 60_000, async () => {
    const remaining = (await listObjects(cluster, release)).join(' ');
    if (remaining !== expected) throw new Error(`left are ${remaining}`);
    return true;
  });
}
