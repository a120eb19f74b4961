import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type GoTool, provideGoTool } from './go-tool.ts';
import { minioTool, natsServerTool, versitygwTool } from './go-tools.ts';
import { identifyProcess } from '#libs/infrastructure/process-identity';

const searchPath = process.env['PATH'] ?? '';
let folder: string;
let lines: string[];

const tool: GoTool = {
  name: 'some-server',
  module: 'example.org/some-server',
  version: 'v1.2.3',
  buildSeconds: 5,
  isGoodEnough: (text) => text.includes('v2'),
  waysOut: ['install it', 'set SOME_URL', 'use the compose file'],
};

function writeProgram(name: string, script: string): void {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, 'bin', name), 0o755);
}

/** Writes a `go` that counts its calls and creates the program after a short delay. */
function writeGo(script = `sleep 0.3; echo 'echo built' > "$GOBIN/some-server"; chmod +x "$GOBIN/some-server"`): void {
  const version = 'if [ "$1" = version ]; then echo go version go1.26.0; exit; fi';
  writeProgram(
    'go',
    `${version}\necho "$@" >> ${join(folder, 'calls')}\necho 'go: downloading example.org/a v1' >&2\n${script}`,
  );
}

const flags = '-gcflags=all=-dwarf=false -ldflags=-s -w';

function readCalls(): string[] {
  const file = join(folder, 'calls');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

function provide(wanted = tool): Promise<string> {
  return provideGoTool(wanted, (line) => lines.push(line));
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coherence-go-tool-'));
  lines = [];
  process.env['XDG_CACHE_HOME'] = join(folder, 'cache');
  process.env['PATH'] = `${join(folder, 'bin')}:${searchPath}`;
});
afterEach(() => {
  process.env['PATH'] = searchPath;
  delete process.env['XDG_CACHE_HOME'];
  rmSync(folder, { recursive: true, force: true });
});

describe('provideGoTool (architecture#running-it)', () => {
  it('uses the tool on the PATH when its version is sufficient', async () => {
    writeProgram('some-server', 'echo some-server v2.0.0');
    writeGo();
    await expect(provide()).resolves.toBe(join(folder, 'bin', 'some-server'));
    expect(readCalls()).toEqual([]);
  });

  it('builds the tool once into a cache shared by all clones, and reports the build', async () => {
    writeProgram('some-server', 'echo some-server v1.0.0');
    writeGo();
    const built = join(folder, 'cache', 'coherence', 'bin', 'some-server-v1.2.3');
    await expect(provide()).resolves.toBe(built);
    await expect(provide()).resolves.toBe(built);
    expect(readCalls()).toEqual([`install -v ${flags} example.org/some-server@v1.2.3`]);
    expect(lines[0]).toBe('building some-server v1.2.3 with go install, once for all clones (about 5 s on two cores)');
    expect(readdirSync(join(folder, 'cache', 'coherence', 'bin'))).toEqual(['some-server-v1.2.3']);
  });

  it('builds a module with replacements as a dependency of another module, with the build tags', async () => {
    writeGo(`test "$1" != install || echo 'echo built' > "$GOBIN/some-server"`);
    await provide({ ...tool, required: { tags: 'without_all' } });
    expect(readCalls()).toEqual([
      'mod init build',
      'get example.org/some-server@v1.2.3',
      `install -v ${flags} -tags without_all example.org/some-server`,
    ]);
    expect(readdirSync(join(folder, 'cache', 'coherence', 'bin'))).toEqual(['some-server-v1.2.3']);
  });

  it('waits for a build in another process, and builds when the other process died', async () => {
    writeGo();
    const bin = join(folder, 'cache', 'coherence', 'bin');
    mkdirSync(bin, { recursive: true });
    const lock = join(bin, 'some-server-v1.2.3.lock');
    writeFileSync(lock, JSON.stringify(identifyProcess(process.pid)));
    const provided = provide();
    setTimeout(() => writeFileSync(join(bin, 'some-server-v1.2.3'), ''), 100);
    await expect(provided).resolves.toBe(join(bin, 'some-server-v1.2.3'));
    expect(readCalls()).toEqual([]);
    expect(lines).toEqual(['some-server is being built by another process, waiting for it']);

    rmSync(join(bin, 'some-server-v1.2.3'));
    writeFileSync(lock, JSON.stringify({ pid: process.pid, startedAt: 'long ago' }));
    await provide();
    expect(readCalls()).toHaveLength(1);
  });

  it('removes the files of a failed build, and reports the reason and the alternatives', async () => {
    writeGo('echo "no route to proxy.golang.org" >&2; exit 1');
    await expect(provide()).rejects.toThrow(
      /some-server could not be built:\n(.*\n)*no route to proxy\.golang\.org\.\nThree ways out:\n {2}1\. install it\n {2}2\. set SOME_URL\n {2}3\. use the compose file/,
    );
    expect(readdirSync(join(folder, 'cache', 'coherence', 'bin'))).toEqual([]);
  });
});

describe('builds of two tools', () => {
  it('run one after the other; the second module is downloaded during the first build', async () => {
    const other = {
      ...tool,
      name: 'other-server',
      module: 'example.org/other-server',
      versionVariable: 'main.Version',
    };
    writeGo(
      `test "$2" = -n || { sleep 0.5; echo "done $@" >> ${join(folder, 'calls')}; touch "$GOBIN/some-server" "$GOBIN/other-server"; }`,
    );
    await Promise.all([provide(), provide(other)]);
    const first = `install -v ${flags} example.org/some-server@v1.2.3`;
    const second = `install -v ${flags} -X main.Version=v1.2.3 example.org/other-server@v1.2.3`;
    const calls = readCalls();
    expect(calls.toSorted()).toEqual(
      [first, 'install -n example.org/other-server@v1.2.3', `done ${first}`, second, `done ${second}`].toSorted(),
    );
    expect(calls.indexOf(second)).toBeGreaterThan(calls.indexOf(`done ${first}`));
    expect(calls.indexOf('install -n example.org/other-server@v1.2.3')).toBeLessThan(calls.indexOf(second));
    expect(lines).toContain('other-server waits for another build, and fetches its modules meanwhile');
  });
});

describe('isSufficient', () => {
  it.each([
    ['nats-server: v2.15.2', true],
    ['nats-server: v2.14.4', true],
    ['nats-server: v3.0.0', true],
    ['nats-server: v2.14.3', false],
    ['nats-server: v2.9.99', false],
    ['no version', false],
  ])('decides for NATS: %s', (text, expected) => {
    expect(natsServerTool.isGoodEnough(text)).toBe(expected);
  });

  it.each([
    ['Version  : v1.8.0\nBuild    : norev', true],
    ['Version  : 1.10.0', true],
    ['Version  : v1.7.0', false],
    ['Version  : git', false],
  ])('decides for versitygw: %s', (text, expected) => {
    expect(versitygwTool.isGoodEnough(text)).toBe(expected);
  });

  it.each([
    ['minio version RELEASE.2025-09-07T16-13-09Z (commit-id=...)', true],
    ['minio version RELEASE.2024-01-01T00-00-00Z', true],
    ['minio version RELEASE.2023-12-31T00-00-00Z', false],
    ['minio version DEVELOPMENT.GOGET', true],
  ])('decides for MinIO: %s', (text, expected) => {
    expect(minioTool.isGoodEnough(text)).toBe(expected);
  });
});
