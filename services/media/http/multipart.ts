/** Reads one file part of a multipart request as a stream, and checks that the whole form is well-formed. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import { AppError, badRequest } from '#libs/infrastructure/errors';
import { countTransferred } from '#libs/infrastructure/transfer';
import { UnparsableForm } from './replies.ts';

export interface FilePart {
  fileName: string;
  /** Stream of the file. It fails when the form is incomplete, the client disconnects or the file is too large. */
  body: Readable;
}

export interface FormOptions {
  /** Name of the file part to read. */
  part: string;
  /** Maximum size of the file in bytes, inclusive. */
  maxFileBytes: number;
  /** Creates the error for a file that is too large. */
  tooLarge: () => AppError;
}

/** The client disconnected before its request was complete, so a response cannot be sent. */
export class ClientDisconnected extends Error {
  constructor() {
    super('The client disconnected before the upload was complete');
    this.name = 'ClientDisconnected';
  }
}

/** Bytes that are allowed in addition to the file, for part headers and other fields. */
const maxOverheadBytes = 1024 * 1024;

/**
 * Streams the file part to `receive`, then reads the form to its end. Other parts, and further parts with the same
 * name, are ignored.
 * @returns the result of `receive`, after the whole form was received and is well-formed
 * @throws AppError 400 for a malformed form, 422 when the part is missing or not a file; any error of `receive`
 */
export async function receiveFile<T>(
  request: IncomingMessage,
  options: FormOptions,
  receive: (file: FilePart) => Promise<T>,
): Promise<T> {
  checkHead(request, options);
  // A request that is already closed emits no further events (D77).
  if (request.destroyed) throw new ClientDisconnected();
  const form = openForm(request, options);
  // Preserves the trace context of this request for bytes that are received later.
  const receiveInContext = AsyncLocalStorage.bind(receive);
  let received: Promise<T> | undefined;
  let current: Readable | undefined;

  return new Promise<T>((resolve, reject) => {
    let totalBytes = 0;
    let failed = false;
    const onData = (chunk: Buffer): void => {
      totalBytes += chunk.byteLength;
      countTransferred(chunk.byteLength);
      if (totalBytes > options.maxFileBytes + maxOverheadBytes) return fail(options.tooLarge());
      if (!form.write(chunk)) request.pause();
    };
    const onEnd = (): void => void form.end();
    const onClose = (): void => {
      if (!request.complete) fail(new ClientDisconnected());
    };
    const removeListeners = (): void => {
      request.off('data', onData).off('end', onEnd).off('close', onClose);
      form.removeAllListeners('drain');
    };
    // The first failure is thrown only after `receive` has removed what the upload stored.
    const fail = (error: Error): void => {
      if (failed) return;
      failed = true;
      removeListeners();
      form.on('error', () => undefined);
      current?.destroy(error);
      void (received ?? Promise.resolve()).then(
        () => reject(error),
        () => reject(error),
      );
    };

    form.on(
      'field',
      (_name, _value, _isNameCut, _isCut, encoding) =>
        void (isTransferEncoded(encoding) && fail(transferEncodingError())),
    );
    form.on('file', (name: string | undefined, stream: Readable, fileName: string | undefined, encoding: string) => {
      stream.on('error', () => undefined);
      if (isTransferEncoded(encoding)) return fail(transferEncodingError());
      if (name !== options.part || received !== undefined || fileName === undefined || fileName === '')
        return void stream.resume();
      current = stream;
      stream.on('limit', () => fail(options.tooLarge()));
      received = receiveInContext({ fileName, body: stream });
      received.catch((error: Error) => fail(error));
    });
    form.on('error', () => fail(new UnparsableForm()));
    form.on('drain', () => request.resume());
    form.on('finish', () => {
      if (failed) return;
      removeListeners();
      if (received === undefined) reject(missingPart(options.part));
      else received.then(resolve, reject);
    });
    request.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}

/** Transfer encodings are rejected, because parts are stored without decoding (RFC 7578 §4.7; D107). */
const isTransferEncoded = (encoding: string): boolean => !/^(?:7bit|8bit|binary)$/i.test(encoding.trim());
const transferEncodingError = (): AppError =>
  badRequest('A part must not have a Content-Transfer-Encoding; send its bytes as they are');

function checkHead({ headers }: IncomingMessage, { part, maxFileBytes, tooLarge }: FormOptions): void {
  if (Number(headers['content-length'] ?? 1) === 0) throw new UnparsableForm();
  if (!/^multipart\/form-data\b/i.test(headers['content-type'] ?? '')) throw missingPart(part);
  if (Number(headers['content-length'] ?? 0) > maxFileBytes + maxOverheadBytes) throw tooLarge();
}

function openForm(request: IncomingMessage, options: FormOptions): InstanceType<typeof Busboy> {
  try {
    return new Busboy({
      headers: request.headers as BusboyHeaders,
      limits: {
        fileSize: options.maxFileBytes,
        fieldSize: 65_536,
        fieldNameSize: 256,
        fields: 100,
        files: 10,
        parts: 110,
        headerPairs: 50,
        headerSize: 16_384,
      },
    });
  } catch {
    throw new UnparsableForm();
  }
}

function missingPart(part: string): AppError {
  const items = [{ type: 'missing', loc: ['file', part], msg: 'Field required' }];
  return new AppError({ code: 'unprocessable', message: 'The request is not valid', details: { items } });
}
