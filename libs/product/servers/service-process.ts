/**
 * Runs `services/<name>/main.ts` as a child process. Its output is written to a log file; through an IPC channel it
 * detects that its parent ended; its operations port reports whether it is ready.
 */
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { reachableAddress } from '#libs/infrastructure/lifecycle';
import { environmentOfService } from './process-environment.ts';
import { identifyProcess, type ProcessIdentity } from '#libs/infrastructure/process-identity';
import { describeEnd, openLog } from './server-process.ts';

export interface ServiceProcess {
  readonly name: string;
  readonly identity: ProcessIdentity | undefined;
  readonly logFile: string;
  /** Returns the last lines of the service's log, indented. */
  readLogTail(): string;
  /** Resolves with a description when the process ends. */
  readonly ended: Promise<string>;
  readonly hasEnded: boolean;
  /** Metrics and health: `http://127.0.0.1:<METRICS_PORT>`, unless METRICS_HOST is set. */
  readonly operationsUrl: string;
  /** @returns undefined when the service is ready, otherwise what is missing */
  readReadiness(): Promise<string | undefined>;
  kill(signal: NodeJS.Signals): void;
  /** Sends SIGTERM, then SIGKILL if the process does not end in time. */
  stop(): Promise<void>;
}

const stopTimeoutMs = 27_000;

/**
 * Options of Node, as in compose.yaml. By default young objects can use 48 MB before a collection, which is half of an
 * idle service's memory. Services whose request rate would drop by a tenth or more have the larger value: the gateway,
 * and conversations, where most objects of a search die young. The setting is static because V8 shrinks the space of an
 * idle service but does not enlarge it under load. Other flags here would disable the compile cache: V8 does not reuse
 * code compiled under different flags (docs/performance-notes.md#shared-compile-cache-and-heap-flags).
 */
const youngMegabytes: Readonly<Record<string, number>> = { 'api-gateway': 32, conversations: 16 };

/** Returns Node's arguments before the path of a service's program. */
export function nodeOptionsOf(service: string): readonly string[] {
  const megabytes = youngMegabytes[service];
  if (megabytes === undefined) return ['--max-semi-space-size=4'];
  return [`--max-semi-space-size=${megabytes}`, `--min-semi-space-size=${megabytes}`];
}

/**
 * Starts a service. `env` must contain METRICS_PORT. Other variables that the service declares are read from the
 * caller's environment if `env` does not contain them.
 */
export async function startServiceProcess(options: {
  repoDir: string;
  name: string;
  env: Readonly<Record<string, string>>;
  logFile: string;
  /** URLs of modules that are loaded before the service's program. */
  imports?: readonly string[];
}): Promise<ServiceProcess> {
  const env = await environmentOfService(options.name, { ...process.env, ...options.env });
  const log = openLog(options.logFile);
  const imports = (options.imports ?? []).map((address) => `--import=${address}`);
  const child = spawn(
    process.execPath,
    [...nodeOptionsOf(options.name), ...imports, join('services', options.name, 'main.ts')],
    {
      cwd: options.repoDir,
      stdio: ['ignore', log.fd, log.fd, 'ipc'],
      detached: true, // Only the launcher receives Ctrl-C; it then stops the services in order
      env,
    },
  );
  closeSync(log.fd);
  child.on('error', () => {}); // `ended` reports the error
  let end: string | undefined;
  // `runService` of libs/infrastructure/lifecycle logs the reason why a service ended with this prefix.
  const ended = describeEnd(child, () => log.findLast(`${options.name}: `)).then((text) => (end = text));
  const operationsUrl = `http://${reachableAddress(env['METRICS_HOST'] ?? '127.0.0.1', env['METRICS_PORT'] ?? '')}`;
  return {
    name: options.name,
    logFile: options.logFile,
    readLogTail: () => log.readTail(),
    identity: child.pid === undefined ? undefined : identifyProcess(child.pid),
    ended,
    operationsUrl,
    get hasEnded() {
      return end !== undefined;
    },
    readReadiness: () => (end === undefined ? readReadiness(`${operationsUrl}/readyz`) : Promise.resolve(end)),
    kill: (signal) => void child.kill(signal),
    stop: async () => {
      if (end !== undefined) return;
      child.kill('SIGTERM');
      const killed = new AbortController();
      void sleep(stopTimeoutMs, undefined, { signal: killed.signal }).then(
        () => child.kill('SIGKILL'),
        () => {},
      );
      await ended;
      killed.abort();
    },
  };
}

async function readReadiness(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(3_000) });
    if (response.status === 200) {
      await response.body?.cancel();
      return undefined;
    }
    const state = (await response.json()) as { status?: string; checks?: Record<string, string> };
    const missing = Object.entries(state.checks ?? {}).filter(([, check]) => check !== 'ok');
    return missing.length === 0
      ? `${state.status}`
      : missing.map(([name, problem]) => `${name}: ${problem}`).join(', ');
  } catch {
    return 'starting';
  }
}
