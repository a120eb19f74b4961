/**
 * Provides servers and tools that no npm package contains: from the PATH in a suitable version, or built once with `go
 * install` into a cache that all clones of the user share (architecture#running-it).
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { type Go, provideGo } from './go-toolchain.ts';
import { findCacheDir, findProgram, listPath, makeOnce, type Progress, withLock } from './tool-cache.ts';

const progressEveryMs = 10_000;
/** With enough memory the compiler does not collect garbage below 2 GB, which saves a quarter of the processor time. */
const compilerMemory = totalmem() < 8 * 1024 ** 3 ? {} : { GOGC: 'off', GOMEMLIMIT: '2GiB' };

export interface GoTool {
  name: string;
  module: string;
  version: string;
  /**
   * Set when the tool's go.mod replaces modules, which `go install module@version` rejects: the tool is then built as a
   * requirement of another module. `tags` are build tags, e.g. to exclude unused parts.
   */
  required?: { readonly tags: string };
  /** Arguments that print the version; default `--version`. */
  versionArgs?: readonly string[];
  /** The tool runs only briefly in tests, so a fast build is more important than a fast program. */
  forTests?: boolean;
  /** Go variable that the official build sets to the version; without it, the program cannot print its version. */
  versionVariable?: string;
  /** Duration of a build without a cache on two cores, in seconds. */
  buildSeconds: number;
  /** Returns whether a program on the PATH is suitable, given the output of `versionArgs`. */
  isGoodEnough: (versionText: string) => boolean;
  /** Alternatives for the error message when the tool can be neither found nor built. */
  waysOut: readonly string[];
}

/**
 * Returns the path of a suitable program. Builds it if necessary, while other processes that need it wait.
 * @throws Error that lists the alternatives
 */
export async function provideGoTool(tool: GoTool, progress: Progress): Promise<string> {
  const found = findOnPath(tool);
  if (found !== undefined) return found;
  const binDir = join(findCacheDir(), 'bin');
  const program = join(binDir, `${tool.name}-${tool.version}`);
  await makeOnce(
    program,
    () => build(tool, binDir, program, progress),
    () => progress(`${tool.name} is being built by another process, waiting for it`),
  );
  return program;
}

function findOnPath(tool: GoTool): string | undefined {
  const program = findProgram(tool.name, listPath());
  if (program === undefined) return undefined;
  const result = spawnSync(program, tool.versionArgs ?? ['--version'], { encoding: 'utf8', timeout: 10_000 });
  return result.status === 0 && tool.isGoodEnough(`${result.stdout}${result.stderr}`) ? program : undefined;
}

async function build(tool: GoTool, binDir: string, program: string, progress: Progress): Promise<void> {
  const go = await provideGo(progress).catch((error: unknown) => {
    throw describeFailure(tool, `is not installed, and there is no Go to build it with: ${(error as Error).message}`);
  });
  const buildDir = mkdtempSync(join(binDir, `.${tool.name}-`));
  try {
    const about = tool.buildSeconds >= 120 ? `${Math.round(tool.buildSeconds / 60)} min` : `${tool.buildSeconds} s`;
    progress(
      `building ${tool.name} ${tool.version} with go install, once for all clones (about ${about} on two cores)`,
    );
    // One build at a time: parallel builds would each compile the standard library, which a later one finds in the
    // cache.
    const output = await withLock(
      join(binDir, '.building'),
      () => runGoInstall(go, tool, buildDir, progress),
      async () => {
        progress(`${tool.name} waits for another build, and fetches its modules meanwhile`);
        if (tool.required === undefined) await runGo(go, ['install', '-n', `${tool.module}@${tool.version}`], buildDir);
      },
    );
    if (output !== undefined) throw describeFailure(tool, `could not be built:\n${output}`);
    renameSync(join(buildDir, tool.name), program);
    progress(`built ${program}`);
  } finally {
    rmSync(buildDir, { recursive: true, force: true });
  }
}

/** @returns undefined on success, otherwise the last lines of the output. */
async function runGoInstall(go: Go, tool: GoTool, buildDir: string, progress: Progress): Promise<string | undefined> {
  const lines: string[] = [];
  const startedAt = Date.now();
  const timer = setInterval(() => {
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    const downloaded = lines.filter((line) => line.startsWith('go: downloading')).length;
    const compiled = lines.filter((line) => !line.startsWith('go: ')).length;
    progress(
      `building ${tool.name}: ${seconds} s of about ${tool.buildSeconds} s (${downloaded} modules downloaded, ${compiled} packages compiled)`,
    );
  }, progressEveryMs);
  try {
    for (const args of listGoCommands(tool)) {
      if ((await runGo(go, args, buildDir, lines)) !== 0) return lines.slice(-12).join('\n');
    }
    return undefined;
  } finally {
    clearInterval(timer);
  }
}

function listGoCommands(tool: GoTool): string[][] {
  const { module, version, required } = tool;
  if (required === undefined) return [['install', '-v', ...listBuildFlags(tool), `${module}@${version}`]];
  return [
    ['mod', 'init', 'build'],
    ['get', `${module}@${version}`],
    ['install', '-v', ...listBuildFlags(tool), '-tags', required.tags, module],
  ];
}

/**
 * Returns the build flags. Debug information is omitted, which makes builds a fifth faster and programs a third
 * smaller.
 */
function listBuildFlags({ version, versionVariable, forTests = false }: GoTool): string[] {
  const stamp = versionVariable === undefined ? '' : ` -X ${versionVariable}=${version}`;
  return [`-gcflags=all=-dwarf=false${forTests ? ' -l' : ''}`, `-ldflags=-s -w${stamp}`];
}

/** Runs Go and adds the output to `lines`. @returns the exit status */
function runGo(go: Go, args: readonly string[], buildDir: string, lines: string[] = []): Promise<number | null> {
  const env = { ...compilerMemory, ...go.env, GOBIN: buildDir, CGO_ENABLED: '0', GOFLAGS: '-trimpath -modcacherw' };
  const child = spawn(go.program, [...args], { cwd: buildDir, env, stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr
    .setEncoding('utf8')
    .on('data', (text: string) => lines.push(...text.split('\n').filter((part) => part !== '')));
  return new Promise((resolve) => {
    child.once('error', (error) => lines.push(error.message));
    child.once('close', (code) => resolve(code));
  });
}

function describeFailure(tool: GoTool, what: string): Error {
  const ways = tool.waysOut.map((way, index) => `  ${index + 1}. ${way}`).join('\n');
  return new Error(`${tool.name} ${what}.\nThree ways out:\n${ways}`);
}
