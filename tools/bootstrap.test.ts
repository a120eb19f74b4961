import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

let repo: string;

interface Result {
  status: number | null;
  output: string;
}

/**
 * Creates a folder with the bootstrap, a lock file of one package, a command that prints, and an npm that counts its
 * calls.
 */
function makeRepo(): void {
  repo = mkdtempSync(join(tmpdir(), 'coherence-bootstrap-'));
  mkdirSync(join(repo, 'tools', 'check'), { recursive: true });
  mkdirSync(join(repo, 'bin'));
  copyFileSync(join(import.meta.dirname, 'bootstrap.mjs'), join(repo, 'tools', 'bootstrap.mjs'));
  writeFileSync(
    join(repo, 'tools', 'check', 'main.ts'),
    "console.log('args', process.argv.slice(2).join(' ')); process.exitCode = 3;\n",
  );
  writeLock('1.0.0');
  writeNpm('mkdir -p node_modules/node/bin node_modules/a && ln -sf "$REAL_NODE" node_modules/node/bin/node');
}

function writeLock(version: string): void {
  writeFileSync(
    join(repo, 'package-lock.json'),
    JSON.stringify({ packages: { '': {}, 'node_modules/a': { version } } }),
  );
}

function writeNpm(script: string): void {
  writeFileSync(join(repo, 'bin', 'npm'), `#!/bin/sh\necho "$@" >> ${join(repo, 'calls')}\n${script}\n`);
  chmodSync(join(repo, 'bin', 'npm'), 0o755);
}

