/**
 * Provides the Go toolchain, which builds tools that no npm package contains. Uses the installed toolchain if it is new
 * enough, otherwise the pinned one from the Go module proxy, verified and unpacked into the cache. Runs before packages
 * are installed, so it imports none.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, chmodSync, constants, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import { findCacheDir, findProgram, listPath, makeOnce, type Progress } from './tool-cache.ts';
import { readZip } from './unzip.ts';

export interface Go {
  program: string;
  /** Environment variables that the toolchain needs. */
  env: NodeJS.ProcessEnv;
}

export interface Toolchain {
  version: string;
  /**
   * Hashes of the toolchain's files in Go's checksum database (sum.golang.org), by `<os>-<architecture>` in Go's names.
   */
  hashes: Readonly<Record<string, string>>;
}

const pinned: Toolchain = {
  version: '1.26.8',
  hashes: {
    'linux-amd64': 'h1:ZOmGe1OnfREDMIdb1Qi4G9JSuDPBLGExZMQ4nis1RXM=',
    'linux-arm64': 'h1:sYL/O6MqS68ML0kjsQ36WoYIpJqkw60TxizWUYUKQMc=',
    'darwin-amd64': 'h1:7/9KPPN8PckcA9s91hm2jmQMhzW4KyTJXHIs45L0C9M=',
    'darwin-arm64': 'h1:dFjGhY6f8DTsY8/rLchUTDRRfjJP4pCrGCwxvHFT2Fg=',
  },
};
/** Minimum Go version (major, minor) that the tools require. */
const oldest = [1, 26] as const;
const usualDirs = ['/usr/local/go/bin', '/usr/lib/go/bin', '/usr/lib/go-1.26/bin', '/opt/homebrew/bin'];
const publicProxy = 'https://proxy.golang.org';
/**
 * Files that builds do not need (two thirds of all files): tests of the standard library and the source of Go's own
 * programs.
 */
const unneeded = /^src\/cmd\/|_test\.go$|^src\/.*\/testdata\//;
const progressEveryMs = 5_000;
const silenceMs = 60_000;
const attempts = 2;

/**
 * Returns an installed Go that is new enough, or downloads the pinned one.
 * @throws Error that says why Go is not available
 */
export async function provideGo(
  progress: Progress,
  toolchain = pinned,
  dirs: readonly string[] = [...listPath(), ...usualDirs],
): Promise<Go> {
  const found = findProgram('go', dirs);
  const foundVersion = found === undefined ? undefined : readVersion(found);
  if (found !== undefined && isNewEnough(foundVersion))
    return { program: found, env: isWritable(homedir()) ? process.env : withOwnCaches() };
  const rootDir = join(findCacheDir(), `go-${toolchain.version}`);
  const why =
    found === undefined ? 'there is no Go' : `${found} is Go ${foundVersion?.join('.') ?? 'of no known version'}`;
  await makeOnce(
    rootDir,
    () => install(toolchain, rootDir, why, progress),
    () => progress(`Go ${toolchain.version} is being fetched by another process, waiting for it`),
  );
  return { program: join(rootDir, 'bin', 'go'), env: { ...withOwnCaches(), GOROOT: rootDir, GOTOOLCHAIN: 'local' } };
}

/** Returns an environment in which Go uses the tools' cache, so that no `~/go` is created. */
function withOwnCaches(): NodeJS.ProcessEnv {
  const cacheDir = findCacheDir();
  return { GOPATH: join(cacheDir, 'go'), GOCACHE: join(cacheDir, 'go-build'), ...process.env };
}

function readVersion(program: string): [number, number] | undefined {
  const { stdout } = spawnSync(program, ['version'], {
    encoding: 'utf8',
    timeout: 10_000,
    env: { ...process.env, GOTOOLCHAIN: 'local' },
  });
  const match = /go(\d+)\.(\d+)/.exec(stdout ?? '');
  return match === null ? undefined : [Number(match[1]), Number(match[2])];
}

function isNewEnough(version: [number, number] | undefined): boolean {
  if (version === undefined) return false;
  return version[0] === oldest[0] ? version[1] >= oldest[1] : version[0] > oldest[0];
}

