/** Tests the network policies with connections from pods that the policies allow, and from other pods. */
import { callUrl, type Cluster, until } from './commands.ts';
import { clientApp, components, modelPort, othersApp, releaseName } from './release.ts';

/** Source, target host and port, and whether the chart allows the connection. */
type Connection = readonly [from: string, to: string, port: number, isOpen: boolean];

const deploymentOf = (component: string): string => `deploy/${releaseName}-${component}`;
const client = `pod/${clientApp}`;
const others = `pod/${othersApp}`;
const serverOf = (name: string): string => `servers-coherence-${name}`;

const connections: readonly Connection[] = [
  [others, `${releaseName}-agents-metrics`, 9090, true], // `metricsFrom` allows this pod
  ...components.map((name) => [client, `${releaseName}-${name}-metrics`, 9090, false] as const),
  [client, `${releaseName}-gateway`, 80, true], // `gatewayFrom` allows this pod
  [deploymentOf('directory'), `${releaseName}-gateway`, 80, false],
  [client, `${releaseName}-media`, 8081, false],
  [deploymentOf('gateway'), `${releaseName}-media`, 8081, true],
  [deploymentOf('agents'), `${releaseName}-media`, 8081, false],
  [client, `${releaseName}-media`, 8082, false],
  ...['gateway', 'transcripts', 'toolbox'].map(
    (name) => [deploymentOf(name), `${releaseName}-media`, 8082, true] as const,
  ),
  ...['agents', 'directory'].map((name) => [deploymentOf(name), `${releaseName}-media`, 8082, false] as const),
  ...components.map((name) => [deploymentOf(name), serverOf('nats'), 4222, true] as const),
  ...components.map((name) => [deploymentOf(name), serverOf('postgresql'), 5432, name !== 'gateway'] as const),
  ...components.map((name) => [deploymentOf(name), serverOf('object-store'), 7070, name === 'media'] as const),
  [deploymentOf('agents'), othersApp, modelPort, true],
  [deploymentOf('directory'), othersApp, modelPort, false],
];

/** Checks whether the network enforces policies at all, by briefly closing the simulated servers in the demo's pod. */
async function enforcesPolicies(cluster: Cluster): Promise<boolean> {
  const isOpen = async (): Promise<boolean> => (await findOpen(cluster, client, [[othersApp, modelPort]])).length === 1;
  await until(`${othersApp}:${modelPort} to be reached`, 30_000, isOpen);
  const spec = { podSelector: { matchLabels: { app: othersApp } }, policyTypes: ['Ingress'] };
  await cluster.apply({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name: 'probe' }, spec });
  try {
    await until('the network to close a port', 20_000, async () => !(await isOpen()));
    return true;
  } catch {
    return false;
  } finally {
    await cluster.kubectl(['delete', 'networkpolicy', 'probe']);
    await until(`${othersApp}:${modelPort} to be reached again`, 30_000, isOpen);
  }
}

export async function checkPolicies(cluster: Cluster): Promise<string> {
  if (!(await callUrl(cluster, 'network-policies', () => enforcesPolicies(cluster))))
    return 'accepted, not enforced here';
  const wrong: string[] = [];
  for (const from of new Set(connections.map(([name]) => name))) {
    const own = connections.filter(([name]) => name === from);
    const open = await findOpen(
      cluster,
      from,
      own.map(([, to, port]) => [to, port] as const),
    );
    for (const [, to, port, isOpen] of own) {
      if (open.includes(`${to}:${port}`) !== isOpen)
        wrong.push(`${from} → ${to}:${port} is ${isOpen ? 'closed' : 'open'}`);
    }
  }
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
  return `${connections.length} connections, ${connections.filter(([, , , isOpen]) => isOpen).length} of them open`;
}

/** @returns the targets that accept a TCP connection within five seconds, as `host:port` */
export async function findOpen(
  cluster: Cluster,
  from: string,
  targets: readonly (readonly [string, number])[],
): Promise<string[]> {
  const program = `for (const [host, port] of ${JSON.stringify(targets)}) {
    const socket = require('node:net').connect({ host, port, timeout: 5000 });
    const end = (word) => { console.log(word, host + ':' + port); socket.destroy(); };
    socket.on('connect', () => end('open')).on('timeout', () => end('closed'))
      .on('error', ({ code }) => end(code === 'ECONNREFUSED' || code.endsWith('UNREACH') ? 'closed' : code));
  }`;
  const container = from === others ? ['-c', `port-${modelPort}`] : [];
  const output = await cluster.kubectl(['exec', from, ...container, '--', 'node', '--eval', program]);
  const answers = output.trim().split('\n');
  const unclear = answers.filter((line) => !/^(open|closed) /.test(line));
  if (unclear.length > 0 || answers.length !== targets.length)
    throw new Error(`${from}: ${unclear.join(', ') || 'too few answers'}`);
  return answers.filter((line) => line.startsWith('open ')).map((line) => line.replace('open ', ''));
}