function readCalls(): string[] {
  const file = join(repo, 'calls');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

function environment(): NodeJS.ProcessEnv {
  const { npm_execpath: _npm, NODE_OPTIONS: _options, ...rest } = process.env;
  return { ...rest, PATH: `${join(repo, 'bin')}:${process.env['PATH']}`, REAL_NODE: process.execPath };
}

function run(...args: string[]): Promise<Result> {
  const env = environment();
  const child = spawn(process.execPath, [join(repo, 'tools', 'bootstrap.mjs'), ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve) => {
    child.once('close', (status) => resolve({ status, output }));
  });
}

beforeEach(makeRepo);
afterEach(() => {
  rmSync(repo, { recursive: true, force: true });
});

describe('first run of the npm commands (architecture#running-it)', () => {
  it('installs the packages of the lock file, then runs the command under the pinned Node and returns its status', async () => {
    const first = await run('check', '--fast');
    expect(first).toEqual({ status: 3, output: expect.stringContaining('Installing 1 packages with npm ci') });
    expect(first.output).toContain('args --fast');
    expect(readCalls()).toEqual(['ci --include=dev --no-audit --no-fund --loglevel=error']);
  });

  it('starts the build of the servers during the package installation', async () => {
    mkdirSync(join(repo, 'tools', 'start'));
    mkdirSync(join(repo, 'libs', 'product', 'servers'), { recursive: true });
    writeFileSync(join(repo, 'tools', 'start', 'main.ts'), "console.log('started');\n");
    const mark = join(repo, 'building');
    const builder = `import { writeFileSync } from 'node:fs';\nconst mark: string = ${JSON.stringify(mark)};\nwriteFileSync(mark, '');\n`;
    writeFileSync(join(repo, 'libs', 'product', 'servers', 'build-servers.ts'), builder);
    writeNpm(
      `until [ -f ${mark} ]; do sleep 0.05; done; mkdir -p node_modules/node/bin && ln -sf "$REAL_NODE" node_modules/node/bin/node`,
    );
    await expect(run('start')).resolves.toMatchObject({ status: 0, output: expect.stringContaining('started') });
    rmSync(mark);
    await run('start');
    expect(existsSync(mark)).toBe(false);
  });

  it("downloads the pinned Node before the packages when the caller's Node cannot run TypeScript", async () => {
    mkdirSync(join(repo, 'tools', 'start'));
    writeFileSync(join(repo, 'tools', 'start', 'main.ts'), "console.log('started');\n");
    const mark = join(repo, 'building');
    const fetched = `node(-bin)?-${process.platform}-${process.arch}`;
    writeFileSync(
      join(repo, 'package-lock.json'),
      JSON.stringify({
        packages: { '': {}, 'node_modules/a': { version: '1.0.0' }, 'node_modules/node': { version: '24.0.1' } },
      }),
    );
    writeNpm(`
if [ "$1" = install ]; then
  until [ "$1" = --prefix ]; do shift; done
  bin="$2/node_modules/\${3%@*}/bin"
  mkdir -p "$bin"; printf '#!/bin/sh\necho "$@" > ${mark}\n' > "$bin/node"; chmod +x "$bin/node"
else
  until [ -s ${mark} ]; do sleep 0.05; done
  mkdir -p node_modules/node/bin; printf '#!/bin/sh\nNODE_OPTIONS= exec "$REAL_NODE" "$@"\n' > node_modules/node/bin/node; chmod +x node_modules/node/bin/node
fi`);
    const env = { ...environment(), NODE_OPTIONS: '--no-experimental-strip-types' };
    const result = spawnSync(process.execPath, [join(repo, 'tools', 'bootstrap.mjs'), 'start'], {
      env,
      encoding: 'utf8',
    });
    expect([result.status, result.stdout]).toEqual([0, 'started\n']);
    expect(readFileSync(mark, 'utf8')).toContain(join('libs', 'product', 'servers', 'build-servers.ts'));
    expect(readCalls().toSorted().at(-1)).toMatch(
      new RegExp(`^install --no-save --ignore-scripts .* ${fetched}@24\\.0\\.1$`),
    );
    expect(readdirSync(join(repo, '.data')).filter((name) => name.startsWith('early-node'))).toEqual([]);
  });

  it('installs only runtime packages for a start, adds the tools for the first other command, and retains both', async () => {
    mkdirSync(join(repo, 'tools', 'start'));
    writeFileSync(join(repo, 'tools', 'start', 'main.ts'), "console.log('started');\n");
    mkdirSync(
      join(repo, 'node_modules', 'node', 'node_modules', `node-${process.platform}-${process.arch}`, 'include'),
      {
        recursive: true,
      },
    );
    writeFileSync(join(repo, 'node_modules', 'index.js.map'), '{}');
    const packages = {
      '': {},
      'node_modules/a': { version: '1.0.0' },
      'node_modules/tool': { version: '1.0.0', dev: true },
    };
    writeFileSync(join(repo, 'package-lock.json'), JSON.stringify({ packages }));
    expect((await run('start')).output).toContain('Installing 1 packages with npm ci');
    await run('start');
    expect(existsSync(join(repo, 'node_modules', 'index.js.map'))).toBe(false);
    await run('check');
    await run('start');
    writeFileSync(
      join(repo, 'package-lock.json'),
      JSON.stringify({ packages: { ...packages, 'node_modules/a': { version: '1.0.1' } } }),
    );
    await run('start');
    expect(readCalls().filter((call) => !call.includes('--prefix'))).toEqual([
      'ci --omit=dev --no-audit --no-fund --loglevel=error',
      'install --no-save --include=dev --no-audit --no-fund --loglevel=error',
      'ci --include=dev --no-audit --no-fund --loglevel=error',
    ]);
    if (process.platform === 'linux') {
      expect(readdirSync(join(repo, 'node_modules', 'node', 'node_modules', `node-linux-${process.arch}`))).toEqual([]);
    }
  });

  it('installs packages again only when the lock file changes', async () => {
    await run('check');
    await expect(run('check')).resolves.toEqual({ status: 3, output: 'args \n' });
    expect(readCalls()).toHaveLength(1);
    writeLock('1.0.1');
    await run('check');
    expect(readCalls()).toHaveLength(2);
  });

  it('uses packages that npm itself installed', async () => {
    mkdirSync(join(repo, 'node_modules', 'node', 'bin'), { recursive: true });
    symlinkSync(process.execPath, join(repo, 'node_modules', 'node', 'bin', 'node'));
    writeFileSync(
      join(repo, 'node_modules', '.package-lock.json'),
      JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.0' } } }),
    );
    await expect(run('check')).resolves.toEqual({ status: 3, output: 'args \n' });
    expect(readCalls()).toEqual([]);
  });

  it('prints the output of npm when the installation fails, and retries at the next command', async () => {
    writeNpm('echo "npm error ENOTFOUND registry" >&2; exit 1');
    const failed = await run('check');
    expect(failed.status).toBe(1);
    expect(failed.output).toContain('npm ci failed:\nnpm error ENOTFOUND registry');
    await run('check');
    expect(readCalls()).toHaveLength(2);
  });

  it('installs the packages once for two concurrent commands, the second of which waits', async () => {
    writeNpm('sleep 0.5; mkdir -p node_modules/node/bin && ln -sf "$REAL_NODE" node_modules/node/bin/node');
    const [first, second] = await Promise.all([run('check'), run('check')]);
    expect([first.status, second.status]).toEqual([3, 3]);
    expect(readCalls()).toHaveLength(1);
    expect(first.output + second.output).toMatch(/Waiting for process \d+, which is installing the packages/);
  });

  it('runs the install script of the pinned Node if npm did not run it', async () => {
    writeNpm(
      "mkdir -p node_modules/node && echo \"require('node:fs').mkdirSync('bin'); require('node:fs').symlinkSync(process.env.REAL_NODE, 'bin/node')\" > node_modules/node/installArchSpecificPackage.js",
    );
    const result = await run('check');
    expect(result.output).toContain('Downloading the pinned Node: npm did not run its install script.');
    expect(result.status).toBe(3);
  });

  it('removes the lock of an installation that was killed', async () => {
    mkdirSync(join(repo, '.data'));
    writeFileSync(join(repo, '.data', 'install.lock'), '999999999');
    await expect(run('check')).resolves.toMatchObject({ status: 3 });
  });

  it('runs the admin CLI through an installed link in the working directory of the user', async () => {
    mkdirSync(join(repo, 'cli'));
    copyFileSync(join(import.meta.dirname, '..', 'cli', 'coherence.mjs'), join(repo, 'cli', 'coherence.mjs'));
    writeFileSync(
      join(repo, 'cli', 'main.ts'),
      'console.log(process.cwd(), process.argv.slice(2)); process.exitCode = 2;\n',
    );
    const bin = join(repo, 'bin', 'coherence');
    symlinkSync(join('..', 'cli', 'coherence.mjs'), bin);
    expect(statSync(bin).mode & 0o111).toBe(0o111);
    const { INIT_CWD: _folder, ...env } = environment();
    const { status, stdout } = spawnSync(bin, ['jobs', 'list', '--json'], { cwd: tmpdir(), env, encoding: 'utf8' });
    expect({ status, stdout }).toEqual({
      status: 2,
      stdout: `${realpathSync(tmpdir())} [ 'jobs', 'list', '--json' ]\n`,
    });
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'ends by the same signal %s as its command, so that a shell loop stops',
    async (signal) => {
      await run('check');
      writeFileSync(join(repo, 'tools', 'check', 'main.ts'), "console.log('here'); setInterval(() => {}, 1_000);\n");
      const child = spawn(process.execPath, [join(repo, 'tools', 'bootstrap.mjs'), 'check'], { env: environment() });
      await once(child.stdout, 'data');
      child.kill(signal);
      expect(await once(child, 'exit')).toEqual([null, signal]);
    },
  );

  it('lists the npm commands when the command is unknown', async () => {
    await expect(run('dance')).resolves.toEqual({
      status: 1,
      output: expect.stringMatching(/start\|test\|.*\|check\|fix\|cli\|/),
    });
  });
});
