/**
 * Servers and tools that no package ships: taken from the PATH when good enough, else built once with `go install` into a
 * cache that all clones of the user share (architecture §9).
 */
import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findCacheDir, findProgram, listPath, type Progress, readLockHolder, takeLock } from './tool-cache.ts';

export interface GoTool {
  name: string;
  module: string;
  version: string;
  /**
   * Its own go.mod replaces modules, which `go install module@version` refuses: it is built as what another module requires. With the tags
   * of the build, e.g. to leave out what is not needed.
   */
  required?: { readonly tags: string };
  /** How it tells its version; default `--version`. */
  versionArgs?: readonly string[];
  /** Seconds that a build from nothing takes on two cores. */
  buildSeconds: number;
  /** Says whether a program found on the PATH will do, from what `--version` prints. */
  isGoodEnough: (versionText: string) => boolean;
  /** What to do when it can be neither found nor built. */
  waysOut: readonly string[];
}

/** Other ways out of a missing tool of the chart's tests. */
const skipHelmTests = [
  'run the other tiers alone: npm test -- --selectProjects unit integration e2e',
  'see CONTRIBUTING.md for what the tests of the chart need',
];

/** Other ways out of a missing tool of the dashboards and alerts; no test needs them. */
const skipMonitoringTools = [
  'make the pictures or try the alerts on another machine, see docs/operations.md',
  'leave them as they are: neither npm start nor npm test needs them',
];

export const natsServerTool: GoTool = {
  name: 'nats-server',
  module: 'github.com/nats-io/nats-server/v2',
  version: 'v2.15.2',
  buildSeconds: 50,
  isGoodEnough: (text) => isAtLeast(/v(\d+)\.(\d+)\.(\d+)/.exec(text), [2, 14, 4]),
  waysOut: [
    'install it: nats-server 2.14.4 or later on the PATH (https://github.com/nats-io/nats-server/releases), or Go 1.26 to build it',
    'set NATS_URL to a running NATS server with JetStream and max_payload of 8 MiB',
    'use the compose file: docker compose up',
  ],
};

export const minioTool: GoTool = {
  name: 'minio',
  module: 'github.com/minio/minio',
  version: 'v0.0.0-20260212201848-7aac2a2c5b7c',
  buildSeconds: 240,
  isGoodEnough: (text) => isAtLeast(/RELEASE\.(\d{4})-(\d{2})-(\d{2})/.exec(text), [2024, 1, 1]) || text.includes('DEVELOPMENT'),
  waysOut: [
    'install it: minio of 2024 or later on the PATH, or Go 1.26 to build it',
    'set S3_ENDPOINT, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY (and S3_BUCKET) to a running S3-compatible store',
    'use the compose file: docker compose up',
  ],
};

export const helmTool: GoTool = {
  name: 'helm',
  module: 'helm.sh/helm/v4/cmd/helm',
  version: 'v4.3.1',
  versionArgs: ['version', '--short'],
  buildSeconds: 170,
  isGoodEnough: (text) => isAtLeast(/v(\d+)\.(\d+)\.(\d+)/.exec(text), [4, 0, 0]),
  waysOut: ['install it: helm 4 on the PATH (https://helm.sh/docs/intro/install), or Go 1.26 to build it', ...skipHelmTests],
};

export const kubeconformTool: GoTool = {
  name: 'kubeconform',
  module: 'github.com/yannh/kubeconform/cmd/kubeconform',
  version: 'v0.8.0',
  versionArgs: ['-v'],
  buildSeconds: 5,
  isGoodEnough: (text) => isAtLeast(/v(\d+)\.(\d+)\.(\d+)/.exec(text), [0, 6, 0]),
  waysOut: ['install it: kubeconform on the PATH, or Go 1.26 to build it', ...skipHelmTests],
};

export const k6Tool: GoTool = {
  name: 'k6',
  module: 'go.k6.io/k6',
  version: 'v1.8.1',
  versionArgs: ['version'],
  buildSeconds: 95,
  isGoodEnough: (text) => isAtLeast(/v(\d+)\.(\d+)\.(\d+)/.exec(text), [1, 0, 0]),
  waysOut: [
    'install it: k6 1.0 or later on the PATH (https://grafana.com/docs/k6/latest/set-up/install-k6), or Go 1.26 to build it',
    'run the scripts in test/load on another machine, see the README there',
    'run the other tiers alone: npm test -- --selectProjects unit integration helm e2e',
  ],
};

/** Only for the alerts and the pictures of the dashboards: no pages of its own, and targets that the configuration lists itself. */
const monitoringTool = {
  version: 'v0.315.0',
  required: { tags: 'remove_all_sd' },
  buildSeconds: 240,
  isGoodEnough: (text: string) => isAtLeast(/version (\d+)\.(\d+)\./.exec(text), [3, 0]),
};

export const prometheusTool: GoTool = {
  ...monitoringTool,
  name: 'prometheus',
  module: 'github.com/prometheus/prometheus/cmd/prometheus',
  waysOut: ['install it: prometheus 3 on the PATH (https://prometheus.io/download), or Go 1.26 to build it', ...skipMonitoringTools],
};

