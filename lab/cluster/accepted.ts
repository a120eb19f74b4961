/** Checks the value files of `ci/` against the API server, which must accept every rendered object. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repoDir } from '../../tools/check/commands.ts';
import { type Cluster, CommandError } from './commands.ts';
import { chartDir, evaluationSecrets } from './release.ts';

/** Third-party kinds and the files of their CRDs, which the check installs if the cluster lacks them. */
const kindsOfOthers = [
  { group: 'keda.sh', version: 'v1alpha1', kind: 'ScaledObject', schema: 'scaledobject-keda-v1alpha1' },
  { group: 'gateway.networking.k8s.io', version: 'v1', kind: 'HTTPRoute', schema: 'httproute-gateway-v1' },
  { group: 'monitoring.coreos.com', version: 'v1', kind: 'ServiceMonitor', schema: 'servicemonitor-monitoring-v1' },
  { group: 'monitoring.coreos.com', version: 'v1', kind: 'PrometheusRule', schema: 'prometheusrule-monitoring-v1' },
] as const;
type KindOfOthers = (typeof kindsOfOthers)[number];

const nameOf = ({ group, kind }: KindOfOthers): string => `${kind.toLowerCase()}s.${group}`;
/** Must exist before the API server accepts a pod. */
const accounts = ['coherence', 'shown-coherence'];

/** Validates strictly, including Pod Security warnings. @returns the number of objects and files */
export async function checkAccepted(cluster: Cluster): Promise<string> {
  const made = await makeMissingKinds(cluster);
  try {
    await cluster.apply(...accounts.map((name) => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } })));
    const files = readdirSync(join(chartDir, 'ci')).toSorted();
    let objects = 0;
    for (const file of files) objects += await countAccepted(cluster, file);
    await mustRefuse(cluster);
    const kinds = made.length === 0 ? '' : `; kinds made for it from test/helm/schemas: ${made.join(', ')}`;
    return `${objects} objects of ${files.length} value files${kinds}`;
  } finally {
    await cluster.kubectl(['delete', 'serviceaccount', '--ignore-not-found', ...accounts]);
    if (made.length > 0) await cluster.kubectl(['delete', 'customresourcedefinition', ...made]);
  }
}

async function countAccepted(cluster: Cluster, file: string): Promise<number> {
  // Renders without a priority class, which a platform team creates and the test cluster lacks.
  const args = [
    'template',
    'shown',
    chartDir,
    '-f',
    join(chartDir, 'ci', file),
    '-f',
    '-',
    '--set',
    'defaults.priorityClassName=',
  ];
  const values = file === 'evaluation-values.yaml' ? evaluationSecrets : {};
  const { status, stdout, stderr } = await cluster.helm(args, { input: JSON.stringify(values) });
  if (status !== 0) throw new Error(`${file}: ${stderr}`);
  const output = await dryRun(cluster, stdout).catch((error: unknown) => {
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  });
  return output.trim().split('\n').length;
}

function dryRun(cluster: Cluster, input: string): Promise<string> {
  const strictly = ['--dry-run=server', '--validate=strict', '--warnings-as-errors'];
  return cluster.kubectl(['apply', '--server-side', '--force-conflicts', ...strictly, '-f', '-'], { input });
}

/** Verifies that validation works: the API server must reject an unknown field of a third-party kind. */
async function mustRefuse(cluster: Cluster): Promise<void> {
  for (const { group, version, kind } of kindsOfOthers) {
    const wrong = { apiVersion: `${group}/${version}`, kind, metadata: { name: 'wrong' }, spec: { noSuchField: 1 } };
    const refused = await dryRun(cluster, JSON.stringify(wrong)).catch((error: unknown) => error);
    if (!(refused instanceof CommandError) || !/noSuchField|Required value|must validate/.test(refused.message))
      throw new Error(`a wrong ${kind} was answered with: ${String(refused)}`);
  }
}

/** Creates the CRDs that the cluster lacks. @returns the names of the created CRDs */
async function makeMissingKinds(cluster: Cluster): Promise<string[]> {
  const listed = await cluster.kubectl(['get', 'customresourcedefinitions', '-o', 'name']);
  const present = new Set(listed.split('\n').map((line) => line.replace(/^.*\//, '')));
  const missing = kindsOfOthers.filter((other) => !present.has(nameOf(other)));
  if (missing.length === 0) return [];
  await cluster.apply(...missing.map(describeKind));
  const names = missing.map(nameOf);
  await cluster.kubectl(['wait', '--for=condition=Established', 'customresourcedefinition', ...names, '--timeout=30s']);
  return names;
}

function describeKind(other: KindOfOthers): object {
  const { group, version, kind, schema } = other;
  const text = readFileSync(join(repoDir, 'test', 'helm', 'schemas', `${schema}.json`), 'utf8');
  const protectedGroup = group.endsWith('.k8s.io') ? { 'api-approved.kubernetes.io': 'unapproved, for a test' } : {};
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: nameOf(other), annotations: protectedGroup },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural: `${kind.toLowerCase()}s`, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: opened(JSON.parse(text)) } }],
    },
  };
}

/**
 * Converts a schema to the form that the API server requires: without `additionalProperties: false`, and with
 * `x-kubernetes-int-or-string`.
 */
function opened(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(opened);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema)
    .filter(([key, value]) => !(key === 'additionalProperties' && value === false))
    .map(([key, value]) =>
      key === 'type' && Array.isArray(value) ? ['x-kubernetes-int-or-string', true] : [key, opened(value)],
    );
  return Object.fromEntries(entries) as unknown;
}
