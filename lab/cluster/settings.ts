import { capabilities, type Capability } from './capabilities.ts';

/** Cluster access, from the environment; docs/kubernetes.md lists the values for kind, k3d and a plain cluster. */
export interface ClusterSettings {
  /** Program and arguments that run kubectl. */
  readonly kubectl: readonly string[];
  /** Program and arguments that run helm; if empty, helm of the tool cache is used. */
  readonly helm: readonly string[];
  /**
   * Shell command that builds the image `$NAME` from the Dockerfile in `$DIR` and loads it onto the nodes. If empty,
   * the images must already exist.
   */
  readonly imageCommand: string;
  /** Registry from which the nodes pull the images, e.g. `registry.example.org`; empty: none. */
  readonly registry: string;
  readonly namespace: string;
  /** Base image, passed to the image command as `$BASE_IMAGE`; if empty, the Dockerfile's base image is used. */
  readonly baseImage: string;
  /** True to keep the namespace for inspection. */
  readonly keep: boolean;
  /** Requests per second during upgrades and scaling. */
  readonly rate: number;
  /** Capabilities that the cluster is not required to have. */
  readonly without: ReadonlySet<Capability>;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** @throws Error that names the variable and its allowed values */
export function readClusterSettings(env: Variables): ClusterSettings {
  const namespace = env['CLUSTER_NAMESPACE'] || 'coherence-cluster-test';
  if (!/^[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?$/.test(namespace))
    throw new Error(`CLUSTER_NAMESPACE is "${namespace}"; it must be a name that Kubernetes takes.`);
  const rate = Number(env['CLUSTER_LOAD_RATE'] || '15');
  if (!Number.isInteger(rate) || rate < 1)
    throw new Error(`CLUSTER_LOAD_RATE is "${env['CLUSTER_LOAD_RATE']}"; it must be a number of requests a second.`);
  const without = splitWords((env['CLUSTER_WITHOUT'] ?? '').replaceAll(',', ' '));
  const unknown = without.find((name) => !(name in capabilities));
  if (unknown !== undefined)
    throw new Error(`CLUSTER_WITHOUT names "${unknown}"; it may name ${Object.keys(capabilities).join(', ')}.`);
  return {
    kubectl: splitWords(env['CLUSTER_KUBECTL'] || 'kubectl'),
    helm: splitWords(env['CLUSTER_HELM'] ?? ''),
    imageCommand: env['CLUSTER_IMAGE_COMMAND'] ?? '',
    registry: env['CLUSTER_REGISTRY'] ?? '',
    namespace,
    baseImage: env['CLUSTER_BASE_IMAGE'] ?? '',
    keep: env['CLUSTER_KEEP'] === 'true',
    rate,
    without: new Set(without as Capability[]),
  };
}

function splitWords(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}
