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
import { type DebianProgram, provideDebianProgram } from './debian-program.ts';
import { identifyProcess } from '#libs/infrastructure/process-identity';

const searchPath = process.env['PATH'] ?? '';
let folder: string;
let lines: string[];

const wanted: DebianProgram = {
  name: 'cutter',
  programs: ['cut-it', ['probe-it', 'probe-it-too']],
  packages: ['cutter', 'some-fonts'],
};
const inBin = (name: string): string => join(folder, 'bin', name);
const cached = (name: string): string => join(folder, 'cache', 'coherence', name);

function writeProgram(name: string, script = 'true'): void {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(inBin(name), `#!/bin/sh\n${script}\n`);
  chmodSync(inBin(name), 0o755);
}

/** Writes an `apt-get` that logs its calls; by default, `install` creates the programs after a short delay. */
function writeAptGet(onInstall = 'sleep 0.3; cp "$0" $BIN/cut-it; cp "$0" $BIN/probe-it-too', onUpdate = 'true'): void {
  writeProgram(
    'apt-get',
    `BIN=${join(folder, 'bin')}\necho "$DEBIAN_FRONTEND $@" >> ${join(folder, 'calls')}\nif [ "$1" = update ]; then ${onUpdate}; else ${onInstall}; fi`,
  );
}

function readCalls(): string[] {
  const file = join(folder, 'calls');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

/** Returns the actions (`update`, `install`) of the calls, in order. */
const listActions = (): string[] => readCalls().map((call) => call.split(' ')[1] ?? '');

const provide = (isRoot = true): Promise<readonly string[]> =>
  provideDebianProgram(wanted, (line) => lines.push(line), isRoot);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'coherence-debian-program-'));
  lines = [];
  process.env['XDG_CACHE_HOME'] = join(folder, 'cache');
  process.env['PATH'] = `${join(folder, 'bin')}:${searchPath}`;
});
afterEach(() => {
  process.env['PATH'] = searchPath;
  delete process.env['XDG_CACHE_HOME'];
  rmSync(folder, { recursive: true, force: true });
});

describe('provideDebianProgram', () => {
  it('uses a program on the PATH, under any of its names, without calling apt-get', async () => {
    for (const name of ['cut-it', 'probe-it-too']) writeProgram(name);
    writeAptGet();
    await expect(provide(false)).resolves.toEqual([inBin('cut-it'), inBin('probe-it-too')]);
    writeProgram('probe-it');
    await expect(provide(false)).resolves.toEqual([inBin('cut-it'), inBin('probe-it')]);
    expect(readCalls()).toEqual([]);
  });

  it('installs the packages of a missing program, and waits for the lock of other package tools', async () => {
    writeProgram('cut-it');
    writeAptGet();
    await expect(provide()).resolves.toEqual([inBin('cut-it'), inBin('probe-it-too')]);
    const [update, install] = readCalls();
    expect(update).toMatch(/^noninteractive update -o DPkg::Lock::Timeout=300 /);
    expect(install).toMatch(
      /^noninteractive install -y --no-install-recommends -o DPkg::Lock::Timeout=300 .* cutter some-fonts$/,
    );
    expect(lines).toEqual([
      'installing cutter with apt-get, once for this machine (about a minute)',
      'installed cutter',
    ]);
  });

  it('does not use a file that is not executable', async () => {
    writeProgram('cut-it');
    writeProgram('probe-it');
    chmodSync(inBin('probe-it'), 0o644);
    writeAptGet();
    await expect(provide()).resolves.toEqual([inBin('cut-it'), inBin('probe-it-too')]);
    expect(listActions()).toEqual(['update', 'install']);
  });

  it('installs the packages once for two concurrent callers', async () => {
    writeAptGet();
    const [first, second] = await Promise.all([provide(), provide()]);
    expect(second).toEqual(first);
    expect(listActions()).toEqual(['update', 'install']);
    expect(lines).toContain('packages are being installed by another process, cutter waits for it');
    expect(readdirSync(join(folder, 'cache', 'coherence')).toSorted()).toEqual(['apt-get.updated', 'bin']);
  });

  it('continues after another process died during its installation', async () => {
    mkdirSync(join(folder, 'cache', 'coherence'), { recursive: true });
    writeFileSync(cached('apt-get.lock'), JSON.stringify({ ...identifyProcess(process.pid), startedAt: 'long ago' }));
    writeAptGet();
    await expect(provide()).resolves.toHaveLength(2);
    expect(existsSync(cached('apt-get.lock'))).toBe(false);
  });

  it('fetches the package lists once an hour, and again when an installation fails', async () => {
    writeAptGet();
    await provide();
    rmSync(inBin('cut-it'));
    await provide();
    expect(listActions()).toEqual(['update', 'install', 'install']);
    rmSync(inBin('cut-it'));
    writeAptGet(
      `[ "$(tail -n 2 ${join(folder, 'calls')} | head -n 1 | cut -d ' ' -f 2)" = update ] && cp "$0" $BIN/cut-it`,
    );
    await provide();
    expect(listActions().slice(3)).toEqual(['install', 'update', 'install']);
  });

  it('uses the existing package lists when they cannot be fetched', async () => {
    writeAptGet(undefined, 'echo "E: no route" >&2; exit 100');
    await expect(provide()).resolves.toHaveLength(2);
    expect(lines).toContain('apt-get update failed, going on without it:\nE: no route');
  });

  it('reports the reason of a failed installation, and the alternatives', async () => {
    writeAptGet('echo "E: Unable to locate package cutter" >&2; exit 100');
    await expect(provide()).rejects.toThrow(
      'cutter could not be installed:\nE: Unable to locate package cutter.\nTwo ways out:\n' +
        '  1. install it as root: apt-get update && apt-get install cutter some-fonts\n' +
        '  2. put cut-it and probe-it or probe-it-too on the PATH in another way',
    );
    expect(existsSync(cached('apt-get.lock'))).toBe(false);
  });

  it('reports packages that do not contain the program', async () => {
    writeAptGet('true');
    await expect(provide()).rejects.toThrow('cutter is not on the PATH although cutter and some-fonts was installed.');
  });

  it('requires root before calling apt-get', async () => {
    writeAptGet();
    await expect(provide(false)).rejects.toThrow(
      /^cutter is not installed, and only root may install it\.\nTwo ways out:/,
    );
    expect(readCalls()).toEqual([]);
  });

  it('reports that apt-get does not exist on this machine', async () => {
    process.env['PATH'] = join(folder, 'bin');
    await expect(provide()).rejects.toThrow(
      /^cutter is not installed, and there is no apt-get to install it with\.\nTwo ways out:/,
    );
  });
});
