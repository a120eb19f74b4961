/**
 * PostgreSQL with a standby in the place of the profile's one server: the Service leads to the one that takes writes, the peers have names of their
 * own, commits are answered when both have them. A pod that is lost is lost with its data; the new one follows what is left.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repoDir } from '../../tools/check/commands.ts';
import type { Cluster } from './commands.ts';
import { platformImage, refer } from './images.ts';
import type { ServerObject } from './nats-cluster.ts';
import type { ClusterSettings } from './settings.ts';

/** The Service that leads to the PostgreSQL that takes writes. */
export const postgresServer = 'servers-coherence-postgresql';
const name = postgresServer;
const peers = `${name}-peers`;
const podLabel = 'statefulset.kubernetes.io/pod-name';
export const postgresPods = [`${name}-0`, `${name}-1`] as const;
export const postgresHosts = postgresPods.map((pod) => `${pod}.${peers}:5432`).join(',');

interface PodSpec {
  containers: { args?: string[]; env?: object[]; volumeMounts?: object[] }[];
}

/** Objects of the profile `evaluation` with a pair of PostgreSQL in them; everything else stays as it is. */
export function pairPostgres(objects: readonly ServerObject[], settings: ClusterSettings): ServerObject[] {
  const changed = objects.map((item) => {
    if (item.metadata.name !== name) return item;
    return item.kind === 'StatefulSet' ? withStandby(item, settings) : leadingTo(item, postgresPods[0]);
  });
  const service = objects.find(({ kind, metadata }) => kind === 'Service' && metadata.name === name);
  if (service === undefined) throw new Error(`the profile has no Service ${name}`);
  // A standby is found before it is ready: who is alone is told by there being no other name.
  const spec = { ...service.spec, clusterIP: 'None', publishNotReadyAddresses: true };
  return [...changed, { ...service, metadata: { ...service.metadata, name: peers }, spec }];
}

function leadingTo(service: ServerObject, pod: string): ServerObject {
  return { ...service, spec: { ...service.spec, selector: { [podLabel]: pod } } };
}

function withStandby(set: ServerObject, settings: ClusterSettings): ServerObject {
  const { template, ...spec } = set.spec as { template: { metadata: object; spec: PodSpec } };
  const [server] = template.spec.containers;
  const follow = readFileSync(join(repoDir, 'test', 'cluster', 'follow.mjs'), 'utf8');
  const script = `case $POD_NAME in *-0) export IS_FIRST=true PEER=${postgresPods[1]}.${peers} ;; *) export PEER=${postgresPods[0]}.${peers} ;; esac
exec node --input-type=module --eval "$FOLLOW"`;
  const copying = {
    ...server,
    name: 'follow',
    image: refer(settings, platformImage),
    command: ['sh', '-c', script],
    args: [],
    ports: [],
    readinessProbe: undefined,
    env: [
      ...(server?.env ?? []),
      { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'PEERS', value: peers },
      { name: 'FOLLOW', value: follow },
    ],
  };
  // Kept for a standby that is being copied.
  const containers = template.spec.containers.map((container) => ({
    ...container,
    args: [...(container.args ?? []), '-c', 'wal_keep_size=512MB'],
  }));
  return {
    ...set,
    spec: {
      ...spec,
      serviceName: peers,
      replicas: 2,
      template: { ...template, spec: { ...template.spec, initContainers: [copying], containers } },
    },
  };
}

/** Both are there: from now on a commit is answered when the other has it too. */
export async function makeSynchronous(cluster: Cluster, primary: string): Promise<void> {
  await cluster.kubectl(['rollout', 'status', `statefulset/${name}`, '--timeout=180s']);
  await execIn(
    cluster,
    primary,
    `echo "synchronous_standby_names = '*'" >> "$PGDATA/postgresql.auto.conf" && ${pgCtl} reload -D "$PGDATA"`,
  );
}

/** The pod that the Service leads to. */
export async function findPrimary(cluster: Cluster): Promise<string> {
  const { spec } = JSON.parse(await cluster.kubectl(['get', 'service', name, '-o', 'json'])) as {
    spec: { selector: Record<string, string> };
  };
  return spec.selector[podLabel] ?? '';
}

/** As an operator does when the primary is lost: the standby takes writes, and the Service leads there. @returns its pod. */
export async function promoteStandby(cluster: Cluster): Promise<string> {
  const standby = (await findPrimary(cluster)) === postgresPods[0] ? postgresPods[1] : postgresPods[0];
  await execIn(cluster, standby, `${pgCtl} promote -D "$PGDATA"`);
  const patch = { spec: { selector: { [podLabel]: standby } } };
  await cluster.kubectl(['patch', 'service', name, '--type=merge', '--patch', JSON.stringify(patch)]);
  return standby;
}

const pgCtl = '/opt/postgresql/bin/pg_ctl';

function execIn(cluster: Cluster, pod: string, script: string): Promise<string> {
  return cluster.kubectl(['exec', pod, '-c', 'postgresql', '--', 'sh', '-c', script]);
}
