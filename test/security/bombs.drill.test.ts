/** Small inputs that expand: compressed bodies, images, YAML aliases, patterns (OWASP API4:2023; D51, D60, D61). */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sampled } from '../drill.ts';
import type { DocumentedOperation } from '../e2e/contract/served-documents.ts';
import { applyDemo, createConversation, type Answer, type TestPlatform } from '../e2e/test-platform.ts';
import {
  head,
  measureOther,
  openWire,
  readCost,
  statusesOf,
  startTarget,
  measureParsing,
  readCpuMs,
} from './attacker.ts';
import { monotonousRequests } from './generator.ts';
import { attackedOperations } from './operations.ts';
import { animatedGif, hugeGif, hugeJpeg, hugePng, hugeSvg, hugeWebp, pngWithText, solidPng } from './pictures.ts';

const mebibyte = 1_048_576;
const operations = attackedOperations;

let platform: TestPlatform;
let other: string;
let userToken: string;
let experience: number;
beforeAll(async () => {
  const services = ['api-gateway', 'conversations', 'directory', 'transcripts', 'media', 'agents', 'events'];
  const limits = {
    RATE_LIMIT_LOGIN_PER_MINUTE: '0',
    RATE_LIMIT_CHAT_PER_MINUTE: '0',
    RATE_LIMIT_CHAT_ADDRESS_PER_MINUTE: '0',
  };
  platform = await startTarget(import.meta.url, limits, { services });
  const demo = await applyDemo(platform, 'bombs');
  const long = 'a'.repeat(200);
  const { ids } = await platform.apply({
    agents: [{ slug: 'x', name: 'X', prompt: 'You are X.' }],
    people: [{ key: 'long', name: long }],
    classes: [{ slug: 'experience', label: 'Experience' }],
    holons: [{ slug: 'bread', name: long, class: 'experience', description: 'a '.repeat(5_000) }],
  });
  experience = ids['holons']?.['bread'] ?? 0;
  other = `/api/coherence/conversations/${(await createConversation(platform, demo)).id}`;
  userToken = await platform.login('root-bombs@example.org', 'secret-of-root-bombs');
});
afterAll(() => platform.stop());

function credentialsFor({ security }: DocumentedOperation): { token: string | null; gate: Record<string, string> } {
  const schemes = new Set(security.flatMap((entry) => Object.keys(entry)));
  const token = schemes.has('userToken') ? userToken : schemes.has('sharedToken') ? platform.sharedToken : null;
  return { token, gate: schemes.has('loginGate') ? { 'x-svc-api-key': platform.loginSecret } : {} };
}

describe('compressed bodies (D61)', () => {
  /**
   * A body with many faults below a long key. When each fault repeated the key, the uncompressed response had 500 MB.
   */
  const text = `{"${'k'.repeat(50_000)}":[${Array.from({ length: 400_000 }, () => String.raw`"\u0000"`).join(',')}]}`;
  const gzip = gzipSync(text, { level: 9 });
  const packed: Readonly<Record<string, Uint8Array<ArrayBuffer>>> = {
    gzip,
    'x-gzip': gzip,
    GZIP: gzip,
    deflate: deflateSync(text),
    br: brotliCompressSync(text),
    zstd: zstdCompressSync(text),
    'gzip, gzip': gzipSync(gzip),
    'identity, gzip': gzip,
  };
  const reading = operations.filter(({ requestBody }) => requestBody !== undefined);

  it.each(reading)('$id returns 415 for compressed bodies without reading them', async (operation) => {
    const { token, gate } = credentialsFor(operation);
    const path = operation.path.replaceAll(/\{[^}]+\}/g, '1');
    const before = await readCost(platform);
    for (const [encoding, body] of Object.entries(packed)) {
      const headers = { ...gate, 'content-type': 'application/json', 'content-encoding': encoding };
      const { status, json } = await platform.call(operation.method, path, { token, body, headers });
      expect([encoding, status, json]).toEqual([encoding, 415, { detail: expect.any(String) }]);
    }
    expect((await readCost(platform)).heapBytes - before.heapBytes).toBeLessThan(50 * mebibyte);
    await measureOther(platform, other);
  });

  it('returns 400 without decompression when the transfer encoding of a body is gzip', async () => {
    const chunk = Buffer.concat([Buffer.from(`${gzip.length.toString(16)}\r\n`), gzip, Buffer.from('\r\n0\r\n\r\n')]);
    const wire = await openWire(
      platform,
      head('POST', '/api/chat/x/message/', { 'Transfer-Encoding': 'gzip, chunked', Connection: 'close' }),
    );
    wire.send(chunk);
    await wire.closed;
    expect(statusesOf(wire)).toEqual([400]);
    expect(wire.received.length).toBeLessThan(1_000);
  });
});

