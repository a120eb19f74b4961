/**
 * Writes the JSON schemas with which kubeconform validates the chart's objects (test/helm/schemas), one strict file per
 * kind, so that the tests need no network: `node tools/kube-schemas/main.ts SWAGGER_JSON [CRD_YAML...]`. SWAGGER_JSON
 * is api/openapi-spec/swagger.json of the Go module k8s.io/kubernetes; the CRDs are those of Gateway API, KEDA and the
 * Prometheus operator. Run after a version upgrade.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

type Schema = Record<string, unknown>;
interface GroupVersionKind {
  group: string;
  version: string;
  kind: string;
}
interface CustomResource {
  spec: { group: string; names: { kind: string }; versions: { name: string; schema: { openAPIV3Schema: Schema } }[] };
}

const targetDir = join(import.meta.dirname, '..', '..', 'test', 'helm', 'schemas');
/** Kinds that the chart renders. */
const kinds = new Set(
  [
    'ConfigMap',
    'CronJob',
    'Deployment',
    'HorizontalPodAutoscaler',
    'Ingress',
    'Job',
    'NetworkPolicy',
    'Pod',
    'PodDisruptionBudget',
    'Secret',
    'Service',
  ].concat('ServiceAccount', 'StatefulSet'),
);

const [swaggerFile, ...resourceFiles] = process.argv.slice(2);
if (swaggerFile === undefined) throw new Error('usage: node tools/kube-schemas/main.ts SWAGGER_JSON [CRD_YAML...]');
mkdirSync(targetDir, { recursive: true });

const { definitions } = JSON.parse(readFileSync(swaggerFile, 'utf8')) as { definitions: Record<string, Schema> };
for (const definition of Object.values(definitions)) {
  const named = definition['x-kubernetes-group-version-kind'] as GroupVersionKind[] | undefined;
  const [only] = named ?? [];
  if (named?.length !== 1 || only === undefined || !kinds.has(only.kind)) continue;
  write(only, tighten(inline(definition, [])));
}
for (const file of resourceFiles) {
  const { spec } = parse(readFileSync(file, 'utf8')) as CustomResource;
  for (const { name, schema } of spec.versions) {
    write({ group: spec.group, version: name, kind: spec.names.kind }, tighten(schema.openAPIV3Schema));
  }
}

/** Replaces references with the referenced schemas. A recursive type becomes an open schema. */
function inline(schema: unknown, path: readonly string[]): Schema {
  if (Array.isArray(schema)) return schema.map((item) => inline(item, path)) as unknown as Schema;
  if (typeof schema !== 'object' || schema === null) return schema as Schema;
  const reference = (schema as Schema)['$ref'];
  if (typeof reference !== 'string')
    return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, inline(value, path)]));
  const name = reference.slice('#/definitions/'.length);
  return path.includes(name) ? {} : inline(definitions[name] ?? {}, [...path, name]);
}

/**
 * Removes descriptions, and rejects unlisted properties in objects that list their properties. The type int-or-string
 * accepts integers and strings.
 */
function tighten(schema: unknown, inProperties = false): Schema {
  if (Array.isArray(schema)) return schema.map((item) => tighten(item)) as unknown as Schema;
  if (typeof schema !== 'object' || schema === null) return schema as Schema;
  const given = schema as Schema;
  if (inProperties) return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, tighten(value)]));
  if (given['format'] === 'int-or-string' || given['x-kubernetes-int-or-string'] === true)
    return { type: ['string', 'integer'] };
  const result: Schema = {};
  for (const [key, value] of Object.entries(given)) {
    if (key === 'description' || key === 'format' || key.startsWith('x-kubernetes')) continue;
    result[key] = tighten(value, key === 'properties');
  }
  // A quantity of Kubernetes can also be a number.
  if (result['type'] === 'string' && given['format'] === undefined && /quantity/i.test(String(given['description'])))
    result['type'] = ['string', 'number'];
  if (result['properties'] !== undefined && given['x-kubernetes-preserve-unknown-fields'] !== true)
    result['additionalProperties'] ??= false;
  return result;
}

function write({ group, version, kind }: GroupVersionKind, schema: Schema): void {
  const prefix = group.split('.')[0] ?? '';
  delete (schema['properties'] as Schema | undefined)?.['status'];
  const file = [kind, ...(prefix === '' ? [] : [prefix]), version].join('-').toLowerCase();
  writeFileSync(join(targetDir, `${file}.json`), `${JSON.stringify(schema)}\n`);
}
