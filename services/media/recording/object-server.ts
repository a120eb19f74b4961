/**
 * Serves one stored object to ffmpeg on a local port, because ffmpeg must seek. This avoids a copy on disk, and
 * credentials in the child process. The path cannot be guessed, and the port is closed when the job ends.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { unavailable } from '#libs/infrastructure/errors';
import type { ByteRange, ObjectStore } from '#libs/infrastructure/object-store';
import { copyStream } from '#libs/infrastructure/transfer';

export interface LocalObjectServer {
  readonly url: string;
  /** @throws AppError unavailable when a read from the store failed, so that ffmpeg received incomplete data */
  throwIfFailed(): void;
  close(): Promise<void>;
}

export async function serveObjectLocally(
  store: ObjectStore,
  object: { objectKey: string; sizeBytes: number },
): Promise<LocalObjectServer> {
  const path = `/${randomBytes(24).toString('base64url')}`;
  let failure: unknown;
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    if (request.url !== path) return void response.writeHead(404).end();
    serve(store, object, request, response).catch((error: unknown) => {
      failure ??= error;
      response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    throwIfFailed: () => {
      if (failure !== undefined)
        throw unavailable('failed to read the recording from the object store', { cause: failure });
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function serve(
  store: ObjectStore,
  { objectKey, sizeBytes }: { objectKey: string; sizeBytes: number },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const match = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
  const range: ByteRange = {
    first: Number(match?.[1] ?? 0),
    last: Math.min(Number(match?.[2] || sizeBytes - 1), sizeBytes - 1),
  };
  const headers = { 'accept-ranges': 'bytes', 'content-type': 'application/octet-stream' };
  if (range.first > range.last)
    return void response.writeHead(416, { ...headers, 'content-range': `bytes */${sizeBytes}` }).end();
  const length = range.last - range.first + 1;
  const part = match === null ? {} : { 'content-range': `bytes ${range.first}-${range.last}/${sizeBytes}` };
  response.writeHead(match === null ? 200 : 206, { ...headers, ...part, 'content-length': length });
  if (request.method === 'HEAD') return void response.end();
  const disconnected = new AbortController();
  response.once('close', () => disconnected.abort(new Error('the reader disconnected')));
  try {
    const found = await store.get(objectKey, { range, signal: disconnected.signal });
    if (found === undefined) throw unavailable('the recording is not in the object store');
    await copyStream(found.body, response);
  } catch (error) {
    // A reader that seeks closes the connection, which is not a failure.
    if (!disconnected.signal.aborted) throw error;
  }
}
