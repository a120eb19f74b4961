/**
 * Provides system programs that tests need: from the PATH, or installed with apt-get when running as root on a Debian
 * machine, as in CI.
 */
import { spawn } from 'node:child_process';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findCacheDir, findProgram, listPath, type Progress, readLockHolder, takeLock } from './tool-cache.ts';

export interface DebianProgram {
  name: string;
  /** Required programs. In a list of alternative names, the first existing program is used. */
  programs: readonly (string | readonly string[])[];
  /** Packages that contain the programs and their runtime dependencies. */
  packages: readonly string[];
}

export const ffmpegProgram: DebianProgram = {
  name: 'ffmpeg',
  programs: ['ffmpeg', 'ffprobe'],
  packages: ['ffmpeg', 'fonts-dejavu-core'],
};

/** The headless shell is listed first, because it needs a quarter of the processor time. */
export const chromiumProgram: DebianProgram = {
  name: 'chromium',
  programs: [['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']],
  packages: ['chromium-headless-shell', 'fonts-dejavu-core'],
};

export const pythonProgram: DebianProgram = {
  name: 'python',
  programs: ['python3'],
  packages: ['python3'],
};

export const pgBouncerProgram: DebianProgram = {
  name: 'pgbouncer',
  programs: ['pgbouncer'],
  packages: ['pgbouncer'],
};

export const opensslProgram: DebianProgram = {
  name: 'openssl',
  programs: ['openssl'],
  packages: ['openssl'],
};

/** Maximum age of downloaded package lists; older lists are downloaded again. */
const listsMaxAgeMs = 3_600_000;
/** With this option, apt-get waits while another apt-get has the machine's lock. */
const aptOptions = ['-o', 'DPkg::Lock::Timeout=300', '-o', 'Acquire::Retries=3', '-o', 'Acquire::http::Timeout=30'];
const progressIntervalMs = 10_000;

/**
 * Returns the full paths in the order of `programs`. If one is missing, installs the packages first, while other
 * processes that need programs wait.
 * @throws Error that lists the alternatives
 */
export async function provideDebianProgram(
  requested: DebianProgram,
  progress: Progress,
  isRoot = process.getuid?.() === 0,
): Promise<readonly string[]> {
  const lock = join(findCacheDir(), 'apt-get.lock');
  for (let output = false; ;) {
    const found = findAll(requested);
    if (found !== undefined) return found;
    const aptGet = findProgram('apt-get', listPath());
    if (aptGet === undefined)
      throw describeFailure(requested, 'is not installed, and there is no apt-get to install it with');
    if (!isRoot) throw describeFailure(requested, 'is not installed, and only root may install it');
    if (takeLock(lock)) {
      try {
        return findAll(requested) ?? (await install(aptGet, requested, progress));
      } finally {
        rmSync(lock, { force: true });
      }
    }
    if (!output) progress(`packages are being installed by another process, ${requested.name} waits for it`);
    output = true;
    while (readLockHolder(lock) !== undefined) await sleep(250);
  }
}

function findAll({ programs }: DebianProgram): string[] | undefined {
  const dirs = listPath();
  const found = programs.map((names) => [names].flat().map((name) => findProgram(name, dirs)));
  const paths = found.flatMap((candidates) => candidates.find((path) => path !== undefined) ?? []);
  return paths.length === programs.length ? paths : undefined;
}

async function install(aptGet: string, requested: DebianProgram, progress: Progress): Promise<string[]> {
  progress(`installing ${requested.name} with apt-get, once for this machine (about a minute)`);
  const fresh = await updateLists(aptGet, progress);
  const args = ['install', '-y', '--no-install-recommends', ...aptOptions, ...requested.packages];
  const run = (): Promise<string | undefined> => runAptGet(aptGet, args, `installing ${requested.name}`, progress);
  let failure = await run();
  // The lists may have been deleted, or be older than the archive.
  if (failure !== undefined && !fresh) {
    await updateLists(aptGet, progress, 0);
    failure = await run();
  }
  if (failure !== undefined) throw describeFailure(requested, `could not be installed:\n${failure}`);
  const found = findAll(requested);
  if (found === undefined)
    throw describeFailure(requested, `is not on the PATH although ${requested.packages.join(' and ')} was installed`);
  progress(`installed ${requested.name}`);
  return found;
}

/**
 * Downloads the package lists. A failure is not reported here, since the existing lists may be sufficient. @returns
 * whether the lists were downloaded
 */
async function updateLists(aptGet: string, progress: Progress, maxAgeMs = listsMaxAgeMs): Promise<boolean> {
  const stamp = join(findCacheDir(), 'apt-get.updated');
  const updatedAt = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (Date.now() - updatedAt < maxAgeMs) return false;
  const failure = await runAptGet(aptGet, ['update', ...aptOptions], 'fetching package lists', progress);
  if (failure === undefined) writeFileSync(stamp, '');
  else progress(`apt-get update failed, going on without it:\n${failure}`);
  return true;
}

/** @returns undefined on success, otherwise the last lines of the output. */
function runAptGet(
  aptGet: string,
  args: readonly string[],
  doing: string,
  progress: Progress,
): Promise<string | undefined> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' };
  const child = spawn(aptGet, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream
      .setEncoding('utf8')
      .on('data', (text: string) => lines.push(...text.split('\n').filter((line) => line.trim() !== '')));
  }
  const startedAt = Date.now();
  const timer = setInterval(
    () =>
      progress(
        `${doing}: ${Math.round((Date.now() - startedAt) / 1000)} s (${lines.at(-1)?.trim() ?? 'nothing said yet'})`,
      ),
    progressIntervalMs,
  );
  return new Promise((resolve) => {
    child.once('error', (error) => lines.push(error.message));
    child.once('close', (code) => {
      clearInterval(timer);
      resolve(code === 0 ? undefined : lines.slice(-12).join('\n'));
    });
  });
}

function describeFailure(requested: DebianProgram, what: string): Error {
  const names = requested.programs.map((one) => [one].flat().join(' or ')).join(' and ');
  return new Error(
    `${requested.name} ${what}.\nTwo ways out:\n` +
      `  1. install it as root: apt-get update && apt-get install ${requested.packages.join(' ')}\n` +
      `  2. put ${names} on the PATH in another way`,
  );
}
