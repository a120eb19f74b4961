import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer, request as sendRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AppError, toErrorBody } from '#libs/infrastructure/errors';
import { receiveFile } from './multipart.ts';

const maxFileBytes = 1000;
const boundary = 'frontier';
const tooLarge = (): AppError => new AppError({ code: 'bad_request', reason: 'too_large', message: 'too large' });

let server: Server;
let port: number;
/** How each call of `receive` ended, in order. */
let ends: string[] = [];
/** Stores which request is being processed, like the tracer. */
const working = new AsyncLocalStorage<string>();
let askers: (string | undefined)[] = [];
let onRequest: () => void = () => undefined;
/** Called when the first bytes of a file are received. */
let onBytes: () => void = () => undefined;
let onEnd: () => void = () => undefined;

async function readFile(request: IncomingMessage): Promise<unknown> {
  return receiveFile(request, { part: 'audio', maxFileBytes, tooLarge }, async ({ fileName, body }) => {
    let sizeBytes = 0;
    askers.push(working.getStore());
    try {
      if (fileName === 'refused.mp3') throw new AppError({ code: 'bad_request', message: 'refused' });
      for await (const chunk of body) {
        sizeBytes += (chunk as Buffer).byteLength;
        onBytes();
      }
      ends.push('complete');
      return { fileName, sizeBytes };
    } catch (error) {
      ends.push('failed');
      onEnd();
      throw error;
    }
  });
}

