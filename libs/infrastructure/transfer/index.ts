/**
 * Long transfers in constant memory. For every socket read, Node allocates a buffer outside the JavaScript heap and
 * frees it on garbage collection. The heap itself hardly grows, so a collection may start only after hundreds of
 * megabytes. This module counts the bytes and collects the young generation, which contains the buffers, early enough
 * (about a millisecond each time).
 */
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export { answerPace, bodyPace, type Poll, pollRegularly, Pace, type PaceRule } from './pace.ts';

/** Bytes of unused buffers that may accumulate before a collection. */
const collectEveryBytes = 8 * 1024 * 1024;

let uncollectedBytes = 0;
let collect: ((options: { type: 'minor' | 'major' }) => void) | undefined;
let collectingSoon: NodeJS.Timeout | undefined;

/** Counts the bytes that were read from sockets. All code that transfers large amounts must call it. */
export function countTransferred(bytes: number): void {
  uncollectedBytes += bytes;
  if (uncollectedBytes < collectEveryBytes) return;
  uncollectedBytes = 0;
  collect ??= exposeCollector();
  collect({ type: 'minor' });
}

/**
 * Starts a full collection a second later, once for all calls within that second (about 50 ms). Must be called after
 * work that allocated a hundred megabytes or more, since an otherwise idle process would retain that memory for
 * minutes.
 */
export function collectSoon(): void {
  collectingSoon ??= setTimeout(() => {
    collectingSoon = undefined;
    collect ??= exposeCollector();
    collect({ type: 'major' });
  }, 1_000).unref();
}

function exposeCollector(): (options: { type: 'minor' | 'major' }) => void {
  setFlagsFromString('--expose-gc');
  const collector = runInNewContext('gc') as (options: { type: 'minor' | 'major' }) => void;
  setFlagsFromString('--no-expose-gc');
  return collector;
}

/**
 * Copies `source` to `target` with back-pressure.
 * @throws the error of either stream; both are destroyed then.
 */
export async function copyStream(source: Readable, target: Writable): Promise<void> {
  source.on('data', (chunk: Uint8Array) => countTransferred(chunk.byteLength));
  await pipeline(source, target);
}
