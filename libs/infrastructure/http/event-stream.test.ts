import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from '@jest/globals';
import { unavailable } from '#libs/infrastructure/errors';
import { sendEvents } from './event-stream.ts';
import type { HttpContext } from './exchange.ts';
import { ByteBudget } from './byte-budget.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/**
 * Sends these chunks as events. Returns the response that the client receives, and the response object of the server.
 */
async function open(
  chunks: AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>,
  silenceMs = 60_000,
): Promise<{ response: Response; server: ServerResponse }> {
  const arrived = Promise.withResolvers<ServerResponse>();
  const server = createServer((req, res) => {
    const state = {
      surface: 'api',
      startedAt: performance.now(),
      countRefusal: () => undefined,
      responseBudget: new ByteBudget(1e9),
      startResponse: () => undefined,
    };
    const asked = Promise.resolve(chunks).then((found) => ({ kind: 'stream', chunks: found }) as const);
    sendEvents({ req, res, state } as unknown as HttpContext, asked, silenceMs).catch(() => res.writeHead(503).end());
    arrived.resolve(res);
  }).listen(0, '127.0.0.1');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  return { response, server: await arrived.promise };
}

const bytes = (text: string): Uint8Array => Buffer.from(text);

describe('a response as an event stream (C1, C4)', () => {
  it('sends comments on an idle stream, but never within an event', async () => {
    const next = Promise.withResolvers<void>();
    async function* source(): AsyncGenerator<Uint8Array> {
      yield bytes('event: a\ndata: {}\n\n');
      await next.promise;
      yield bytes('event: b\nda');
      await once(new Readable({ read: () => undefined }), 'never', { signal: AbortSignal.timeout(60) }).catch(
        () => undefined,
      );
      yield bytes('ta: {}\n\n');
    }
    const { response } = await open(source(), 20);
    let text = '';
    for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += part;
      if ((text.match(/^:$/gm) ?? []).length >= 2) next.resolve();
    }
    expect(text).toMatch(/^event: a\ndata: \{\}\n\n(?::\n\n){2,}event: b\ndata: \{\}\n\n(?::\n\n)*$/);
  });

  it('starts the stream after an idle period, and reports a later failure as the last event (D96)', async () => {
    const asked = Promise.withResolvers<AsyncIterable<Uint8Array>>();
    const { response } = await open(asked.promise, 20);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const readUntil = async (end: RegExp): Promise<void> => {
      for (let part = await reader?.read(); part?.done === false; part = await reader?.read())
        if (end.test((text += part.value))) return;
    };
    await readUntil(/^(:\n\n){3}/);
    asked.resolve(
      (async function* () {
        await Promise.resolve();
        yield bytes('event: a\ndata: {}\n\n');
      })(),
    );
    await readUntil(/never/);
    expect(text).toMatch(/^(:\n\n){3,}event: a\ndata: \{\}\n\n(?::\n\n)*$/);

    const failing = Promise.withResolvers<AsyncIterable<Uint8Array>>();
    const late = await open(failing.promise, 20);
    expect(late.response.status).toBe(200);
    failing.reject(unavailable('The agent cannot answer now'));
    expect(await late.response.text()).toMatch(
      /^(:\n\n)+event: error\ndata: \{"detail":"The agent cannot answer now"\}\n\n$/,
    );
    expect((await open(Promise.reject(unavailable('The agent cannot answer now')), 60_000)).response.status).toBe(503);
  });

  it('ends with the error of the source, but sends no error event inside an unfinished event', async () => {
    const failing = (first: string) =>
      (async function* () {
        await Promise.resolve();
        yield bytes(first);
        throw unavailable('The agent cannot answer now');
      })();
    expect(await (await open(failing('event: a\ndata: 1\n\n'))).response.text()).toBe(
      'event: a\ndata: 1\n\nevent: error\ndata: {"detail":"The agent cannot answer now"}\n\n',
    );
    expect(await (await open(failing('event: a\nda'))).response.text()).toBe('event: a\nda');
  });

  it('closes its source when the client disconnects', async () => {
    const left = Promise.withResolvers<string>();
    const chunks = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.resolve({ value: bytes('event: a\ndata: 1\n\n'), done: false }),
        return: () => {
          left.resolve('left');
          return Promise.resolve({ value: undefined, done: true as const });
        },
      }),
    };
    const { response } = await open(chunks as AsyncIterable<Uint8Array>);
    await response.body?.cancel();
    expect(await left.promise).toBe('left');
  });

  it('reads from the source no faster than the client accepts data', async () => {
    let made = 0;
    async function* source(): AsyncGenerator<Uint8Array> {
      for (; made < 2_000; made++) yield Buffer.concat([Buffer.alloc(65_534, 'x'), bytes('\n\n')]);
      await Promise.resolve();
    }
    const { response, server } = await open(source());
    await new Promise((resolve) => setImmediate(resolve));
    while (!server.writableNeedDrain) await new Promise((resolve) => setImmediate(resolve));
    expect(made).toBeLessThan(1_000);
    expect((await readText(Readable.fromWeb(response.body as never))).length).toBe(2_000 * 65_536);
  });
});