async function install(toolchain: Toolchain, rootDir: string, why: string, progress: Progress): Promise<void> {
  const platform = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
  const expected = toolchain.hashes[platform];
  if (expected === undefined)
    throw new Error(`${why}, and none is pinned for ${platform}. Install Go ${oldest.join('.')} or later.`);
  const module = `golang.org/toolchain@v0.0.1-go${toolchain.version}.${platform}`;
  progress(`${why}: fetching Go ${toolchain.version} from the Go module proxy, once for all clones`);
  const archive = await download(module, progress);
  const draft = `${rootDir}.new`;
  rmSync(draft, { recursive: true, force: true });
  try {
    const hash = await unpack(archive, `${module}/`, draft);
    if (hash !== expected)
      throw new Error(`what the Go module proxy sent is not ${module}: its hash is ${hash}, not ${expected}`);
    renameSync(draft, rootDir);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  progress(`Go ${toolchain.version} is in ${rootDir}`);
}

/** Downloads the module from the proxies in GOPROXY, in order, and returns its archive. */
async function download(module: string, progress: Progress): Promise<Buffer> {
  const [name, version] = module.split('@');
  const proxies = (process.env['GOPROXY'] || publicProxy).split(/[,|]/).filter((proxy) => /^https?:/.test(proxy));
  const problems: string[] = [];
  for (const proxy of proxies) {
    const url = `${proxy.replace(/\/$/, '')}/${name}/@v/${version}.zip`;
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      try {
        return await read(url, progress);
      } catch (error) {
        const { message, cause } = error as Error;
        problems.push(`${new URL(proxy).origin}: ${cause instanceof Error ? cause.message : message}`);
      }
    }
  }
  if (proxies.length === 0) problems.push(`GOPROXY is "${process.env['GOPROXY']}", which names no proxy`);
  throw new Error(`the Go toolchain could not be fetched (${[...new Set(problems)].join('; ')})`);
}

async function read(url: string, progress: Progress): Promise<Buffer> {
  const silence = new AbortController();
  const giveUp = (): void => silence.abort(new Error(`nothing came for ${silenceMs / 1_000} s`));
  let timer = setTimeout(giveUp, silenceMs);
  const megabytes = (bytes: number): number => Math.round(bytes / 1_000_000);
  let reportedAt = Date.now();
  try {
    const response = await fetch(url, { signal: silence.signal });
    if (!response.ok || response.body === null) throw new Error(`status ${response.status}`);
    const total = Number(response.headers.get('content-length') ?? 0);
    const chunks: Uint8Array[] = [];
    let received = 0;
    for await (const chunk of response.body) {
      clearTimeout(timer);
      timer = setTimeout(giveUp, silenceMs);
      chunks.push(chunk);
      received += chunk.byteLength;
      if (Date.now() - reportedAt < progressEveryMs) continue;
      reportedAt = Date.now();
      progress(`fetching Go: ${megabytes(received)}${total === 0 ? '' : ` of ${megabytes(total)}`} MB`);
    }
    return Buffer.concat(chunks);
  } finally {
    clearTimeout(timer);
  }
}

/** @returns the hash of the files as Go computes it: of the sorted list of their hashes and names. */
async function unpack(archive: Buffer, prefix: string, dir: string): Promise<string> {
  const list: string[] = [];
  const made = new Set<string>();
  for (const { name, content } of readZip(archive)) {
    const path = name.slice(prefix.length);
    if (!name.startsWith(prefix) || path.split('/').includes('..'))
      throw new Error(`the Go toolchain has a file of another name: ${name}`);
    if (!unneeded.test(path)) {
      const file = join(dir, path);
      const parent = dirname(file);
      if (!made.has(parent)) mkdirSync(parent, { recursive: true });
      made.add(parent);
      writeFileSync(file, content);
      if (/^(bin|pkg\/tool)\//.test(path)) chmodSync(file, 0o755); // module archives do not contain file modes
    }
    list.push(`${createHash('sha256').update(content).digest('hex')}  ${name}\n`);
    if (list.length % 100 === 0) await breathe();
  }
  return `h1:${createHash('sha256').update(list.toSorted(compareLines).join('')).digest('base64')}`;
}

/** Compares lines by file name, which follows the hash and two spaces. */
function compareLines(a: string, b: string): number {
  const [left, right] = [a.slice(66), b.slice(66)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function isWritable(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