beforeAll(async () => {
  server = createServer((request, response) => {
    onRequest();
    const name = request.headers['x-name'];
    working
      .run(String(name), () => readFile(request))
      .then(
        (result) => response.end(JSON.stringify(result)),
        (error: unknown) => response.end(JSON.stringify({ error: toErrorBody(error) })),
      );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

function send(body: string | Buffer, headers: Record<string, string> = {}): Promise<unknown> {
  ends = [];
  const contentType = `multipart/form-data; boundary=${boundary}`;
  return new Promise((resolve, reject) => {
    const request = sendRequest(
      { port, host: '127.0.0.1', method: 'POST', headers: { 'content-type': contentType, ...headers }, agent: false },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve(JSON.parse(text)));
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}
const part = (headers: string, content: string): string => `--${boundary}\r\n${headers}\r\n\r\n${content}\r\n`;
const audio = (content: string, fileName = 'talk.mp3'): string =>
  part(`Content-Disposition: form-data; name="audio"; filename="${fileName}"\r\nContent-Type: audio/mpeg`, content);
const end = `--${boundary}--\r\n`;
const missing = {
  error: {
    code: 'unprocessable',
    details: { items: [{ type: 'missing', loc: ['file', 'audio'], msg: 'Field required' }] },
  },
};
const unparsable = { error: { code: 'bad_request', message: 'Cannot parse request body' } };

describe('receiveFile (rules/media#audio-upload; rules/http#validation-items)', () => {
  it('returns name and bytes of the requested file part, also between other parts', async () => {
    const other =
      part('Content-Disposition: form-data; name="title"', 'x') +
      part('Content-Disposition: form-data; name="cover"; filename="c.png"', 'y'.repeat(500));
    expect(await send(other + audio('a'.repeat(700)) + other + end)).toEqual({ fileName: 'talk.mp3', sizeBytes: 700 });
  });

  it('accepts a file of the maximum size and rejects one more byte', async () => {
    expect(await send(audio('a'.repeat(maxFileBytes)) + end)).toEqual({
      fileName: 'talk.mp3',
      sizeBytes: maxFileBytes,
    });
    expect(await send(audio('a'.repeat(maxFileBytes + 1)) + end)).toMatchObject({ error: { reason: 'too_large' } });
    expect(ends).toEqual(['failed']);
  });

  it('rejects a body far over the size limit without reading it', async () => {
    expect(await send(audio('a'.repeat(2_000_000)) + end)).toMatchObject({ error: { reason: 'too_large' } });
    expect(ends).toEqual([]);
  });

  it('reads the first of several file parts with the same name', async () => {
    expect(await send(audio('aa') + audio('bbbb', 'second.mp3') + end)).toEqual({ fileName: 'talk.mp3', sizeBytes: 2 });
  });

  it('accepts an empty file', async () => {
    expect(await send(audio('') + end)).toEqual({ fileName: 'talk.mp3', sizeBytes: 0 });
  });

  it.each([
    ['no part at all', end],
    ['another part only', part('Content-Disposition: form-data; name="file"; filename="talk.mp3"', 'a') + end],
    ['a text part', part('Content-Disposition: form-data; name="audio"', 'talk') + end],
    [
      'a file input without a file',
      part('Content-Disposition: form-data; name="audio"; filename=""\r\nContent-Type: application/octet-stream', '') +
        end,
    ],
  ])('reports a missing file part for %s', async (_case, body) => {
    expect(await send(body)).toMatchObject(missing);
  });

  it('reports a missing file part for a body that is not multipart', async () => {
    expect(await send('{"audio":"x"}', { 'content-type': 'application/json' })).toMatchObject(missing);
  });

  it.each(['base64', 'quoted-printable', 'Base64', 'x-uuencode'])(
    'rejects a file part with the encoding %s (D107)',
    async (encoding) => {
      const refused = { error: { code: 'bad_request', message: expect.stringContaining('Content-Transfer-Encoding') } };
      const encoded = (name: string): string =>
        part(`Content-Disposition: form-data; ${name}\r\nContent-Transfer-Encoding: ${encoding}`, 'YWJj');
      for (const body of [
        encoded('name="audio"; filename="talk.mp3"'),
        encoded('name="title"'),
        encoded('name="c"; filename="c"') + audio('a'),
      ])
        expect(await send(body + end)).toMatchObject(refused);
    },
  );

  it.each(['binary', '8bit', '7BIT'])('accepts a file part with the identity encoding %s (D107)', async (encoding) => {
    const headers = `Content-Disposition: form-data; name="audio"; filename="talk.mp3"\r\nContent-Transfer-Encoding: ${encoding}`;
    expect(await send(part(headers, 'YWJj') + end)).toEqual({ fileName: 'talk.mp3', sizeBytes: 4 });
  });

  it.each([
    ['an empty body', ''],
    ['text without a boundary', 'nothing of the kind'],
    ['a form that ends in the file', audio('a'.repeat(500)).slice(0, -100)],
    ['a form without its end', audio('a'.repeat(500))],
    ['a form that ends in a header', `--${boundary}\r\nContent-Dispo`],
    [
      'a form that breaks after the file',
      `${audio('abc')}--${boundary}\r\nContent-Disposition: form-data; name="title"\r\n\r\nx`,
    ],
  ])('returns 400 for %s', async (_case, body) => {
    expect(await send(body)).toMatchObject(unparsable);
  });

  it('returns 400 for a form without a boundary parameter', async () => {
    expect(await send(audio('a') + end, { 'content-type': 'multipart/form-data' })).toMatchObject(unparsable);
  });

  it.each([
    [`filename="a/b\\c.mp3"`, 'c.mp3'],
    [`filename*=UTF-8''%E4%BC%9A%E8%A9%B1.mp3`, '会話.mp3'],
    [`filename="会話.mp3"`, '会話.mp3'],
    [`filename="we; ird=.mp3"`, 'we; ird=.mp3'],
  ])('reads the file from %s', async (parameter, fileName) => {
    expect(await send(part(`Content-Disposition: form-data; name="audio"; ${parameter}`, 'a') + end)).toEqual({
      fileName,
      sizeBytes: 1,
    });
  });

  it('reports an error of the receiver immediately, while the client is still sending', async () => {
    expect(await send(audio('a'.repeat(900), 'refused.mp3') + end)).toMatchObject({ error: { message: 'refused' } });
  });

  it('preserves the tracing context of the request for bytes that arrive later (rules/operations#traces)', async () => {
    askers = [];
    const hasCome = new Promise<void>((resolve) => (onRequest = resolve));
    const headers = {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'transfer-encoding': 'chunked',
      'x-name': 'slow',
    };
    const request = sendRequest({ port, host: '127.0.0.1', method: 'POST', headers, agent: false });
    const answered = new Promise((resolve) =>
      request.on('response', (response) => response.resume().on('end', resolve)),
    );
    request.flushHeaders();
    await hasCome;
    request.end(audio('aa') + end);
    await answered;
    expect(askers).toEqual(['slow']);
  });

  it('fails the upload when the client disconnects', async () => {
    ends = [];
    const contentType = `multipart/form-data; boundary=${boundary}`;
    const request = sendRequest({
      port,
      host: '127.0.0.1',
      method: 'POST',
      headers: { 'content-type': contentType, 'content-length': '900' },
      agent: false,
    });
    request.on('error', () => undefined);
    const begun = new Promise<void>((resolve) => (onBytes = resolve));
    const ended = new Promise<void>((resolve) => (onEnd = resolve));
    request.write(audio('a'.repeat(100)).slice(0, -60));
    await begun;
    request.destroy();
    await ended;
    expect(ends).toEqual(['failed']);
  });
});
