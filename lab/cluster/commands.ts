/** Runs kubectl and helm against the cluster, in the namespace of the test. */
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Capability, describeAbsent } from './capabilities.ts';
import type { ClusterSettings } from './settings.ts';

/** Thrown with the output of a program that failed. */
export class CommandError extends Error {}

export interface Ended {
  status: number;
  stdout: string;
  stderr: string;
}

export interface Cluster {
  readonly settings: ClusterSettings;
  /** @returns the standard output. @throws CommandError */
  kubectl(args: readonly string[], options?: { input?: string; timeoutMs?: number }): Promise<string>;
  /** Runs helm. Resolves with the exit status and the output also if helm fails. */
  helm(args: readonly string[], options?: { input?: string }): Promise<Ended>;
  /** Creates or updates objects. */
  apply(...objects: readonly object[]): Promise<void>;
  /** Returns the pods that match a selector and are not being deleted. */
  listPods(selector: string): Promise<Pod[]>;
}

export interface Pod {
  readonly name: string;
  readonly uid: string;
  readonly component: string;
  readonly ready: boolean;
}

interface PodList {
  items: {
    metadata: { name: string; uid: string; deletionTimestamp?: string; labels: Record<string, string> };
    status: { conditions?: { type: string; status: string }[] };
  }[];
}

export function connectCluster(settings: ClusterSettings): Cluster {
  const inNamespace = ['--namespace', settings.namespace];
  const kubectl: Cluster['kubectl'] = async (args, options) => {
    const { status, stdout, stderr } = await run([...settings.kubectl, ...inNamespace, ...args], options);
    if (status !== 0)
      throw new CommandError(`kubectl ${args.join(' ').slice(0, 200)}: ${stderr.trim() || stdout.trim()}`);
    return stdout;
  };
  return {
    settings,
    kubectl,
    helm: (args, options) => run([...settings.helm, ...inNamespace, ...args], options),
    apply: async (...objects) => {
      await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], {
        input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
      });
    },
    listPods: async (selector) => {
      const { items } = JSON.parse(await kubectl(['get', 'pods', '--selector', selector, '-o', 'json'])) as PodList;
      return items
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ metadata, status }) => ({
          name: metadata.name,
          uid: metadata.uid,
          component: metadata.labels['app.kubernetes.io/component'] ?? '',
          ready: status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false,
        }));
    },
  };
}

/** Runs a program and resolves when it exits. */
export function run(
  command: readonly string[],
  options: { input?: string; timeoutMs?: number; env?: NodeJS.ProcessEnv } = {},
): Promise<Ended> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: options.env ?? process.env,
    timeout: options.timeoutMs,
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.on('error', () => {}); // the program exited without reading its input, which is allowed
  child.stdin.end(options.input ?? '');
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ status: 127, stdout, stderr: `${program}: ${error.message}` }));
    child.once('close', (code, signal) =>
      resolve({ status: code ?? 1, stdout, stderr: signal === null ? stderr : `${stderr}\nended by ${signal}` }),
    );
  });
}

/** @returns the output of helm. @throws Error with its output on failure */
export async function mustSucceed(ended: Promise<Ended>): Promise<string> {
  const { status, stdout, stderr } = await ended;
  if (status !== 0) throw new Error(`${stderr.trim()}\n${stdout.trim()}`.slice(0, 2_500));
  return stdout;
}

/** Kills a pod immediately (SIGKILL) and deletes it from the API. */
export async function kill(cluster: Cluster, pod: string): Promise<void> {
  await cluster.kubectl(['delete', 'pod', pod, '--grace-period=0', '--force']);
}

/** Returns the conditions of an object: type → status, `True` or `False`. */
export async function readConditions(cluster: Cluster, kind: string, name: string): Promise<Record<string, string>> {
  const { status } = JSON.parse(await cluster.kubectl(['get', kind, name, '-o', 'json'])) as {
    status?: { conditions?: { type: string; status: string }[] };
  };
  return Object.fromEntries((status?.conditions ?? []).map(({ type, status: value }) => [type, value]));
}

/**
 * Checks whether the cluster has a capability. @returns true if the cluster has the capability, false if
 * CLUSTER_WITHOUT lists it. @throws Error if it is missing but not listed
 */
export async function callUrl(
  cluster: Cluster,
  capability: Capability,
  probe: () => Promise<boolean>,
): Promise<boolean> {
  if (cluster.settings.without.has(capability)) return false;
  if (await probe()) return true;
  throw new Error(describeAbsent(capability));
}

/** Repeats `attempt` until it returns true. @throws Error after `timeoutMs`, with the result of the last attempt */
export async function until(what: string, timeoutMs: number, attempt: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (let last = 'not so'; ;) {
    try {
      if (await attempt()) return;
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs / 1_000} s for ${what}: ${last}`);
    await sleep(500);
  }
}
