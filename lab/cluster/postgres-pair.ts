/**
 * Replaces the profile's PostgreSQL server with a pair. The Service points to the primary, each server has a separate
 * name, and a commit is acknowledged when both servers have it. A lost pod loses its data; its replacement follows the
 * remaining server.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repoDir } from '../../tools/check/commands.ts';
import type { Cluster } from './commands.ts';
import { platformImage, refer } from './images.ts';
import type { ServerObject } from './nats-cluster.ts';
import type { ClusterSettings } from './settings.ts';

/** Service that points to the primary PostgreSQL server. */
export const postgresServer = 'servers-coherence-postgresql';
const name = postgresServer;
const peers = `${name}-peers`;
const podLabel = 'statefulset.kubernetes.io/pod-name';
export const postgresPods = [`${name}-0`, `${name}-1`] as const;
export const postgresHosts = postgresPods.map((pod) => `${pod}.${peers}:5432`).join(',');

interface PodSpec {
  containers: { args?: string[]; env?: object[]; volumeMounts?: object[] }[];
}

/**
 * Returns the objects of the profile `evaluation` with a pair of PostgreSQL servers; all other objects are unchanged.
 */
export function pairPostgres(objects: readonly ServerObject[], settings: ClusterSettings): ServerObject[] {
  const changed = objects.map((item) => {
    if (item.metadata.name !== name) return item;
    return item.kind === 'StatefulSet' ? withStandby(item, settings) : leadingTo(item, postgresPods[0]);
  });
  const service = objects.find(({ kind, metadata }) => kind === 'Service' && metadata.name === name);
  if (service === undefined) throw new Error(`the profile has no Service ${name}`);
  // The name of a standby must resolve before the standby is ready, because a server whose peer name does not resolve
  // starts as the only server.
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
  // Retains WAL for a standby that is being copied.
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

/** Enables synchronous commits after both servers have started. */
export async function makeSynchronous(cluster: Cluster, primary: string): Promise<void> {
  await cluster.kubectl(['rollout', 'status', `statefulset/${name}`, '--timeout=180s']);
  await execIn(
    cluster,
    primary,
    `echo "synchronous_standby_names = '*'" >> "$PGDATA/postgresql.auto.conf" && ${pgCtl} reload -D "$PGDATA"`,
  );
}

/** Returns the name of the pod to which the Service points. */
export async function findPrimary(cluster: Cluster): Promise<string> {
  const { spec } = JSON.parse(await cluster.kubectl(['get', 'service', name, '-o', 'json'])) as {
    spec: { selector: Record<string, string> };
  };
  return spec.selector[podLabel] ?? '';
}

/**
 * Promotes the standby as an operator does after the loss of the primary, and points the Service to it. @returns the
 * pod of the promoted server
 */
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
