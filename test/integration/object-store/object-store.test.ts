import { createHash } from 'node:crypto';
import { createServer, request as httpRequest } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AppError } from '#libs/infrastructure/errors';
import {
  createObjectStore,
  minPartBytes,
  type ObjectStore,
  type ObjectStoreConfig,
} from '#libs/infrastructure/object-store';
import {
  createTestEnvironment,
  startTcpProxy,
  waitFor,
  type TcpProxy,
  type TestEnvironment,
} from '#libs/product/testing';

const mebibyte = 1024 * 1024;
const options = { contentType: 'audio/mpeg' };

let env: TestEnvironment;
let proxy: TcpProxy;
let store: ObjectStore;
/** Bypasses the proxy to read the actual state while the proxy is down. */
let witness: ObjectStore;

function connect(endpoint: string, keys: Partial<ObjectStoreConfig> = {}): ObjectStore {
  const { settings } = env;
  return createObjectStore({
    endpoint,
    region: 'us-east-1',
    bucket: settings['S3_BUCKET'] as string,
    accessKeyId: settings['S3_ACCESS_KEY_ID'],
    secretAccessKey: settings['S3_SECRET_ACCESS_KEY'],
    forcePathStyle: true,
    ...keys,
  });
}

/** Yields bytes that differ at every position, in chunks whose size is not a multiple of any buffer size. */
function* makeBytes(sizeBytes: number, chunkBytes = 64 * 1024 - 7): Generator<Buffer> {
  for (let offset = 0; offset < sizeBytes; offset += chunkBytes) {
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, sizeBytes - offset));
    for (let index = 0; index < chunk.length; index += 1)
      chunk[index] = ((offset + index) * 31 + ((offset + index) >> 13)) & 0xff;
    yield chunk;
  }
}
async function* bodyOf(sizeBytes: number): AsyncGenerator<Buffer> {
  yield* makeBytes(sizeBytes);
}
function digestOf(sizeBytes: number): string {
  const hash = createHash('sha256');
  for (const chunk of makeBytes(sizeBytes)) hash.update(chunk);
  return hash.digest('hex');
}
async function readAll(stream: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
async function expectNothing(key: string): Promise<void> {
  expect(await witness.head(key)).toBeUndefined();
  expect(await witness.countUnfinished(key)).toBe(0);
}

beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  const endpoint = env.settings['S3_ENDPOINT'] as string;
  proxy = await startTcpProxy(endpoint);
  store = connect(proxy.url);
  witness = connect(endpoint);
  await witness.ensureBucket();
});
afterAll(async () => {
  store.close();
  witness.close();
  await proxy.stop();
  await env.stop();
});

