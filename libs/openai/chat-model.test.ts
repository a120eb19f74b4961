/** A server behind LLM_BASE_URL that means ill, or was taken over: what it answers is bounded while it is read. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createModel, ModelFailure } from '#libs/openai';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** The failure of a call of a server that answers like this. */
async function failureWith(listener: RequestListener, timeoutMs = 10_000): Promise<ModelFailure> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const model = createModel({ baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: 'k', model: 'm', timeoutMs });
  try {
    await model.answer([{ role: 'user', content: 'Hi' }], AbortSignal.timeout(30_000));
  } catch (error) {
    if (error instanceof ModelFailure) return error;
    throw error;
  }
  throw new Error('it was an answer');
}

const json = { 'content-type': 'application/json' };

describe('a model server that means ill (rules/providers#language-models)', () => {
  it('and packs far too much into little is unreadable, without being unpacked to its end', async () => {
    const bomb = gzipSync(Buffer.alloc(256 * 1024 * 1024), { level: 9 });
    const before = process.memoryUsage().rss;
    const failure = await failureWith((_request, response) => response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(bomb));
    expect(failure.kind).toBe('unreadable');
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
  });

  it('and never ends its answer is unreadable', async () => {
    const failure = await failureWith((_request, response) => {
      response.writeHead(200, json);
      const more = (): void => void (!response.destroyed && response.write('x'.repeat(65_536), () => setImmediate(more)));
      more();
    });
    expect(failure.kind).toBe('unreadable');
  });

  it('and hardly ever sends a byte is not waited for longer than two attempts', async () => {
    let attempts = 0;
    const failure = await failureWith((_request, response) => {
      attempts++;
      response.writeHead(200, json);
      const timer = setInterval(() => response.write(' '), 20);
      response.once('close', () => clearInterval(timer));
    }, 200);
    expect(attempts).toBe(2);
    // The name of what ends a fetch is lost where jest's realm meets that of Node, so that it looks like a lost connection here.
    expect(['timeout', 'connection']).toContain(failure.kind);
  });

  it('and sends the caller elsewhere is not followed', async () => {
    let visits = 0;
    const failure = await failureWith((request, response) => {
      if (request.url?.startsWith('/inside') === true) visits++;
      response.writeHead(307, { location: '/inside' }).end();
    });
    expect([failure.kind, visits]).toEqual(['connection', 0]);
  });
});
