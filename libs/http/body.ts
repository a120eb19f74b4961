/**
 * Reading request bodies: JSON through koa-body, hooks as raw bytes. koa-body's own JSON parser loses large integers, refuses
 * `__proto__` and mends broken UTF-8, so it reads text in an encoding that keeps every byte (docs/adr: JSON bodies).
 */
import { isUtf8 } from 'node:buffer';
import koaBody from 'koa-body';
import { AppError } from '#libs/errors';
import { maxJsonDepth, parseJson } from '#libs/json';
import { UnparsableBody } from './envelope.ts';
import type { HttpContext } from './exchange.ts';

/** Largest JSON or hook body in bytes; exactly that passes (spec 03 §1). */
export const maxBodyBytes = 4_194_304;
/** Time to send a body of at most 4 MiB. */
const bodyDeadlineMs = 30_000;

const readText = koaBody({
  json: false,
  urlencoded: false,
  multipart: false,
  text: true,
  textTypes: ['text/plain'],
  textLimit: maxBodyBytes,
  encoding: 'binary',
  parsedMethods: ['POST', 'PUT', 'PATCH', 'GET', 'HEAD', 'DELETE'] as never[],
});
const done = (): Promise<void> => Promise.resolve();

/**
 * The parsed JSON body with its numbers intact, whatever its Content-Type says.
 * @throws AppError payload_too_large over 4 MiB; UnparsableBody for an empty body (unless optional: `{}`), invalid UTF-8,
 * broken JSON or more than 64 levels.
 */
export async function readJsonBody(ctx: HttpContext, optional: boolean): Promise<{ value: unknown; text: string }> {
  const bytes = Buffer.from(await readBytes(ctx), 'latin1');
  if (bytes.length === 0 && optional) return { value: {}, text: '{}' };
  if (!isUtf8(bytes) || exceedsDepth(bytes, maxJsonDepth)) throw new UnparsableBody();
  const text = bytes.toString('utf8');
  try {
    return { value: parseJson(text), text };
  } catch {
    throw new UnparsableBody();
  }
}

async function readBytes(ctx: HttpContext): Promise<string> {
  // The body is JSON by the route, not by its label: koa-body is told that it is text, which it reads byte for byte.
  ctx.req.headers['content-type'] = 'text/plain';
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(slowBody(ctx)), bodyDeadlineMs);
  });
  try {
    await Promise.race([readText(ctx, done), late]);
  } catch (error) {
    throw toBodyError(error);
  } finally {
    clearTimeout(timer);
  }
  const { body } = ctx.request as { body?: unknown };
  return typeof body === 'string' ? body : '';
}

function slowBody(ctx: HttpContext): AppError {
  ctx.res.setHeader('Connection', 'close');
  return new AppError({ code: 'unavailable', message: 'The request body did not arrive in time' });
}

function toBodyError(error: unknown): unknown {
  if (error instanceof AppError) return error;
  const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
  return status === 413 ? tooLarge() : new UnparsableBody();
}

function tooLarge(): AppError {
  return new AppError({ code: 'payload_too_large', message: `The request body is larger than ${maxBodyBytes} bytes` });
}

/**
 * The body as it came, compressed or not; undefined when it is over `maxBytes` (nothing of it is kept then).
 * Rejects when the client goes away before its end, or takes longer than 30 s.
 */
export function readRawBody(ctx: HttpContext, maxBytes = maxBodyBytes): Promise<Buffer | undefined> {
  const { req } = ctx;
  const declared = Number(req.headers['content-length'] ?? 0);
  if (declared > maxBytes) {
    req.resume();
    return Promise.resolve(undefined);
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => req.destroy(new Error('the body did not arrive in time')), bodyDeadlineMs);
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
      else if (chunks.length > 0) {
        chunks.length = 0;
        resolve(undefined);
      }
    });
    req.once('end', () => resolve(size > maxBytes ? undefined : Buffer.concat(chunks, size)));
    req.once('error', reject);
    req.once('close', () => {
      clearTimeout(timer);
      // After the end nobody waits any more, and an error with its stack costs as much as the rest of a small body.
      if (!req.readableEnded) reject(new Error('the request was aborted'));
    });
  });
}

/** True when brackets outside strings nest deeper than `max`; looked at before parsing, so that depth costs no memory. */
export function exceedsDepth(bytes: Uint8Array, max: number): boolean {
  let depth = 0;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (byte === 0x22) {
      for (index++; index < bytes.length && bytes[index] !== 0x22; index++) if (bytes[index] === 0x5c) index++;
    } else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > max) return true;
    } else if (byte === 0x7d || byte === 0x5d) depth--;
  }
  return false;
}
