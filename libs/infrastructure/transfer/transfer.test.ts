import { PassThrough, Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { countTransferred, copyStream } from './index.ts';

function* makeChunks(count: number): Generator<Buffer> {
  for (let index = 0; index < count; index += 1) yield Buffer.alloc(65_536, index % 251);
}

describe('copyStream (architecture#bytes)', () => {
  it('copies every byte in order', async () => {
    const received: Buffer[] = [];
    const target = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        received.push(chunk);
        setImmediate(done);
      },
    });
    await copyStream(Readable.from(makeChunks(300), { objectMode: false }), target);
    expect(Buffer.concat(received).equals(Buffer.concat([...makeChunks(300)]))).toBe(true);
  });

  it('reads the source no faster than the target accepts data', async () => {
    let produced = 0;
    const source = Readable.from(
      (function* () {
        for (const chunk of makeChunks(1000)) {
          produced += 1;
          yield chunk;
        }
      })(),
      { objectMode: false },
    );
    const target = new PassThrough();
    const moving = copyStream(source, target);
    await sleep(50);
    expect(produced).toBeLessThan(10);
    target.resume();
    await moving;
    expect(produced).toBe(1000);
  });

  it('fails when the source fails, and destroys the target', async () => {
    const source = new Readable({ read: () => undefined });
    const target = new PassThrough();
    const moving = copyStream(source, target);
    source.destroy(new Error('the source broke'));
    await expect(moving).rejects.toThrow('the source broke');
    expect(target.destroyed).toBe(true);
  });

  it('fails when the target closes, and destroys the source', async () => {
    const source = Readable.from(makeChunks(1000), { objectMode: false });
    const target = new PassThrough();
    const moving = copyStream(source, target);
    target.destroy();
    await expect(moving).rejects.toThrow();
    expect(source.destroyed).toBe(true);
  });
});

describe('countTransferred (architecture#bytes)', () => {
  it('limits the unreleased buffers of a long transfer', () => {
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    for (let index = 0; index < 4_000; index += 1) {
      const chunk = new Uint8Array(65_536);
      countTransferred(chunk.byteLength);
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    expect(most).toBeLessThan(32 * 1024 * 1024);
  });
});
