/** Renders the chart with the real helm and reads the output. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { generateActorKeys } from '#libs/infrastructure/actor';
import { provideGoTool } from '../../libs/product/servers/go-tool.ts';
import { helmTool, kubeconformTool } from '../../libs/product/servers/go-tools.ts';

export const chartDir = join(import.meta.dirname, '..', '..', 'deploy', 'helm', 'coherence');
const schemaDir = join(import.meta.dirname, 'schemas');
/** Value files of complete installations, by name, e.g. `minimal`. */
export const valueFiles = readdirSync(join(chartDir, 'ci'))
  .map((file) => file.replace(/-values\.yaml$/, ''))
  .toSorted();

export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  spec?: Record<string, unknown>;
  data?: Record<string, string>;
  stringData?: Record<string, string>;
}

export interface Container {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  env?: {
    name: string;
    value?: string;
    valueFrom?: { secretKeyRef?: { name: string; key: string; optional?: boolean } };
  }[];
  securityContext?: Record<string, unknown>;
  volumeMounts?: { name: string; mountPath: string }[];
  lifecycle?: unknown;
  livenessProbe?: { httpGet: { path: string } };
  readinessProbe?: { httpGet: { path: string } };
  startupProbe?: { httpGet: { path: string } };
}

export interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  securityContext?: Record<string, unknown>;
  automountServiceAccountToken?: boolean;
  serviceAccountName?: string;
  volumes?: Record<string, unknown>[];
  terminationGracePeriodSeconds?: number;
  hostNetwork?: boolean;
}

/** Building the tools takes a few minutes the first time. */
export const provideChartToolsTimeoutMs = 900_000;

let programs: { helm: string; kubeconform: string } | undefined;

export async function provideChartTools(): Promise<void> {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  programs = { helm: await provideGoTool(helmTool, say), kubeconform: await provideGoTool(kubeconformTool, say) };
}

function run(
  program: string,
  args: readonly string[],
  input?: string,
): { status: number; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', input, maxBuffer: 64 * 1024 * 1024 });
  return { status: status ?? 1, stdout, stderr };
}

export function helm(args: readonly string[], input?: string): { status: number; stdout: string; stderr: string } {
  if (programs === undefined) throw new Error('call provideChartTools first');
  return run(programs.helm, args, input);
}

export interface RenderOptions {
  /** Name of a value file in `ci`; default: no file. */
  file?: string;
  /** Values that override the file. */
  values?: Record<string, unknown>;
  args?: readonly string[];
}

/** The password that the value file for evaluation requires the operator to set. */
export const evaluationPassword = 'password-of-the-tests-of-this-chart';
const { signingKey, publicKey } = generateActorKeys();
const evaluationSecrets = [
  `evaluation.password=${evaluationPassword}`,
  `secrets.values.ACTOR_SIGNING_KEY=${signingKey}`,
  `secrets.values.ACTOR_PUBLIC_KEY=${publicKey}`,
];
/** Helm arguments for a file in `ci`. */
export const argumentsOf = (file: string): string[] => [
  '-f',
  join(chartDir, 'ci', `${file}-values.yaml`),
  ...(file === 'evaluation' ? evaluationSecrets.flatMap((pair) => ['--set', pair]) : []),
];

/** Returns helm's status and output, also on failure. */
export function tryRender({ file, values, args = [] }: RenderOptions): {
  status: number;
  stdout: string;
  stderr: string;
} {
  const files = file === undefined ? [] : argumentsOf(file);
  return helm(
    ['template', 'demo', chartDir, '--namespace', 'apps', ...files, '-f', '-', ...args],
    JSON.stringify(values ?? {}),
  );
}

/** @throws Error with helm's output */
export function renderText(options: RenderOptions): string {
  const { status, stdout, stderr } = tryRender(options);
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

/** Cache: many tests render the same values, and rendering is deterministic (covered by a test). */
const rendered = new Map<string, KubernetesObject[]>();

/** @throws as `renderText` */
export function render(options: RenderOptions): KubernetesObject[] {
  const key = JSON.stringify(options);
  const objects = rendered.get(key) ?? parse(renderText(options));
  rendered.set(key, objects);
  return structuredClone(objects);
}

function parse(text: string): KubernetesObject[] {
  return parseAllDocuments(text)
    .map((document) => document.toJSON() as KubernetesObject | null)
    .filter((object) => object !== null);
}

/** @returns kubeconform's report about every rejected object; empty when all are valid */
export function findInvalid(text: string): string {
  if (programs === undefined) throw new Error('call provideChartTools first');
  const location = join(schemaDir, '{{ .ResourceKind }}{{ .KindSuffix }}.json');
  const { status, stdout, stderr } = run(programs.kubeconform, ['-strict', '-schema-location', location, '-'], text);
  return status === 0 ? '' : `${stdout}${stderr}`;
}

export function byKind(objects: readonly KubernetesObject[], ...kinds: string[]): KubernetesObject[] {
  return objects.filter(({ kind }) => kinds.includes(kind));
}

export function findObject(objects: readonly KubernetesObject[], kind: string, name: string): KubernetesObject {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  if (found === undefined) throw new Error(`${kind} ${name} is not rendered`);
  return found;
}

/** Returns every pod that the objects would create, with the name of its owner. */
export function listPods(objects: readonly KubernetesObject[]): { owner: string; spec: PodSpec }[] {
  return objects.flatMap(({ kind, metadata, spec }) => {
    if (kind === 'Pod') return [{ owner: `Pod ${metadata.name}`, spec: spec as unknown as PodSpec }];
    const ofJobs = kind === 'CronJob' ? (spec?.['jobTemplate'] as KubernetesObject | undefined)?.spec : spec;
    const template = ofJobs?.['template'] as { spec: PodSpec } | undefined;
    return template === undefined ? [] : [{ owner: `${kind} ${metadata.name}`, spec: template.spec }];
  });
}

export function containersOf({ containers, initContainers = [] }: PodSpec): Container[] {
  return [...initContainers, ...containers];
}

export function podTemplateOf(object: KubernetesObject): {
  metadata: { annotations: Record<string, string> };
  spec: PodSpec;
} {
  const template = object.spec?.['template'];
  if (template === undefined) throw new Error(`${object.kind} ${object.metadata.name} has no pods`);
  return template as ReturnType<typeof podTemplateOf>;
}

/** Returns the workload of a component and its pod. */
export function workload(
  objects: readonly KubernetesObject[],
  component: string,
): { object: KubernetesObject; pod: PodSpec; container: Container } {
  const object = objects.find(
    ({ kind, metadata }) =>
      ['Deployment', 'StatefulSet'].includes(kind) && metadata.labels?.['app.kubernetes.io/component'] === component,
  );
  if (object === undefined) throw new Error(`no workload of ${component}`);
  const pod = podTemplateOf(object).spec;
  const container = pod.containers[0];
  if (container === undefined) throw new Error(`${component} has no container`);
  return { object, pod, container };
}
