/**
 * First step of every npm command. Runs on Node 20 and without packages: installs the packages when the lock file has
 * changed, then runs the command with the pinned Node, which is one of the packages.
 *
 * node tools/bootstrap.mjs <command> [arguments]
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const repoDir = join(dirname(fileURLToPath(import.meta.url)), '..');
const modulesDir = join(repoDir, 'node_modules');
const stampFile = join(modulesDir, '.coherence-installed');
const lockFile = join(repoDir, '.data', 'install.lock');
const pinnedNode = join(modulesDir, 'node', 'bin', 'node');
const oldestNode = 20;
/** Suffix of the installation stamp when packages for tools and tests are not installed. */
const withoutToolsMark = ' without tools';
const progressEveryMs = 5_000;

/** Commands that need servers, whose build starts while packages are installed. */
const withServers = ['start', 'test', 'test:release'];
/** Commands that need only the packages of the platform. */
const withoutTools = ['start', 'cli', 'demo', 'logs'];
const serverBuilder = join(repoDir, 'libs', 'product', 'servers', 'build-servers.ts');

const commands = {
  start: 'tools/start/main.ts',
  test: 'tools/test/main.ts',
  'test:release': 'tools/test/release.ts',
  'test:chaos': 'lab/chaos/main.ts',
  'test:cluster': 'lab/cluster/main.ts',
  check: 'tools/check/main.ts',
  fix: 'tools/check/fix.ts',
  cli: 'cli/main.ts',
  demo: 'tools/demo/main.ts',
  logs: 'tools/logs/main.ts',
  bench: 'lab/bench/main.ts',
  'bench:scale': 'lab/scale/main.ts',
  'bench:cost': 'lab/cost/main.ts',
  'bench:feed': 'lab/bench/feed.ts',
  'bench:webhooks': 'lab/bench/webhooks.ts',
  'load:smoke': 'lab/load/main.ts',
  sbom: 'tools/sbom/main.ts',
  images: 'tools/images/main.ts',
  client: 'tools/client/main.ts',
};

async function main() {
  const [name = '', ...args] = process.argv.slice(2);
  const script = commands[name];
  if (script === undefined) fail(`usage: node tools/bootstrap.mjs ${Object.keys(commands).join('|')}`);
  const major = Number(process.versions.node.split('.')[0]);
  if (major < oldestNode)
    fail(`Node ${process.versions.node} is too old; install Node ${oldestNode} or later (https://nodejs.org).`);
  await install(withServers.includes(name) ? buildServers : () => {}, !withoutTools.includes(name));
  run(findNode(), [join(repoDir, script), ...args], name);
}

/**
 * Installs the packages. Packages for tools and tests that are already installed are not removed.
 * @param meanwhile called when packages must be installed
 */
async function install(meanwhile, needsTools) {
  const packageLock = readFileSync(join(repoDir, 'package-lock.json'));
  const stamp = createHash('sha256').update(packageLock).update(`${process.platform}-${process.arch}`).digest('hex');
  const stampWithoutTools = `${stamp}${withoutToolsMark}`;
  const isDone = () => {
    const present = readText(stampFile);
    return present === stamp || (!needsTools && present === stampWithoutTools);
  };
  if (isDone()) return;
  await takeInstallLock();
  try {
    if (isDone()) return; // another command has installed the packages while this one waited
    const present = readText(stampFile);
    const withTools = needsTools || present?.endsWith(withoutToolsMark) === false;
    const packages = JSON.parse(packageLock.toString()).packages;
    if (!isInstalled(packages, withTools)) {
      meanwhile(packages);
      // If only the packages for tools are missing, installed packages are not removed, since a platform may be running
      // from them.
      await runNpm(packages, withTools, withTools && present === stampWithoutTools ? ['install', '--no-save'] : ['ci']);
      removeUnused(withTools);
    }
    writeFileSync(stampFile, withTools ? stamp : stampWithoutTools);
  } finally {
    rmSync(lockFile, { force: true });
  }
}

