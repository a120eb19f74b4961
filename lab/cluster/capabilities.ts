/** What not every cluster can do: asked for by the check that needs it, and left out only when the environment says so. */
import type { Cluster } from './commands.ts';

export const capabilities = {
  keda: 'KEDA (its operator and its metrics server), by which job workers scale with what waits for them',
  metrics: 'the metrics API (metrics.k8s.io, e.g. metrics-server), by which a HorizontalPodAutoscaler scales',
  'network-policies': 'a network that enforces NetworkPolicy',
  nodes: 'the right to cordon and drain a node',
  volumes: 'volumes for PersistentVolumeClaims: a default StorageClass, or free PersistentVolumes without a class',
} as const;

export type Capability = keyof typeof capabilities;

/** @returns true when the cluster has it, false when CLUSTER_WITHOUT says that it has not. @throws Error when it is merely absent. */
export async function askFor(cluster: Cluster, capability: Capability, probe: () => Promise<boolean>): Promise<boolean> {
  if (cluster.settings.without.has(capability)) return false;
  if (await probe()) return true;
  throw new Error(describeAbsent(capability));
}

export function describeAbsent(capability: Capability): string {
  return `asked the cluster for ${capabilities[capability]}: it has none. CLUSTER_WITHOUT=${capability} leaves out what needs it.`;
}
