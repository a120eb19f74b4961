import { createHash } from 'node:crypto';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as sendRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sized } from '../drill.ts';
import { applyDemo, createConversation, startTestPlatform } from './test-platform.ts';
import type { Demo, TestPlatform } from './test-platform.ts';

const mebibyte = 1024 * 1024;
/** The maximum accepted size. */
const maxAudioBytes = 524_288_000;
/** Size of the uploaded audio. It is larger than the allowed memory growth of a process. */
const audioBytes = sized({ smoke: 80 * mebibyte, release: maxAudioBytes });
const allowedGrowthBytes = 64 * mebibyte;
const boundary = 'memory-test';
const head = Buffer.from(
  `--${boundary}\r\nContent-Disposition: form-data; name="audio"; filename="long.wav"\r\nContent-Type: audio/wav\r\n\r\n`,
);
const tail = Buffer.from(`\r\n--${boundary}--\r\n`);

/** Services that stream the bytes. */
const passedThrough = ['api-gateway', 'media'];

let platform: TestPlatform;
let demo: Demo;
let token: string;

beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url, {}, { processes: passedThrough });
  demo = await applyDemo(platform, 'memory');
  token = await platform.login('ada-memory@example.org', 'secret-of-ada-memory');
});
afterAll(() => platform.stop());

const path = (id: number): string => `/api/coherence/conversations/${id}/audio`;

/**
 * Yields chunks of 64 KiB whose content has a prime period. The buffer is reused, so that this process needs no extra
 * memory.
 */
function* makeBytes(sizeBytes: number): Generator<Buffer> {
  const block = Buffer.alloc(65_521, Buffer.from(Array.from({ length: 251 }, (_, index) => index)));
  for (let left = sizeBytes; left > 0; left -= block.byteLength)
    yield left < block.byteLength ? block.subarray(0, left) : block;
}

function upload(id: number, sizeBytes: number): Promise<{ status: number; json: unknown }> {
  return new Promise((resolve, reject) => {
    const request = sendRequest(`${platform.baseUrl}${path(id)}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': `multipart/form-data; boundary=${boundary}`,
        'content-length': String(head.byteLength + sizeBytes + tail.byteLength),
      },
    });
    request.on('error', reject);
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, json: JSON.parse(text) }));
    });
    void (async () => {
      request.write(head);
      for (const chunk of makeBytes(sizeBytes))
        if (!request.write(chunk)) await new Promise((drained) => request.once('drain', drained));
      request.end(tail);
    })();
  });
}

async function videoUrl(id: number): Promise<string> {
  return ((await platform.call('GET', `/api/coherence/conversations/${id}/video`)).json as { url: string }).url;
}

async function download(target: number | string): Promise<{ sizeBytes: number; sha256: string }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const url = `${platform.baseUrl}${typeof target === 'string' ? target : path(target)}`;
    sendRequest(url, { headers: typeof target === 'string' ? {} : { authorization: `Bearer ${token}` } }, resolve)
      .on('error', reject)
      .end();
  });
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const chunk of response) {
    hash.update(chunk as Buffer);
    sizeBytes += (chunk as Buffer).byteLength;
  }
  return { sizeBytes, sha256: hash.digest('hex') };
}

/** Returns the resident memory of a service process in bytes. */
function readResident(name: string): number {
  const { pid } = platform.runtime.processes.get(name)?.identity ?? {};
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

/** Returns the result of `work` and the maximum growth of the resident memory of the streaming processes meanwhile. */
async function measureGrowth<T>(work: () => Promise<T>): Promise<{ result: T; growth: Record<string, number> }> {
  const before = new Map(passedThrough.map((name) => [name, readResident(name)]));
  const growth: Record<string, number> = Object.fromEntries(passedThrough.map((name) => [name, 0]));
  const done = new AbortController();
  const watching = (async () => {
    while (!done.signal.aborted) {
      for (const name of passedThrough)
        growth[name] = Math.max(growth[name] ?? 0, readResident(name) - (before.get(name) ?? 0));
      await sleep(10);
    }
  })();
  try {
    return { result: await work(), growth };
  } finally {
    done.abort();
    await watching;
  }
}

function expectSmall(what: string, growth: Record<string, number>): void {
  const text = Object.entries(growth).map(([name, bytes]) => `${name} ${(bytes / mebibyte).toFixed(1)} MiB`);
  console.log(`${what}: extra memory ${text.join(', ')}`);
  for (const bytes of Object.values(growth)) expect(bytes).toBeLessThan(allowedGrowthBytes);
}

describe('audio uploads of the maximum size (rules/http#limits; architecture#bytes)', () => {
  it('stores and serves audio of the maximum size with less than 64 MiB of additional memory in each process', async () => {
    const { id } = await createConversation(platform, demo, '2026-05-01T10:00:00Z');
    await upload(id, mebibyte);
    await download(id);
    const up = await measureGrowth(() => upload(id, audioBytes));
    expect(up.result).toEqual({ status: 201, json: expect.objectContaining({ size_bytes: audioBytes }) });
    expectSmall('upload', up.growth);
    const down = await measureGrowth(() => download(id));
    const hash = createHash('sha256');
    for (const chunk of makeBytes(audioBytes)) hash.update(chunk);
    expect(down.result).toEqual({ sizeBytes: audioBytes, sha256: hash.digest('hex') });
    expectSmall('download', down.growth);
  });

  it('imports a recording of the maximum size by bulk import and serves it, with the same additional memory (rules/media#video)', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memory-'));
    const apply = async (key: string, sizeBytes: number): Promise<number> => {
      writeFileSync(join(folder, `${key}.mp4`), '');
      for (const chunk of makeBytes(sizeBytes)) appendFileSync(join(folder, `${key}.mp4`), chunk);
      writeFileSync(
        join(folder, 'file.json'),
        JSON.stringify({ conversations: [{ key, recording: { full: `${key}.mp4` } }] }),
      );
      const { stdout } = await platform.cli('workspace', 'apply', join(folder, 'file.json'), '--json');
      return (JSON.parse(stdout) as { ids: { conversations: Record<string, number> } }).ids.conversations[key] ?? 0;
    };
    try {
      await download(await videoUrl(await apply('small', mebibyte)));
      const up = await measureGrowth(() => apply('large', audioBytes));
      expectSmall('import', up.growth);
      const url = await videoUrl(up.result);
      const down = await measureGrowth(() => download(url));
      expect(down.result.sizeBytes).toBe(audioBytes);
      expectSmall('media path', down.growth);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('rejects audio over the maximum size and retains the previous audio', async () => {
    const { id } = await createConversation(platform, demo, '2025-05-01T10:00:00Z');
    const kept = await upload(id, 3);
    const reply = await upload(id, maxAudioBytes + 1);
    expect([reply.status, reply.json]).toEqual([
      400,
      { error: 'invalid_conversation_audio', message: expect.any(String) },
    ]);
    expect((await download(id)).sizeBytes).toBe(3);
    const conversation = (await platform.call('GET', `/api/coherence/conversations/${id}`)).json;
    expect(conversation.infos.audio).toEqual(kept.json);
  });
});