/** Returns true when npm has already installed the exact content of the lock file. */
function isInstalled(packages, withTools) {
  const text = readText(join(modulesDir, '.package-lock.json'));
  if (text === undefined) return false;
  const present = JSON.parse(text).packages;
  return Object.entries(packages).every(
    ([path, item]) =>
      path === '' || item.optional === true || isExcluded(item, withTools) || present[path]?.version === item.version,
  );
}

/** Removes 100 MB of unused files: C headers of the pinned Node, and source maps. */
function removeUnused(withTools) {
  rmSync(join(modulesDir, 'node', 'node_modules', nodePackage(), 'include'), { recursive: true, force: true });
  if (withTools) return;
  for (const name of readdirSync(modulesDir, { recursive: true })) {
    if (name.endsWith('.map')) rmSync(join(modulesDir, name), { force: true });
  }
}

function isExcluded({ dev, devOptional }, withTools) {
  return !withTools && (dev === true || devOptional === true);
}

function nodePackage() {
  return `${process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node'}-${process.platform}-${process.arch}`;
}

/** Starts building the servers in the background. The build ends with this process. */
async function buildServers(packages) {
  const node = process.features.typescript ? process.execPath : await fetchNode(packages);
  if (node === undefined) return;
  const child = spawn(node, ['--disable-warning=ExperimentalWarning', serverBuilder], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  child.once('error', () => {}); // the command builds the servers itself then
  process.once('exit', () => child.kill());
}

/**
 * Installs the pinned Node before the other packages, when the current Node cannot run TypeScript. The installed
 * package is the same that the install script of the package `node` downloads.
 */
function fetchNode(packages) {
  const name = nodePackage();
  const dir = join(repoDir, '.data', `early-node-${process.pid}`);
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
  const npm = findNpm();
  const args = [
    'install',
    '--no-save',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    '--prefix',
    dir,
  ];
  const child = spawn(npm[0], [...npm.slice(1), ...args, `${name}@${packages['node_modules/node'].version}`], {
    env: withoutNpmRun(process.env),
    stdio: 'ignore',
  });
  const end = () => child.kill();
  process.once('exit', end);
  return new Promise((resolve) => {
    child.once('error', () => resolve(undefined));
    child.once('exit', () => {
      process.off('exit', end);
      const node = join(dir, 'node_modules', name, 'bin', 'node');
      resolve(existsSync(node) ? node : undefined);
    });
  });
}

async function runNpm(packages, withTools, command) {
  const expected = Object.keys(packages).filter(
    (path) =>
      path !== '' &&
      !packages[path].optional &&
      !isExcluded(packages[path], withTools) &&
      !(command[0] === 'install' && isUnpacked(path)),
  );
  const total = expected.length;
  const what = `npm ${command[0]}`;
  log(`Installing ${total} packages with ${what}, about a minute. Later starts skip this.`);
  const startedAt = Date.now();
  const timer = setInterval(() => {
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    log(`  installing packages: ${seconds} s, ${countUnpacked(expected)} of ${total} unpacked`);
  }, progressEveryMs);
  const npm = findNpm();
  const child = spawn(
    npm[0],
    [
      ...npm.slice(1),
      ...command,
      withTools ? '--include=dev' : '--omit=dev',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ],
    {
      cwd: repoDir,
      env: withoutNpmRun(process.env),
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output = (output + text).slice(-20_000)));
  const stop = forwardSignals(child);
  const code = await new Promise((resolve) => {
    child.once('error', (error) => {
      output += error.message;
      resolve(1);
    });
    child.once('close', (status) => resolve(status ?? 1));
  });
  stop();
  clearInterval(timer);
  if (code !== 0) {
    fail(
      `${what} failed:\n${output.trim()}\n\nCheck that the registry is reachable and the disk is not full. Run the command again to resume.`,
    );
  }
  log(`  packages installed in ${Math.round((Date.now() - startedAt) / 1000)} s`);
}

function countUnpacked(paths) {
  return paths.filter(isUnpacked).length;
}

function isUnpacked(path) {
  return existsSync(join(repoDir, path, 'package.json'));
}

/** Returns the npm that called this program, otherwise the npm on the PATH. */
function findNpm() {
  const script = process.env.npm_execpath;
  return script !== undefined && /npm-cli\.c?js$/.test(script) && existsSync(script)
    ? [process.execPath, script]
    : ['npm'];
}

/** Removes settings of the outer npm, which the started npm would inherit. */
function withoutNpmRun(env) {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^npm_(lifecycle|package|command|config_local_prefix)/.test(name)),
  );
}