describe('object-store.putStream (architecture#bytes)', () => {
  it.each([0, 1, minPartBytes - 1, minPartBytes, minPartBytes + 1, 3 * minPartBytes, 17 * mebibyte + 3])(
    'putStream stores %d bytes and their digest',
    async (sizeBytes) => {
      const key = `sizes/${sizeBytes}`;
      const stored = await store.putStream(key, bodyOf(sizeBytes), options);
      expect(stored).toEqual({ sizeBytes, sha256: digestOf(sizeBytes) });
      const object = await store.get(key);
      expect(object?.sizeBytes).toBe(sizeBytes);
      expect(
        createHash('sha256')
          .update(await readAll(object?.body ?? ([] as never)))
          .digest('hex'),
      ).toBe(stored.sha256);
      expect(await store.countUnfinished(key)).toBe(0);
    },
  );

  it('putStream stores a source chunk that is larger than a buffer', async () => {
    const [chunk] = makeBytes(13 * mebibyte, 13 * mebibyte) as Iterable<Buffer>;
    const stored = await store.putStream(
      'large-chunk',
      (async function* () {
        yield chunk as Buffer;
      })(),
      options,
    );
    expect(stored.sizeBytes).toBe(13 * mebibyte);
    expect((await store.head('large-chunk'))?.sizeBytes).toBe(13 * mebibyte);
  });

  it('removes the uploaded chunks when putStream is aborted while the source sends nothing', async () => {
    const controller = new AbortController();
    const left = new Error('the client left');
    async function* body(): AsyncGenerator<Buffer> {
      yield* makeBytes(12 * mebibyte);
      expect(await witness.countUnfinished('aborted')).toBe(1);
      controller.abort(left);
      await sleep(60_000, undefined, { ref: false });
    }
    await expect(store.putStream('aborted', body(), { ...options, signal: controller.signal })).rejects.toBe(left);
    await expectNothing('aborted');
  });

  it('stores no data and returns the error when the source of an object of any size fails', async () => {
    for (const sizeBytes of [1000, 12 * mebibyte]) {
      const broken = Object.assign(new Error('the source broke'), { code: 'ECONNRESET' });
      const body = async function* (): AsyncGenerator<Buffer> {
        yield* makeBytes(sizeBytes);
        throw broken;
      };
      await expect(store.putStream(`broken/${sizeBytes}`, body(), options)).rejects.toBe(broken);
      await expectNothing(`broken/${sizeBytes}`);
    }
  });

  it('sends a chunk again when its connection breaks', async () => {
    async function* body(): AsyncGenerator<Buffer> {
      let sent = 0;
      for (const chunk of makeBytes(30 * mebibyte)) {
        sent += chunk.byteLength;
        yield chunk;
        if (sent % (4 * mebibyte) < chunk.byteLength) proxy.breakConnections();
      }
    }
    const stored = await store.putStream('shaken', body(), options);
    expect(stored).toEqual({ sizeBytes: 30 * mebibyte, sha256: digestOf(30 * mebibyte) });
    expect((await witness.head('shaken'))?.sizeBytes).toBe(30 * mebibyte);
  });

  it('completes putStream across a short outage of the store', async () => {
    async function* body(): AsyncGenerator<Buffer> {
      yield* makeBytes(6 * mebibyte);
      proxy.cut();
      setTimeout(() => proxy.restore(), 700);
      yield* makeBytes(20 * mebibyte);
    }
    const stored = await store.putStream('away', body(), options);
    expect((await witness.head('away'))?.sizeBytes).toBe(stored.sizeBytes);
  });

  it('fails putStream as unavailable in a long outage, without secrets in the error; removeUpload then removes all data', async () => {
    async function* body(): AsyncGenerator<Buffer> {
      yield* makeBytes(11 * mebibyte);
      proxy.cut();
      yield* makeBytes(20 * mebibyte);
    }
    const error: unknown = await store.putStream('lost', body(), options).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code: 'unavailable', message: 'Object store unavailable' });
    // In tests the bucket name contains the access key, so it is removed from the text.
    const text = `${String((error as Error).stack)} ${String((error as Error).cause)}`.replaceAll(
      env.settings['S3_BUCKET'] ?? '',
      '',
    );
    for (const name of ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY']) expect(text).not.toContain(env.settings[name]);
    expect(await witness.countUnfinished('lost')).toBe(1);
    proxy.restore();
    await store.removeUpload('lost');
    await expectNothing('lost');
  });

  it('reports status, bucket and endpoint of rejected credentials, and the error code of an unreachable store', async () => {
    const { S3_BUCKET: bucket = '', S3_ENDPOINT: endpoint = '' } = env.settings;
    const refused = connect(endpoint, { secretAccessKey: 'a-secret-that-opens-nothing' });
    const away = connect('http://127.0.0.1:1');
    const findCause = (work: Promise<unknown>): Promise<string> =>
      work.then(String, (error: Error) => String(error.cause));
    const calls = [
      () => refused.ping(),
      () => refused.head('x'),
      () => refused.get('x'),
      () => refused.delete('x'),
      () => refused.ensureBucket(),
    ];
    for (const call of calls)
      expect(await findCause(call())).toContain(`S3: credentials refused (403) for bucket ${bucket} at ${endpoint}`);
    expect(await findCause(away.ping())).toBe(`Error: S3: ECONNREFUSED for bucket ${bucket} at http://127.0.0.1:1`);
    refused.close();
    away.close();
  });

  it('uses credentials of the environment, works without ListBucket and lifecycle permissions, and encrypts objects', async () => {
    const { S3_ENDPOINT: target = '', S3_ACCESS_KEY_ID: id = '', S3_SECRET_ACCESS_KEY: key = '' } = env.settings;
    const seen: { line: string; sse: string | undefined; kms: string | undefined; token: string | undefined }[] = [];
    /**
     * Returns whether the request is for the bucket itself. The server rejects these, like a policy that allows only
     * object requests.
     */
    const isOfBucket = (method: string, url: URL): boolean =>
      (method === 'HEAD' && url.pathname.split('/').filter((part) => part !== '').length === 1) ||
      url.searchParams.has('lifecycle') ||
      url.searchParams.has('list-type');
    const policy = createServer((request, response) => {
      const url = new URL(request.url ?? '', target);
      if (url.pathname === '/credentials') {
        const Expiration = new Date(Date.now() + 3_600_000).toISOString();
        response.end(JSON.stringify({ AccessKeyId: id, SecretAccessKey: key, Token: '', Expiration }));
        return;
      }
      const { headers, method = '' } = request;
      const header = (name: string): string | undefined => headers[name] as string | undefined;
      seen.push({
        line: `${method} ${url.pathname.split('/').slice(2).join('/')}`,
        sse: header('x-amz-server-side-encryption'),
        kms: header('x-amz-server-side-encryption-aws-kms-key-id'),
        token: header('x-amz-security-token'),
      });
      if (isOfBucket(method, url)) return void response.writeHead(403).end();
      const forwarded = httpRequest(url, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      request.pipe(forwarded);
    });
    await new Promise<void>((resolve) => policy.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${(policy.address() as AddressInfo).port}`;
    process.env['AWS_CONTAINER_CREDENTIALS_FULL_URI'] = `${endpoint}/credentials`;
    const keyless = connect(endpoint, {
      accessKeyId: undefined,
      secretAccessKey: undefined,
      encryption: 'aws:kms',
      kmsKeyId: 'a-key',
    });
    try {
      await expect(keyless.ensureBucket()).resolves.toEqual({ lifecycle: false });
      await keyless.ping();
      const small = await keyless.putStream('small', bodyOf(10), options);
      await keyless.putStream('large', bodyOf(6 * mebibyte), options);
      expect(await witness.head('small')).toMatchObject({ sizeBytes: small.sizeBytes });
      expect(await keyless.head('large')).toMatchObject({ sizeBytes: 6 * mebibyte });
      const begun = seen.filter(({ line }) => /^(PUT small|POST large)$/.test(line));
      expect(begun).toContainEqual({ line: 'PUT small', sse: 'aws:kms', kms: 'a-key', token: undefined });
      expect(begun).toContainEqual({ line: 'POST large', sse: 'aws:kms', kms: 'a-key', token: undefined });

      const file = join(await mkdtemp(join(tmpdir(), 'coherence-token-')), 'token');
      await writeFile(file, 'token-of-a-file\n');
      for (const [own, token] of [
        [{ sessionToken: 'a-token' }, 'a-token'],
        [{ sessionTokenFile: file }, 'token-of-a-file'],
      ] as const) {
        const temporary = connect(endpoint, own);
        await temporary.head('temporary').catch(() => undefined); // The request fails, because this store does not have temporary keys.
        temporary.close();
        expect(seen.at(-1)).toMatchObject({ line: 'HEAD temporary', token });
      }
      await rm(dirname(file), { recursive: true });
    } finally {
      delete process.env['AWS_CONTAINER_CREDENTIALS_FULL_URI'];
      keyless.close();
      policy.closeAllConnections();
      policy.close();
    }
  });

  it('putStream reads its source no faster than the store accepts data', async () => {
    let produced = 0;
    let stop = false;
    async function* body(): AsyncGenerator<Buffer> {
      for (const chunk of makeBytes(60 * mebibyte)) {
        if (stop) throw new Error('enough');
        produced += chunk.byteLength;
        yield chunk;
        if (produced > 6 * mebibyte && produced < 6 * mebibyte + chunk.byteLength * 2) proxy.hang();
      }
    }
    const upload = store.putStream('slow', body(), options).catch((error: Error) => error.message);
    let last = -1;
    await waitFor(
      async () => {
        const before = last;
        last = produced;
        return produced > 6 * mebibyte && before === produced;
      },
      { intervalMs: 300 },
    );
    // One part is being sent and one buffer is full.
    expect(produced).toBeLessThanOrEqual(3 * minPartBytes + mebibyte);
    stop = true;
    proxy.restore();
    expect(await upload).toBe('enough');
    await expectNothing('slow');
  });
});

describe('object-store.get, head, delete, list (architecture#bytes)', () => {
  it('get returns a range of an object', async () => {
    await store.putStream('range', bodyOf(100_000), options);
    const all = await readAll((await store.get('range'))?.body as AsyncIterable<unknown>);
    const object = await store.get('range', { range: { first: 70_000, last: 70_009 } });
    expect(object?.sizeBytes).toBe(10);
    expect(await readAll(object?.body as AsyncIterable<unknown>)).toEqual(all.subarray(70_000, 70_010));
  });

  it('returns undefined for a missing object, and deletes it without an error', async () => {
    expect(await store.get('missing')).toBeUndefined();
    expect(await store.head('missing')).toBeUndefined();
    await expect(store.delete('missing')).resolves.toBeUndefined();
  });

  it('stops reading an object from the store when the body is destroyed or the caller aborts', async () => {
    await store.putStream('long', bodyOf(40 * mebibyte), options);
    for (const leave of ['destroy', 'abort']) {
      const before = proxy.receivedBytes;
      const controller = new AbortController();
      const object = await store.get('long', { signal: controller.signal });
      const body = object?.body;
      body?.on('error', () => undefined);
      await new Promise((resolve) => body?.once('data', resolve));
      if (leave === 'destroy') body?.destroy();
      else controller.abort();
      await waitFor(() => body?.destroyed);
      await sleep(100);
      expect(proxy.receivedBytes - before).toBeLessThan(20 * mebibyte);
    }
  });

  it('pauses reading an object for a slow reader', async () => {
    const before = proxy.receivedBytes;
    const object = await store.get('long');
    await sleep(300);
    expect(proxy.receivedBytes - before).toBeLessThan(20 * mebibyte);
    expect((await readAll(object?.body as AsyncIterable<unknown>)).byteLength).toBe(40 * mebibyte);
  });

  it('fails the body of an object when the store closes the connection', async () => {
    const object = await store.get('long');
    const reading = readAll(object?.body as AsyncIterable<unknown>);
    proxy.breakConnections();
    await expect(reading).rejects.toThrow();
  });

  it('lists objects by prefix and deletes them', async () => {
    for (const name of ['list/a', 'list/b', 'other/c']) await store.putStream(name, bodyOf(3), options);
    const keys = async (): Promise<string[]> => (await Array.fromAsync(store.list('list/'))).map((item) => item.key);
    expect(await keys()).toEqual(['list/a', 'list/b']);
    await store.delete('list/a');
    expect(await keys()).toEqual(['list/b']);
  });

  it('reports a store that is down as unavailable, not the object as missing', async () => {
    proxy.cut();
    for (const call of [
      store.get('range'),
      store.head('range'),
      store.delete('range'),
      store.ping(),
      Array.fromAsync(store.list('')),
    ]) {
      await expect(call).rejects.toMatchObject({ code: 'unavailable' });
    }
    proxy.restore();
    await expect(store.ping()).resolves.toBeUndefined();
  });

  it('reports the store as unavailable with wrong credentials and without a bucket', async () => {
    const endpoint = env.settings['S3_ENDPOINT'] as string;
    const base = {
      endpoint,
      region: 'us-east-1',
      forcePathStyle: true,
      accessKeyId: 'somebody',
      secretAccessKey: 'a-wrong-secret',
    };
    const stranger = createObjectStore({ ...base, bucket: env.settings['S3_BUCKET'] as string });
    await expect(stranger.get('range')).rejects.toMatchObject({ code: 'unavailable' });
    stranger.close();
  });

  it('adds a lifecycle rule that removes unfinished uploads after two days, and keeps existing rules', async () => {
    const rules: string[] = [];
    const own =
      '<Rule><ID>own</ID><Filter><Prefix>logs/</Prefix></Filter><Status>Enabled</Status><Expiration><Days>7</Days></Expiration></Rule>';
    const server = createServer((request, response) => {
      void readText(request).then((body) => {
        const isRule = request.url?.includes('lifecycle') === true;
        if (isRule && request.method === 'PUT') rules.push(body);
        const stored = rules.at(-1) ?? `<LifecycleConfiguration>${own}</LifecycleConfiguration>`;
        response
          .writeHead(200, { 'content-type': 'application/xml' })
          .end(isRule && request.method === 'GET' ? stored : '');
      });
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const other = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await expect(other.ensureBucket()).resolves.toEqual({ lifecycle: true });
    await expect(other.ensureBucket()).resolves.toEqual({ lifecycle: true });
    expect(rules).toHaveLength(1);
    expect(rules[0]).toContain('<ID>own</ID>');
    expect(rules[0]).toMatch(
      /<AbortIncompleteMultipartUpload><DaysAfterInitiation>2<\/DaysAfterInitiation><\/AbortIncompleteMultipartUpload>/,
    );
    other.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('reports when the store does not support lifecycle rules for uploads', async () => {
    await expect(store.ensureBucket()).resolves.toEqual({ lifecycle: false });
  });

  it('creates the bucket once for concurrent callers', async () => {
    await expect(
      Promise.all([store.ensureBucket(), witness.ensureBucket(), store.ensureBucket()]),
    ).resolves.toHaveLength(3);
  });
});
