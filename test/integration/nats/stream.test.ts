import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AppError, appError } from '#libs/infrastructure/errors';
import { type Bus, jsonStream, liveStream, rawJson } from '#libs/infrastructure/nats';
import { waitFor } from '#libs/product/testing';
import { connect, context, handlers, library, type LibraryHandlers, openBroker } from './parties.ts';

const { listBooks } = library.rpcs;
const mebibyte = 1024 * 1024;

describe('large replies (architecture#large-messages)', () => {
  const broker = openBroker();
  let caller: Bus;
  let responder: Bus;
  let service: { drain(): Promise<void> } | undefined;

  beforeAll(async () => {
    [caller, responder] = await Promise.all([connect(broker, 'caller'), connect(broker, 'responder')]);
  });
  afterAll(async () => {
    await Promise.all([caller.close(), responder.close()]);
  });

  async function serve(list: LibraryHandlers['listBooks']): Promise<void> {
    await service?.drain();
    service = await responder.serve(library, handlers({ listBooks: list }));
  }
  async function openStream(count = 1): Promise<AsyncIterable<Uint8Array>> {
    const reply = await caller.callRaw(listBooks, { count }, context());
    if (reply.kind !== 'stream') throw new Error('expected a stream');
    return reply.chunks;
  }
  const text = (bytes: readonly Uint8Array[]): string => Buffer.concat(bytes).toString('utf8');
  async function* rows(count: number, onRow?: (bytes: number) => void): AsyncGenerator<string> {
    for (let row = 0; row < count; row++) {
      const piece = `${row === 0 ? '[' : ','}{"row":${row},"text":"${'t'.repeat(60)}"}${row === count - 1 ? ']' : ''}`;
      onRow?.(piece.length);
      yield piece;
    }
  }

  it('sends a reply of up to 64 KiB as one message, even if the handler returns a stream', async () => {
    await serve(async (request) => jsonStream(rows(request.count)));
    const reply = await caller.callRaw(listBooks, { count: 700 }, context());
    if (reply.kind !== 'bytes') throw new Error('expected one message');
    expect(JSON.parse(text([reply.bytes]))).toHaveLength(700);
  });

  it('sends a larger reply in chunks, and joins them for a caller that parses the reply', async () => {
    const title = 'ü'.repeat(3 * mebibyte);
    await serve(async () => rawJson(JSON.stringify([title, 1])));
    await expect(caller.call(listBooks, { count: 1 }, context())).resolves.toEqual([title, 1]);
  });

  it('streams a million rows with limited memory between source and reader', async () => {
    let produced = 0;
    let consumed = 0;
    let widest = 0;
    await serve(async (request) => jsonStream(rows(request.count, (bytes) => (produced += bytes))));
    const before = process.memoryUsage().rss;
    let peak = before;
    for await (const chunk of await openStream(1_000_000)) {
      consumed += chunk.length;
      widest = Math.max(widest, produced - consumed);
      peak = Math.max(peak, process.memoryUsage().rss);
    }
    expect(consumed).toBe(produced);
    expect(produced).toBeGreaterThan(80 * mebibyte);
    expect(widest).toBeLessThan(2 * mebibyte);
    expect(peak - before).toBeLessThan(200 * mebibyte);
  });

  it('pauses the source of a reply for a slow reader', async () => {
    let produced = 0;
    await serve(async (request) => jsonStream(rows(request.count, (bytes) => (produced += bytes))));
    const iterator = (await openStream(200_000))[Symbol.asyncIterator]();
    await iterator.next();
    await sleep(300);
    const atRest = produced;
    expect(atRest).toBeLessThan(3 * mebibyte);
    await iterator.next();
    await waitFor(() => produced > atRest);
    await iterator.return?.();
  });

  it('forwards live values when they are produced, splits large ones, and waits for a slow reader (C1)', async () => {
    const next: PromiseWithResolvers<void>[] = Array.from({ length: 40 }, () => Promise.withResolvers<void>());
    let made = 0;
    await serve(async () =>
      liveStream(
        (async function* () {
          for (const { promise } of next) {
            await promise;
            made++;
            yield made === 3 ? 'x'.repeat(mebibyte) : `piece ${made}`;
          }
        })(),
      ),
    );
    const opened = openStream();
    next[0]?.resolve();
    const iterator = (await opened)[Symbol.asyncIterator]();
    const take = async (): Promise<string> => text([(await iterator.next()).value as Uint8Array]);
    expect(await take()).toBe('piece 1');
    next[1]?.resolve();
    expect(await take()).toBe('piece 2');
    next[2]?.resolve();
    let large = '';
    while (large.length < mebibyte) large += await take();
    expect(large).toBe('x'.repeat(mebibyte));
    for (const { resolve } of next) resolve();
    await sleep(200);
    expect(made).toBeLessThan(12);
    for (let piece = 4; piece <= 40; piece++) expect(await take()).toBe(`piece ${piece}`);
    expect((await iterator.next()).done).toBe(true);
  });

  it('stops the source of a reply when the reader disconnects, and aborts the signal of the handler', async () => {
    let closed = false;
    let aborted = false;
    const endless: LibraryHandlers['listBooks'] = async (_request, ctx) => {
      ctx.signal.addEventListener('abort', () => (aborted = true));
      const source = async function* (): AsyncGenerator<string> {
        try {
          for (;;) yield 'x'.repeat(10_000);
        } finally {
          closed = true;
        }
      };
      return jsonStream(source());
    };
    await serve(endless);
    for await (const chunk of await openStream()) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    await waitFor(() => closed && aborted);
  });

  it('continues to stream past the deadline of the call while the reply is being read', async () => {
    const deadlineMs = Date.now() + 2_000;
    let late: AbortSignal | undefined;
    const list: LibraryHandlers['listBooks'] = async (_request, ctx) => {
      const source = async function* (): AsyncGenerator<string> {
        yield 'x'.repeat(mebibyte);
        late = ctx.signal;
        await waitFor(() => Date.now() > deadlineMs + 100);
        for (let piece = 1; piece < 6; piece++) yield 'x'.repeat(mebibyte);
      };
      return jsonStream(source());
    };
    await serve(list);
    const reply = await caller.callRaw(listBooks, { count: 1 }, { ...context(), deadlineMs });
    let received = 0;
    if (reply.kind === 'stream') for await (const chunk of reply.chunks) received += chunk.length;
    expect(received).toBe(6 * mebibyte);
    expect(late?.aborted).toBe(false);
  });

  it('stops the source of a reply when the reader’s process dies', async () => {
    let closed = false;
    const source = async function* (): AsyncGenerator<string> {
      try {
        for (;;) yield 'x'.repeat(10_000);
      } finally {
        closed = true;
      }
    };
    await serve(async () => jsonStream(source()));
    const leaving = await connect(broker, 'leaving');
    await leaving.callRaw(listBooks, { count: 1 }, context());
    await leaving.close();
    await expect(waitFor(() => closed)).resolves.toBe(true);
  });

  it('returns an error when the source of a reply fails before its first chunk', async () => {
    const source = async function* (): AsyncGenerator<string> {
      yield '[';
      throw appError('conflict', 'book_lent', 'Somebody has it');
    };
    await serve(async () => jsonStream(source()));
    await expect(caller.callRaw(listBooks, { count: 1 }, context())).rejects.toMatchObject({
      code: 'conflict',
      reason: 'book_lent',
    });
  });

  it('fails the reader when the source of a reply fails after its first chunk', async () => {
    const source = async function* (): AsyncGenerator<string> {
      yield 'x'.repeat(mebibyte);
      throw new Error('cursor lost');
    };
    await serve(async () => jsonStream(source()));
    let received = 0;
    const read = async (): Promise<void> => {
      for await (const chunk of await openStream()) received += chunk.length;
    };
    await expect(read()).rejects.toMatchObject({ code: 'internal', message: 'Internal error' });
    expect(received).toBeLessThanOrEqual(mebibyte);
  });

  it('fails the reader when the responder is killed during a reply', async () => {
    await service?.drain();
    service = undefined;
    const child = spawn(process.execPath, [join(import.meta.dirname, 'endless-responder.ts')], {
      env: { ...process.env, NATS_URL: broker.url, NATS_SUBJECT_PREFIX: broker.prefix, NODE_OPTIONS: '' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    const chunks = await openStream();
    let received = 0;
    const read = async (): Promise<void> => {
      for await (const chunk of chunks) {
        received += chunk.length;
        if (received > 2 * mebibyte) child.kill('SIGKILL');
      }
    };
    const error = await read().then(
      () => undefined,
      (thrown: AppError) => thrown,
    );
    expect(error?.code).toBe('unavailable');
    expect(received).toBeGreaterThan(2 * mebibyte);
  });

  it('finishes active reply streams before it drains', async () => {
    await serve(async (request) => jsonStream(rows(request.count)));
    const chunks = await openStream(50_000);
    const drained = service?.drain();
    service = undefined;
    const parts: Uint8Array[] = [];
    for await (const chunk of chunks) parts.push(chunk);
    expect(JSON.parse(text(parts))).toHaveLength(50_000);
    await drained;
  });
});