/**
 * Returns the path of the pinned Node. Runs the install script of its package if npm is configured not to run install
 * scripts.
 */
function findNode() {
  if (isUsable(pinnedNode)) return pinnedNode;
  log('Downloading the pinned Node: npm did not run its install script.');
  const result = spawnSync(process.execPath, ['installArchSpecificPackage.js'], {
    cwd: join(modulesDir, 'node'),
    encoding: 'utf8',
    env: { ...withoutNpmRun(process.env), npm_config_ignore_scripts: 'false', npm_config_loglevel: 'error' },
  });
  if (isUsable(pinnedNode)) return pinnedNode;
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 24 || (major === 24 && minor >= 16)) return process.execPath;
  return fail(
    `The pinned Node is missing (${pinnedNode}), and this Node ${process.versions.node} is older than 24.16.\n` +
      `${result.stdout ?? ''}${result.stderr ?? ''}\nAllow the install script of the package "node" (npm rebuild node), or run with Node 24.16 or later.`,
  );
}

function isUsable(node) {
  return existsSync(node) && spawnSync(node, ['--version'], { stdio: 'ignore' }).status === 0;
}

function run(node, args, name) {
  const child = spawn(node, args, {
    cwd: name === 'cli' ? (process.env.INIT_CWD ?? process.cwd()) : repoDir,
    env: {
      ...process.env,
      ...(name === 'start' ? { COHERENCE_BEGAN_AT: String(performance.timeOrigin) } : {}), // step durations are measured from here
      PATH: `${dirname(node)}:${join(modulesDir, '.bin')}:${process.env.PATH ?? ''}`,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(repoDir, '.data', 'compile-cache'), // compile cache, which saves a third of the start time of any command
    },
    stdio: name === 'start' ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit', // through the `ipc` channel, the command detects that this process has ended
  });
  const stopForwarding = forwardSignals(child);
  stopWithNpm(child);
  child.once('error', (error) => fail(`${node} could not be started: ${error.message}`));
  child.once('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    // Ends with the signal that ended the command: a shell loop stops at Ctrl-C only if the command dies of the signal.
    stopForwarding();
    process.exitCode = 1; // the status when the signal does not end Node
    process.kill(process.pid, signal);
  });
}

/** Forwards signals to the command. @returns a function that stops forwarding */
function forwardSignals(child) {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  const forward = (signal) => child.kill(signal);
  for (const signal of signals) process.on(signal, forward);
  return () => {
    for (const signal of signals) process.off(signal, forward);
  };
}

/** Stops the command when npm was killed, which is detected by a new parent process. */
function stopWithNpm(child) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) child.kill('SIGTERM');
  }, 1_000).unref();
}

async function takeInstallLock() {
  mkdirSync(dirname(lockFile), { recursive: true, mode: 0o700 });
  for (let answers = false; ;) {
    try {
      writeFileSync(lockFile, String(process.pid), { flag: 'wx' });
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const holder = Number(readText(lockFile));
    if (!isAlive(holder)) {
      rmSync(lockFile, { force: true });
      continue;
    }
    if (!answers) log(`Waiting for process ${holder}, which is installing the packages of this folder.`);
    answers = true;
    await sleep(500);
  }
}

function isAlive(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function log(line) {
  process.stderr.write(`${line}\n`);
}

function fail(message) {
  log(message);
  return process.exit(1);
}

try {
  await main();
} catch (error) {
  if (error.code === 'ENOSPC') fail(`The disk that holds ${repoDir} is full.`);
  if (error.code === 'EACCES' || error.code === 'EROFS') fail(`${error.path ?? repoDir} is not writable by this user.`);
  throw error;
}
