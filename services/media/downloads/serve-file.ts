/**
 * Handles GET and HEAD of stored files, which are streamed from the object store, with validators and ranges
 * (rules/media#audio-download; D27).
 */
import type { ServerResponse } from 'node:http';
import { AppError, notFound } from '#libs/infrastructure/errors';
import type { Logger } from '#libs/infrastructure/logger';
import type { ObjectStore } from '#libs/infrastructure/object-store';
import { copyStream } from '#libs/infrastructure/transfer';
import type { Exchange } from '../http/index.ts';
import { decideRange, matchesNone, matchesStrongly } from './rules.ts';

/** A stored file and the headers with which it is sent. */
export interface ServedFile {
  objectKey: string;
  name: string;
  contentType: string;
  sizeBytes: number;
  /** Lower-case hexadecimal digest, which is the strong entity tag. */
  sha256: string;
  cacheControl: string;
  /**
   * `inline` for files that a browser can display. This is safe because the content type never comes from the client.
   */
  disposition: 'attachment' | 'inline';
}

/**
 * Sends the file, a range of it, or status 304, 412 or 416. Reads the store no faster than the client receives, and
 * stops when the client disconnects.
 * @throws AppError 404 when the object is missing, 503 when the store is unavailable; both before the response has
 * started
 */
export async function serveFile(
  deps: { store: ObjectStore; logger: Logger },
  { request, response, startPaceCheck }: Exchange,
  file: ServedFile,
): Promise<void> {
  const etag = `"${file.sha256}"`;
  const validators = { etag, 'accept-ranges': 'bytes', 'cache-control': file.cacheControl };
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch, 'if-range': ifRange, range } = request.headers;
  if (ifMatch !== undefined && !matchesStrongly(ifMatch, etag)) {
    throw new AppError({ code: 'precondition_failed', message: 'The file does not match If-Match' });
  }
  if (ifNoneMatch !== undefined && matchesNone(ifNoneMatch, etag)) {
    response.writeHead(304, validators).end();
    return;
  }
  const isHead = request.method === 'HEAD';
  // Ranges apply to GET only (RFC 9110, 14.2).
  const decision = decideRange(
    isHead ? undefined : range,
    Array.isArray(ifRange) ? ifRange[0] : ifRange,
    etag,
    file.sizeBytes,
  );
  if (decision.kind === 'unsatisfiable') return sendUnsatisfiableRange(response, file.sizeBytes);

  const headers: Record<string, string | number> = {
    ...validators,
    'content-type': file.contentType,
    'content-disposition': contentDisposition(file),
    'content-length': file.sizeBytes,
  };
  if (isHead) {
    if ((await deps.store.head(file.objectKey)) === undefined) throw notFound();
    response.writeHead(200, headers).end();
    return;
  }
  if (decision.kind === 'part') {
    const { first, last } = decision.range;
    headers['content-range'] = `bytes ${first}-${last}/${file.sizeBytes}`;
    headers['content-length'] = last - first + 1;
  }
  const disconnected = new AbortController();
  const onClose = (): void => disconnected.abort(new Error('The client disconnected'));
  response.once('close', onClose);
  try {
    const object = await deps.store.get(file.objectKey, {
      ...(decision.kind === 'part' ? { range: decision.range } : {}),
      signal: disconnected.signal,
    });
    if (object === undefined) throw notFound();
    if (object.sizeBytes !== headers['content-length']) {
      object.body.destroy();
      throw new Error(`object ${file.objectKey} has ${object.sizeBytes} bytes, expected ${headers['content-length']}`);
    }
    response.writeHead(decision.kind === 'part' ? 206 : 200, headers);
    startPaceCheck();
    await copyStream(object.body, response);
  } catch (error) {
    if (disconnected.signal.aborted && response.destroyed) return;
    throw error;
  } finally {
    response.off('close', onClose);
  }
}

function sendUnsatisfiableRange(response: ServerResponse, sizeBytes: number): void {
  const body = JSON.stringify({ detail: 'No requested range overlaps the file' });
  response
    .writeHead(416, {
      'content-range': `bytes */${sizeBytes}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    })
    .end(body);
}

/** Returns the header with an ASCII file name, and the exact name when it differs (RFC 6266). */
function contentDisposition({ name, disposition }: ServedFile): string {
  const ascii = name.replace(/[^\x20-\x7e]/g, '_').replace(/["\\%]/g, '_');
  const exact = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${disposition}; filename="${ascii}"${ascii === name ? '' : `; filename*=UTF-8''${exact}`}`;
}
