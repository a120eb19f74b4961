import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ZipFile } from 'yazl';
import { provideGo, type Toolchain } from './go-toolchain.ts';

const platform = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
const module = `golang.org/toolchain@v0.0.1-go1.26.99.${platform}`;
const path = `/golang.org/toolchain/@v/v0.0.1-go1.26.99.${platform}.zip`;
const files = {
  'src/fmt/print.go': 'package fmt\n'.repeat(1000),
  'bin/go': '#!/bin/sh\necho "go version go1.26.99 at $GOROOT with $GOPATH"\n',
  'pkg/tool/compile': '#!/bin/sh\n',
};

let folder: string;
let lines: string[];
let proxy: Server;
let asked: string[];
let archive: Buffer;

function zip(entries: Readonly<Record<string, string>>): Promise<Buffer> {
  const file = new ZipFile();
  for (const [name, text] of Object.entries(entries))
    file.addBuffer(Buffer.from(text), name, { compress: name.endsWith('.go') });
  file.end();
  return buffer(file.outputStream);
}

/** Returns the hash as in Go's checksum database (golang.org/x/mod/sumdb/dirhash, Hash1). */
function hash(entries: Readonly<Record<string, string>>): string {
  const sha256 = (text: string) => createHash('sha256').update(text);
  const list = Object.keys(entries)
    .toSorted()
    .map((name) => `${sha256(entries[name] ?? '').digest('hex')}  ${name}\n`);
  return `h1:${sha256(list.join('')).digest('base64')}`;
}

const packed = Object.fromEntries(Object.entries(files).map(([name, text]) => [`${module}/${name}`, text]));
const toolchain: Toolchain = { version: '1.26.99', hashes: { [platform]: hash(packed) } };

function provide(wanted = toolchain) {
  return provideGo((line) => lines.push(line), wanted, [join(folder, 'bin')]);
}

function writeGo(version: string): void {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'bin', 'go'), `#!/bin/sh\necho "go version ${version} linux/amd64"\n`);
  chmodSync(join(folder, 'bin', 'go'), 0o755);
}

const listCache = (): string[] => readdirSync(join(folder, 'cache', 'coherence'));

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'coherence-go-'));
  [lines, asked] = [[], []];
  archive = await zip(packed);
  proxy = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.url === path) response.end(archive);
    else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => proxy.once('listening', resolve));
  const origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  Object.assign(process.env, { XDG_CACHE_HOME: join(folder, 'cache'), GOPROXY: `${origin}/mirror,${origin},direct` });
});
afterEach(async () => {
  for (const name of ['XDG_CACHE_HOME', 'GOPROXY']) delete process.env[name];
  await new Promise((resolve) => proxy.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

describe('provideGo', () => {
  it('uses the installed Go when its version is sufficient', async () => {
    writeGo('go1.26.0');
    expect((await provide()).program).toBe(join(folder, 'bin', 'go'));
    writeGo('go2.0');
    expect((await provide()).program).toBe(join(folder, 'bin', 'go'));
    expect(asked).toEqual([]);
  });

  it('fetches the pinned Go once from the proxies of GOPROXY when none is installed, and runs it with separate caches', async () => {
    const root = join(folder, 'cache', 'coherence', 'go-1.26.99');
    const [go, other] = await Promise.all([provide(), provide()]);
    expect(other.program).toBe(go.program);
    const said = execFileSync(go.program, { env: go.env, encoding: 'utf8' });
    expect(said.trim()).toBe(`go version go1.26.99 at ${root} with ${go.env['GOPATH']}`);
    expect(go.env).toMatchObject({ GOPATH: join(folder, 'cache', 'coherence', 'go'), GOTOOLCHAIN: 'local' });
    execFileSync(join(root, 'pkg', 'tool', 'compile'));
    expect(asked).toEqual([`/mirror${path}`, `/mirror${path}`, path]);
    expect(listCache().toSorted()).toEqual(['bin', 'go-1.26.99']);
    expect(lines[0]).toBe('there is no Go: fetching Go 1.26.99 from the Go module proxy, once for all clones');
    await provide();
    expect(asked).toHaveLength(3);
  });

  it('fetches the pinned Go when the installed version is too old', async () => {
    writeGo('go1.25.9');
    expect((await provide()).program).toBe(join(folder, 'cache', 'coherence', 'go-1.26.99', 'bin', 'go'));
    expect(lines[0]).toContain('bin/go is Go 1.25: fetching Go 1.26.99');
  });

  it.each([
    ['another content', `${module}/bin/go`, /is not golang\.org\/toolchain@.*: its hash is h1:.*, not h1:/],
    ['a file outside', `${module}/../go`, /has a file of another name: .*\/\.\.\/go/],
    ['another module', 'example.org/other@v1/bin/go', /has a file of another name: example\.org/],
  ])('removes partial files when it receives %s', async (_what, name, problem) => {
    const plain = await zip({ [name.replace('..', 'xx')]: 'something else' });
    archive = Buffer.from(plain.toString('latin1').replaceAll('/xx/', '/../'), 'latin1');
    await expect(provide()).rejects.toThrow(problem);
    expect(listCache()).toEqual(['bin']);
  });

  it('rejects a truncated archive of Go', async () => {
    archive = archive.subarray(0, -30);
    await expect(provide()).rejects.toThrow('not a zip archive');
    expect(listCache()).toEqual(['bin']);
  });

  it('names the proxies that do not have the pinned Go, or reports that GOPROXY contains no proxy', async () => {
    const origin = process.env['GOPROXY']?.split(',')[1] ?? '';
    process.env['GOPROXY'] = `${origin}/a|http://127.0.0.1:9`;
    await expect(provide()).rejects.toThrow(`could not be fetched (${origin}: status 404; http://127.0.0.1:9: `);
    process.env['GOPROXY'] = 'off';
    await expect(provide()).rejects.toThrow('GOPROXY is "off", which names no proxy');
  });

  it('explains the alternatives on a platform without a pinned Go', async () => {
    await expect(provide({ ...toolchain, hashes: {} })).rejects.toThrow(
      `there is no Go, and none is pinned for ${platform}. Install Go 1.26 or later.`,
    );
  });
});
