/**
 * Runs `services/<name>/main.ts` as a child process: output to a log file, an IPC channel by which it notices the loss of its
 * parent, readiness by its operations port.
 */
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { reachableAddress } from '#libs/lifecycle';
import { environmentOfService } from './process-environment.ts';
import { identifyProcess, type ProcessIdentity } from '#libs/process-identity';
import { describeEnd, openLog } from './server-process.ts';

export interface ServiceProcess {
  readonly name: string;
  readonly identity: ProcessIdentity | undefined;
  readonly logFile: string;
  /** The last lines that it has written, indented. */
  readLogTail(): string;
  /** Resolves with a description when the process ends. */
  readonly ended: Promise<string>;
  readonly hasEnded: boolean;
  /** Metrics and health: `http://127.0.0.1:<METRICS_PORT>`, unless METRICS_HOST says otherwise. */
  readonly operationsUrl: string;
  /** @returns undefined when ready, else what is missing. */
  readReadiness(): Promise<string | undefined>;
  kill(signal: NodeJS.Signals): void;
  /** SIGTERM, and SIGKILL when it has not ended by itself in time. */
  stop(): Promise<void>;
}

const stopTimeoutMs = 27_000;

/**
 * Options of Node, as in compose.yaml. By itself it lets young objects take 48 MB before it looks for the living among them; in an idle service that
 * is half of its memory. Where it costs requests a tenth of their rate or more they have it all the same: in the gateway, and in conversations, which lets
 * most of a search die young; and it stays theirs, since V8 takes it away from
 * an idle service and gives a busy one none back. Other flags here would cost a start its compile cache: V8 takes no code that was compiled under
 * others (docs/performance-notes.md#shared-compile-cache-and-heap-flags).
 */
const youngMegabytes: Readonly<Record<string, number>> = { 'api-gateway': 32, conversations: 16 };

/** Arguments of Node before the path of a service's program. */
export function nodeOptionsOf(service: string): readonly string[] {
  const megabytes = youngMegabytes[service];
  if (megabytes === undefined) return ['--max-semi-space-size=4'];
  return [`--max-semi-space-size=${megabytes}`, `--min-semi-space-size=${megabytes}`];
}

/** `env` must hold METRICS_PORT; what it does not name is taken from the caller's environment, and nothing that the service does not declare. */
export async function startServiceProcess(options: {
  repoDir: string;
  name: string;
  env: Readonly<Record<string, string>>;
  logFile: string;
  /** Addresses of modules that are loaded before its program. */
  imports?: readonly string[];
}): Promise<ServiceProcess> {
  const env = await environmentOfService(options.name, { ...process.env, ...options.env });
  const log = openLog(options.logFile);
  const imports = (options.imports ?? []).map((address) => `--import=${address}`);
  const child = spawn(process.execPath, [...nodeOptionsOf(options.name), ...imports, join('services', options.name, 'main.ts')], {
    cwd: options.repoDir,
    stdio: ['ignore', log.fd, log.fd, 'ipc'],
    detached: true, // Ctrl-C reaches the launcher alone, which then stops the services in order
    env,
  });
  closeSync(log.fd);
  child.on('error', () => {}); // told by `ended`
  let end: string | undefined;
  // `runService` of libs/lifecycle tells of its end so.
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
    return missing.length === 0 ? `${state.status}` : missing.map(([name, problem]) => `${name}: ${problem}`).join(', ');
  } catch {
    return 'starting';
  }
}
