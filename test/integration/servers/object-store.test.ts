import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createObjectStore, minPartBytes, type ObjectStore } from '#libs/infrastructure/object-store';
import { waitFor } from '#libs/product/testing';
import { provideGoTool } from '../../../libs/product/servers/go-tool.ts';
import { versitygwTool } from '../../../libs/product/servers/go-tools.ts';
import {
  type ObjectStoreOptions,
  readObjectStoreKind,
  startObjectStore,
} from '../../../libs/product/servers/object-store.ts';
import type { ObjectStoreServer } from '../../../libs/product/servers/object-store-server.ts';

const kind = readObjectStoreKind(process.env['TEST_OBJECT_STORE']);
const options = { contentType: 'audio/mpeg' };
const searchPath = process.env['PATH'] ?? '';
let folder: string;

function start(name: string, more: Partial<ObjectStoreOptions> = {}): Promise<ObjectStoreServer> {
  const logFile = join(folder, `${name}.log`);
  return startObjectStore({ kind, dataDir: join(folder, name), logFile, durable: false, progress: () => {}, ...more });
}

function connect(server: ObjectStoreServer, region = 'us-east-1'): ObjectStore {
  const { endpoint, accessKeyId, secretAccessKey } = server;
  return createObjectStore({
    endpoint,
    region,
    bucket: 'coherence',
    accessKeyId,
    secretAccessKey,
    forcePathStyle: true,
  });
}

async function* bodyOf(sizeBytes: number): AsyncGenerator<Buffer> {
  for (let left = sizeBytes; left > 0; left -= 65_536) yield Buffer.alloc(Math.min(left, 65_536), left % 251);
}

async function digestOf(body: AsyncIterable<Uint8Array> | undefined): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of body ?? []) hash.update(chunk);
  return hash.digest('hex');
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'coherence-object-store-'));
});
afterAll(() => {
  process.env['PATH'] = searchPath;
  rmSync(folder, { recursive: true, force: true });
});

describe('object store of npm start (rules/operations#promises)', () => {
  it('stores every acknowledged object, and no incomplete one, after a kill -9 during uploads', async () => {
    let server = await start('killed');
    const first = connect(server);
    await first.ensureBucket();
    const acknowledged = new Map<string, string>();
    const client = new AbortController();
    const putAll = async (name: string, sizeBytes: number): Promise<void> => {
      for (let index = 0; ; index += 1) {
        const key = `${name}/${String(index).padStart(5, '0')}`;
        acknowledged.set(
          key,
          (await first.putStream(key, bodyOf(sizeBytes), { ...options, signal: client.signal })).sha256,
        );
      }
    };
    const endless = async function* (): AsyncGenerator<Buffer> {
      for (;;) yield* bodyOf(minPartBytes);
    };
    const puts = [
      putAll('small', 100_000),
      putAll('one-request', minPartBytes),
      putAll('parts', 2 * minPartBytes + 17),
    ];
    const broken = [
      ...puts,
      first.resumeStream('unfinished', endless(), { ...options, unfinished: undefined, signal: client.signal }),
    ];
    const ends = Promise.allSettled(broken);
    await waitFor(
      async () => acknowledged.has('parts/00002') && (await first.findUnfinished('unfinished')) !== undefined,
    );
    process.kill(server.identity.pid, 'SIGKILL');
    await server.ended;
    client.abort(new Error('the client does not wait for the server to come back'));
    first.close();
    expect((await ends).map(({ status }) => status)).toEqual(broken.map(() => 'rejected'));

    server = await start('killed', { port: Number(new URL(server.endpoint).port) });
    const second = connect(server);
    const whole = new Map([...acknowledged].map(([key, sha256]) => [key.split('/')[0], sha256]));
    const listed = (await Array.fromAsync(second.list(''))).map(({ key }) => key);
    expect(listed).toEqual(expect.arrayContaining([...acknowledged.keys()]));
    for (const key of listed) {
      expect({ key, sha256: await digestOf((await second.get(key))?.body) }).toEqual({
        key,
        sha256: whole.get(key.split('/')[0]),
      });
    }
    const unfinished = await second.findUnfinished('unfinished');
    const sizeBytes = await second.resumeStream('unfinished', bodyOf(5), { ...options, unfinished });
    expect(sizeBytes).toBe((unfinished?.sizeBytes ?? 0) + 5);
    expect((await second.head('unfinished'))?.sizeBytes).toBe(sizeBytes);
    second.close();
    await server.stop();
  });

  it('keeps its objects across a restart, and requires its credentials and region', async () => {
    let server = await start('kept', { region: 'eu-central-1' });
    const store = connect(server, 'eu-central-1');
    await store.ensureBucket();
    const { sha256 } = await store.putStream('a', bodyOf(1000), options);
    await server.stop();
    server = await start('kept', { region: 'eu-central-1', port: Number(new URL(server.endpoint).port) });
    expect(await digestOf((await store.get('a'))?.body)).toBe(sha256);
    const strangers = [
      connect({ ...server, secretAccessKey: 'guessed' }, 'eu-central-1'),
      connect(server, 'us-east-1'),
    ];
    for (const stranger of strangers) {
      await expect(stranger.get('a')).rejects.toMatchObject({ code: 'unavailable' });
      stranger.close();
    }
    store.close();
    await server.stop();
  });
});

describe('versitygw', () => {
  it('stores attributes in separate files if the file system does not support them, also after a restart', async () => {
    const program = join(folder, 'bin', 'versitygw');
    const real = await provideGoTool(versitygwTool, () => {});
    mkdirSync(join(folder, 'bin'), { recursive: true });
    writeFileSync(
      program,
      `#!/bin/sh\ncase "$*" in *--sidecar*|--version) exec ${real} "$@";; esac\necho 'xattr check failed: not supported' >&2\nexit 1\n`,
    );
    chmodSync(program, 0o755);
    process.env['PATH'] = `${join(folder, 'bin')}:${searchPath}`;
    for (const round of ['first', 'second']) {
      const server = await start('plain', { kind: 'versitygw' });
      const store = connect(server);
      await store.ensureBucket();
      await store.putStream(`key/${round}`, bodyOf(2 * minPartBytes), options);
      expect((await Array.fromAsync(store.list('key/'))).length).toBe(round === 'first' ? 1 : 2);
      store.close();
      await server.stop();
    }
    expect(readdirSync(join(folder, 'plain')).toSorted()).toEqual(['attributes', 'buckets', 'secret']);
  });

  it('syncs acknowledged objects to disk if the file system supports it', async () => {
    const server = await start('durable', { kind: 'versitygw', durable: true });
    const store = connect(server);
    await store.ensureBucket();
    await store.putStream('deep/in/a/folder', bodyOf(2 * minPartBytes), options);
    store.close();
    await server.stop();
    const file = join(folder, 'durable', 'buckets', 'coherence', 'deep', 'in', 'a', 'folder');
    expect(existsSync(file)).toBe(true);
    const can = spawnSync('chattr', ['+S', folder]).status === 0;
    if (can) expect(execFileSync('lsattr', [file], { encoding: 'utf8' })).toMatch(/^-*S/);
  });
});