describe('small image files with huge dimensions (D51)', () => {
  const upload = (bytes: Uint8Array<ArrayBuffer>, name: string): Promise<Answer> => {
    const body = new FormData();
    body.append('logo', new Blob([bytes]), name);
    return platform.call('POST', `/api/v1/experiences/${experience}/logo`, { token: userToken, body });
  };
  const residentOfMedia = async (): Promise<number> => (await readCost(platform, 'media')).residentBytes;

  it.each([
    ['400 million pixels', 'a.png', () => hugePng(20_000)],
    ['400 million pixels, only said', 'b.png', () => hugePng(20_000, 1)],
    ['a jpeg of four billion pixels', 'c.jpg', hugeJpeg],
    ['a webp of 268 million pixels', 'd.webp', hugeWebp],
    ['a gif of four billion pixels', 'e.gif', hugeGif],
    ['60 million pixels in 6,000 frames', 'f.gif', () => animatedGif(6_000, 100)],
    ['a drawing of ten billion pixels and a billion laughs', 'g.svg', hugeSvg],
  ])('rejects images with huge dimensions before decoding: %s', async (_name, file, make) => {
    const bytes = await make();
    expect(bytes.length).toBeLessThan(mebibyte);
    await upload(await solidPng(10), 'warm.png');
    const before = await residentOfMedia();
    const answer = await upload(bytes, file);
    expect([answer.status, answer.json]).toEqual([
      400,
      { code: 'validation_error', message: expect.any(String), retryable: false },
    ]);
    expect((await residentOfMedia()) - before).toBeLessThan(100 * mebibyte);
  });

  it('does not decompress a text of 200 MB that is embedded in an image', async () => {
    const before = await residentOfMedia();
    const bytes = pngWithText(200 * mebibyte);
    expect(bytes.length).toBeLessThan(mebibyte);
    expect([200, 400]).toContain((await upload(bytes, 'text.png')).status);
    expect((await residentOfMedia()) - before).toBeLessThan(100 * mebibyte);
  });

  it('processes images of the maximum size one after the other', async () => {
    const before = await residentOfMedia();
    const bytes = await solidPng(7_000);
    const answers = await Promise.all([1, 2, 3, 4].map((index) => upload(bytes, `${index}.png`)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await residentOfMedia()) - before).toBeLessThan(400 * mebibyte);
  });
});

describe('workspace files whose aliases expand to gigabytes', () => {
  const list = (count: number, alias: string): string => `[${Array.from({ length: count }, () => alias).join(', ')}]`;
  const laughs = Array.from(
    { length: 10 },
    (_value, index) => `a${index + 1}: &a${index + 1} ${list(10, `*a${index}`)}`,
  );
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bombs-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it.each([
    ['a billion laughs', ['a0: &a0 ha', ...laughs].join('\n')],
    [
      '9,000 times a megabyte',
      `people:\n  - key: a\n    name: &a "${'x'.repeat(mebibyte)}"\n    notes: ${list(9_000, '*a')}\n`,
    ],
    ['a list in itself', 'people: &a [*a]\n'],
    ['100,000 levels', `people: ${'['.repeat(100_000)}${']'.repeat(100_000)}\n`],
  ])('rejects a workspace file with expanding aliases or deep nesting: %s', async (name, text) => {
    const file = join(folder, `${name.replaceAll(/\W/g, '-')}.yaml`);
    await writeFile(file, text);
    const { code, stdout, stderr } = await platform.runtime.cli('workspace', 'apply', file);
    expect(code).toBe(1);
    expect(`${stdout}${stderr}`).toContain(`${file}:`);
    expect(`${stdout}${stderr}`.length).toBeLessThan(20_000);
  });
});

describe('texts that cause catastrophic backtracking of regular expressions', () => {
  const cases = operations.flatMap((operation) => {
    const requests = [...monotonousRequests(operation)];
    return requests.length === 0 ? [] : [{ id: operation.id, operation, requests }];
  });

  /** Maximum CPU time of all services per input, as a multiple of parsing a maximum-size body here. */
  const maxTimesParsed = 100;
  let allowedMs: number;
  beforeAll(() => {
    allowedMs =
      maxTimesParsed *
      measureParsing(`{${Array.from({ length: 300_000 }, (_value, index) => `"x${index}":1`).join(',')}}`);
  });

  it.each(sampled(cases, { every: 3 }))(
    '$id processes texts for catastrophic backtracking with little CPU time',
    async ({ operation, requests }) => {
      const { token, gate } = credentialsFor(operation);
      for (const { dimension, place, path, headers, body } of requests) {
        const before = readCpuMs(platform);
        const call = { token, headers: { ...headers, ...gate }, ...(body === undefined ? {} : { body: body() }) };
        const { status } = await platform.call(operation.method, path, call);
        const cpuMs = readCpuMs(platform) - before;
        const took = cpuMs < allowedMs ? 'little' : `${cpuMs} ms of ${allowedMs}`;
        // The service that reads the input answered. Only chat operations may return 503, because no language model is
        // available.
        const isAnswered = status < 500 || (status === 503 && operation.path.includes('/chat/'));
        expect([dimension, place, isAnswered ? 'answered' : status, took]).toEqual([
          dimension,
          place,
          'answered',
          'little',
        ]);
      }
    },
  );
});