export const promtoolTool: GoTool = {
  ...monitoringTool,
  name: 'promtool',
  module: 'github.com/prometheus/prometheus/cmd/promtool',
  waysOut: ['install it: promtool 3 on the PATH (https://prometheus.io/download), or Go 1.26 to build it', ...skipMonitoringTools],
};

/**
 * Path of a program that will do; builds it when there is none, while other processes that want the same one wait.
 * @throws Error that names the ways out.
 */
export async function provideGoTool(tool: GoTool, progress: Progress): Promise<string> {
  const found = findOnPath(tool);
  if (found !== undefined) return found;
  const binDir = join(findCacheDir(), 'bin');
  const program = join(binDir, `${tool.name}-${tool.version}`);
  const lock = `${program}.lock`;
  while (!existsSync(program)) {
    if (takeLock(lock)) {
      try {
        if (!existsSync(program)) await build(tool, binDir, program, progress);
      } finally {
        rmSync(lock, { force: true });
      }
    } else {
      progress(`${tool.name} is being built by another process, waiting for it`);
      while (!existsSync(program) && readLockHolder(lock) !== undefined) await sleep(500);
    }
  }
  return program;
}

function findOnPath(tool: GoTool): string | undefined {
  const program = findProgram(tool.name, listPath());
  if (program === undefined) return undefined;
  const result = spawnSync(program, tool.versionArgs ?? ['--version'], { encoding: 'utf8', timeout: 10_000 });
  return result.status === 0 && tool.isGoodEnough(`${result.stdout}${result.stderr}`) ? program : undefined;
}

async function build(tool: GoTool, binDir: string, program: string, progress: Progress): Promise<void> {
  const go = findProgram('go', [...listPath(), '/usr/local/go/bin', '/usr/lib/go/bin', '/usr/lib/go-1.26/bin']);
  if (go === undefined) throw describeFailure(tool, 'is not installed, and there is no Go to build it with');
  const buildDir = mkdtempSync(join(binDir, `.${tool.name}-`));
  try {
    const about = tool.buildSeconds >= 120 ? `${Math.round(tool.buildSeconds / 60)} min` : `${tool.buildSeconds} s`;
    progress(`building ${tool.name} ${tool.version} with go install, once for all clones (about ${about} on two cores)`);
    const output = await runGoInstall(go, tool, buildDir, progress);
    if (output !== undefined) throw describeFailure(tool, `could not be built:\n${output}`);
    renameSync(join(buildDir, tool.name), program);
    progress(`built ${program}`);
  } finally {
    rmSync(buildDir, { recursive: true, force: true });
  }
}

/** @returns undefined on success, else the last lines of the output. */
async function runGoInstall(go: string, tool: GoTool, buildDir: string, progress: Progress): Promise<string | undefined> {
  const env: NodeJS.ProcessEnv = { ...process.env, GOBIN: buildDir, CGO_ENABLED: '0', GOFLAGS: '-trimpath' };
  if (!isWritable(homedir())) {
    env['GOPATH'] ??= join(findCacheDir(), 'go');
    env['GOCACHE'] ??= join(findCacheDir(), 'go-build');
  }
  const lines: string[] = [];
  const startedAt = Date.now();
  const timer = setInterval(() => {
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    const downloaded = lines.filter((line) => line.startsWith('go: downloading')).length;
    const compiled = lines.filter((line) => !line.startsWith('go: ')).length;
    progress(
      `building ${tool.name}: ${seconds} s of about ${tool.buildSeconds} s (${downloaded} modules downloaded, ${compiled} packages compiled)`,
    );
  }, 5_000);
  try {
    for (const args of listGoCommands(tool)) if ((await runGo(go, args, buildDir, env, lines)) !== 0) return lines.slice(-12).join('\n');
    return undefined;
  } finally {
    clearInterval(timer);
  }
}

function listGoCommands({ module, version, required }: GoTool): string[][] {
  if (required === undefined) return [['install', '-v', `${module}@${version}`]];
  return [
    ['mod', 'init', 'build'],
    ['get', `${module}@${version}`],
    ['install', '-v', '-tags', required.tags, module],
  ];
}

/** @returns its status; what it says is added to `lines`. */
function runGo(go: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv, lines: string[]): Promise<number | null> {
  const child = spawn(go, [...args], { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr.setEncoding('utf8').on('data', (text: string) => lines.push(...text.split('\n').filter((part) => part !== '')));
  return new Promise((resolve) => {
    child.once('error', (error) => lines.push(error.message));
    child.once('close', (code) => resolve(code));
  });
}

function describeFailure(tool: GoTool, what: string): Error {
  const ways = tool.waysOut.map((way, index) => `  ${index + 1}. ${way}`).join('\n');
  return new Error(`${tool.name} ${what}.\nThree ways out:\n${ways}`);
}

function isWritable(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function isAtLeast(match: RegExpExecArray | null, minimum: readonly number[]): boolean {
  if (match === null) return false;
  for (const [index, least] of minimum.entries()) {
    const part = Number(match[index + 1]);
    if (part !== least) return part > least;
  }
  return true;
}
