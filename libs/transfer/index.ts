/**
 * Long transfers in constant memory. The runtime makes a new buffer outside the JavaScript heap for every read of a socket and
 * frees it when the collector comes by; the heap itself hardly grows, so it may come only after hundreds of megabytes. Here the
 * bytes are counted, and the young generation, where those buffers live, is collected in time (about a millisecond).
 */
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export { answerPace, bodyPace, type Poll, pollRegularly, Pace, type PaceRule } from './pace.ts';

/** Bytes of dead buffers that may pile up. */
const collectEveryBytes = 8 * 1024 * 1024;

let uncollectedBytes = 0;
let collect: ((options: { type: 'minor' | 'major' }) => void) | undefined;
let collectingSoon: NodeJS.Timeout | undefined;

/** To be told of bytes that came from a socket and are used up, by everyone who moves many of them. */
export function countTransferred(bytes: number): void {
  uncollectedBytes += bytes;
  if (uncollectedBytes < collectEveryBytes) return;
  uncollectedBytes = 0;
  collect ??= exposeCollector();
  collect({ type: 'minor' });
}

/**
 * To be told when a piece of work has left a hundred megabytes behind: a process that is otherwise idle would keep them for minutes.
 * Everything is collected a second later, once for all such work of that second (about 50 ms).
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
 * Moves everything from `source` to `target`, no faster than `target` takes it.
 * @throws what either of them fails with; both are destroyed then.
 */
export async function copyStream(source: Readable, target: Writable): Promise<void> {
  source.on('data', (chunk: Uint8Array) => countTransferred(chunk.byteLength));
  await pipeline(source, target);
}
