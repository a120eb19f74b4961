/** What the network lets through: asked with connections, from pods that the policies know and from others. */
import { askFor } from './capabilities.ts';
import { type Cluster, until } from './commands.ts';
import { clientApp, components, modelPort, othersApp, platformSelector, releaseName } from './release.ts';

/** From where, to which host and port, and whether the chart promises that it is open. */
type Connection = readonly [from: string, to: string, port: number, isOpen: boolean];

const deploymentOf = (component: string): string => `deploy/${releaseName}-${component}`;
const client = `pod/${clientApp}`;
const others = `pod/${othersApp}`;
const serverOf = (name: string): string => `servers-coherence-${name}`;

const connections: readonly Connection[] = [
  [others, `${releaseName}-agents`, 9090, true], // one of metricsFrom
  ...components.map((name) => [client, `${releaseName}-${name}`, 9090, false] as const),
  [client, `${releaseName}-gateway`, 80, true], // one of gatewayFrom
  [deploymentOf('directory'), `${releaseName}-gateway`, 80, false],
  [client, `${releaseName}-media`, 8081, false],
  [deploymentOf('gateway'), `${releaseName}-media`, 8081, true],
  [deploymentOf('toolbox'), `${releaseName}-media`, 8081, true],
  [deploymentOf('agents'), `${releaseName}-media`, 8081, false],
  ...components.map((name) => [deploymentOf(name), serverOf('nats'), 4222, true] as const),
  ...components.map((name) => [deploymentOf(name), serverOf('postgresql'), 5432, name !== 'gateway'] as const),
  ...components.map((name) => [deploymentOf(name), serverOf('minio'), 9000, name === 'media'] as const),
  [deploymentOf('agents'), othersApp, modelPort, true],
  [deploymentOf('directory'), othersApp, modelPort, false],
];

/** The server of others in the demo's pod closed for a moment: whether the network enforces policies at all. */
async function enforcesPolicies(cluster: Cluster): Promise<boolean> {
  if (!(await connects(cluster, client, othersApp, modelPort))) throw new Error(`${othersApp}:${modelPort} cannot be reached`);
  const spec = { podSelector: { matchLabels: { app: othersApp } }, policyTypes: ['Ingress'] };
  await cluster.apply({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name: 'probe' }, spec });
  try {
    await until('the network to close a port', 20_000, async () => !(await connects(cluster, client, othersApp, modelPort)));
    return true;
  } catch {
    return false;
  } finally {
    await cluster.kubectl(['delete', 'networkpolicy', 'probe']);
  }
}

export async function checkPolicies(cluster: Cluster): Promise<string> {
  if (!(await askFor(cluster, 'network-policies', () => enforcesPolicies(cluster)))) return 'accepted, not enforced here';
  const wrong: string[] = [];
  for (const [from, to, port, isOpen] of connections) {
    // What the probe closed may take a moment to be open again.
    await until('', 10_000, async () => (await connects(cluster, from, to, port)) === isOpen).catch(() =>
      wrong.push(`${from} → ${to}:${port} is ${isOpen ? 'closed' : 'open'}`),
    );
  }
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
  const pods = await cluster.listPods(platformSelector);
  if (!pods.every(({ ready }) => ready)) throw new Error('a pod is not ready');
  return `${connections.length} connections, ${connections.filter(([, , , isOpen]) => isOpen).length} of them open`;
}

/** Whether a TCP connection is taken within two seconds. */
export async function connects(cluster: Cluster, from: string, host: string, port: number): Promise<boolean> {
  const program = `const socket = require('node:net').connect({ host: '${host}', port: ${port}, timeout: 2000 });
    const end = (word) => { console.log(word); socket.destroy(); };
    socket.on('connect', () => end('open')).on('timeout', () => end('closed'))
      .on('error', ({ code }) => end(code === 'ECONNREFUSED' || code.endsWith('UNREACH') ? 'closed' : code));`;
  const container = from === others ? ['-c', `port-${modelPort}`] : [];
  const output = (await cluster.kubectl(['exec', from, ...container, '--', 'node', '--eval', program])).trim();
  if (output !== 'open' && output !== 'closed') throw new Error(`${from} → ${host}:${port}: ${output}`);
  return output === 'open';
}
