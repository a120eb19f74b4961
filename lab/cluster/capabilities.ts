/**
 * Optional capabilities of a cluster. A check that requires a missing capability fails, unless CLUSTER_WITHOUT lists
 * the capability.
 */

export const capabilities = {
  keda: 'KEDA (its operator and its metrics server), by which job workers scale with what waits for them',
  metrics: 'the metrics API (metrics.k8s.io, e.g. metrics-server), by which a HorizontalPodAutoscaler scales',
  'network-policies': 'a network that enforces NetworkPolicy',
  nodes: 'the right to cordon and drain a node',
  room: 'room for two pods of each service and two of PgBouncer beside the servers, about 6 GiB of memory',
  volumes: 'volumes for PersistentVolumeClaims: a default StorageClass, or free PersistentVolumes without a class',
} as const;

export type Capability = keyof typeof capabilities;

export function describeAbsent(capability: Capability): string {
  return `asked the cluster for ${capabilities[capability]}: it has none. CLUSTER_WITHOUT=${capability} leaves out what needs it.`;
}
