import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '#libs/infrastructure/logger';
import { openSpool, type SpoolEntry } from './webhook-spool.ts';

const logger = createLogger({ service: 'test', level: 'silent' });
const body = Buffer.from([0xc3, 0xa9, 0x0a, 0x00, 0xff]);
const entry = (id: string): SpoolEntry => ({
  subject: 'webhooks.conversations.bookings',
  webhook: { facts: { id, person_id: 'é' }, traceparent: '00-a', body },
});
let dir: string;
let sent: string[];
let last: SpoolEntry | undefined;
let broker: 'up' | 'down';
const send = (given: SpoolEntry): Promise<void> => {
  if (broker === 'down') return Promise.reject(new Error('down'));
  sent.push(given.webhook.facts.id);
  last = given;
  return Promise.resolve();
};
const open = (maxBytes = 20_000) => openSpool({ dir, maxBytes, logger, send });

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'spool-'));
  sent = [];
  broker = 'up';
});
afterEach(() => rm(dir, { recursive: true, force: true }));

describe('openSpool (D20)', () => {
  it('sends entries in order of arrival and removes sent entries', async () => {
    const spool = await open();
    for (const id of ['c', 'a', 'b']) await spool.add(entry(id));
    expect(spool.size.entries).toBe(3);
    await spool.drain();
    expect([sent, spool.size, await readdir(dir)]).toEqual([['c', 'a', 'b'], { entries: 0, bytes: 0 }, []]);
  });

  it('retains unsent entries, also after a restart', async () => {
    broker = 'down';
    const spool = await open();
    await spool.add(entry('a'));
    await expect(spool.drain()).rejects.toThrow('down');
    broker = 'up';
    const next = await open();
    expect(next.size).toEqual(spool.size);
    await next.drain();
    expect([sent, last]).toEqual([['a'], entry('a')]);
  });

  it('sends an entry once when two drains run concurrently in one process', async () => {
    const spool = await open();
    await spool.add(entry('a'));
    await Promise.all([spool.drain(), spool.drain()]);
    expect(sent).toEqual(['a']);
  });

  it('rejects an entry that exceeds the disk limit, and leaves no files', async () => {
    const spool = await open(8191);
    await spool.add(entry('a'));
    await expect(spool.add(entry('b'))).rejects.toThrow('holds 4096 bytes of 8191');
    expect([spool.size.entries, (await readdir(dir)).length]).toEqual([1, 1]);
    const roomier = await open(8192);
    await roomier.add(entry('b'));
    await expect(roomier.add(entry('c'))).rejects.toThrow('holds 8192 bytes of 8192');
  });

  it('counts whole disk blocks per entry, also after a restart', async () => {
    broker = 'down';
    const spool = await open();
    await spool.add(entry('a'));
    const large = entry('b');
    await spool.add({ ...large, webhook: { ...large.webhook, body: Buffer.alloc(4096) } });
    expect(spool.size).toEqual({ entries: 2, bytes: 3 * 4096 });
    expect((await open()).size).toEqual(spool.size);
  });

  it('releases reserved space when a disk write fails', async () => {
    const spool = await open();
    await rm(dir, { recursive: true });
    await expect(spool.add(entry('a'))).rejects.toThrow('ENOENT');
    expect(spool.size).toEqual({ entries: 0, bytes: 0 });
  });

  it('moves unreadable entries aside and continues', async () => {
    await writeFile(join(dir, '1-x.webhook'), 'webhooks.x\n[{"facts":{"id":"x"},"size":5}]\nhalf');
    const spool = await open();
    await spool.add(entry('a'));
    await spool.drain();
    expect([sent, await readdir(dir)]).toEqual([['a'], ['1-x.webhook.bad']]);
  });
});
