/** A limited set of reusable buffers of the same size, so that uploads need constant memory. */

export interface BufferPool {
  /** Size of each buffer in bytes. */
  readonly bufferBytes: number;
  /**
   * Returns a free buffer. While all are in use, calls wait in order. @throws the signal's reason when the signal
   * aborts first.
   */
  acquire(signal?: AbortSignal): Promise<Buffer>;
  /** Returns a buffer to the pool; its content may be overwritten immediately. */
  release(buffer: Buffer): void;
  /** Number of buffers in use. */
  readonly inUse: number;
}

/** Number of free buffers that remain allocated; further free buffers are deallocated. */
const maxFree = 4;

/**
 * Creates a pool of at most `capacity` buffers of `bufferBytes` each. They are allocated outside the JavaScript heap on
 * first use.
 */
export function createBufferPool(options: { bufferBytes: number; capacity: number }): BufferPool {
  const free: Buffer[] = [];
  const waiting: ((buffer: Buffer) => void)[] = [];
  let inUse = 0;

  return {
    bufferBytes: options.bufferBytes,
    get inUse() {
      return inUse;
    },
    acquire(signal) {
      if (signal?.aborted === true) return Promise.reject(signal.reason);
      if (inUse < options.capacity) {
        inUse += 1;
        return Promise.resolve(free.pop() ?? Buffer.allocUnsafeSlow(options.bufferBytes));
      }
      return new Promise((resolve, reject) => {
        const onAbort = (): void => {
          waiting.splice(waiting.indexOf(take), 1);
          reject(signal?.reason);
        };
        const take = (buffer: Buffer): void => {
          signal?.removeEventListener('abort', onAbort);
          resolve(buffer);
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        waiting.push(take);
      });
    },
    release(buffer) {
      const next = waiting.shift();
      if (next !== undefined) return next(buffer);
      inUse -= 1;
      if (free.length < maxFree) free.push(buffer);
    },
  };
}
