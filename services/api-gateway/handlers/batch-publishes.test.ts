import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { batchPublishes } from './batch-publishes.ts';
import type { SpoolEntry } from './webhook-spool.ts';

const entry = (id: string, { subject = 'bookings', size = 10 } = {}): SpoolEntry => ({
  subject,
  webhook: { facts: { id }, body: Buffer.alloc(size) },
});
const record = (isStored: (ids: string[]) => boolean = () => true) => {
  const messages: string[][] = [];
  const publish = batchPublishes((entries) => {
    const ids = entries.map(({ webhook }) => webhook.facts.id);
    messages.push(ids);
    return Promise.resolve(isStored(ids));
  });
  return { messages, publish };
};

describe('batchPublishes (D20)', () => {
  it('publishes all webhooks of an event loop turn as one message, in order', async () => {
    const { messages, publish } = record();
    const first = ['a', 'b', 'c'].map((id) => publish(entry(id)));
    expect(messages).toEqual([]);
    expect(await Promise.all(first)).toEqual([true, true, true]);
    await setImmediate();
    await publish(entry('d'));
    expect(messages).toEqual([['a', 'b', 'c'], ['d']]);
  });

  it('batches only webhooks of the same kind', async () => {
    const { messages, publish } = record();
    await Promise.all([publish(entry('a')), publish(entry('x', { subject: 'meetings' })), publish(entry('b'))]);
    expect(messages).toEqual([['a', 'b'], ['x']]);
  });

  it('reports a failed message to the webhooks in it, and to no others', async () => {
    const { publish } = record((ids) => !ids.includes('a'));
    const stored = [publish(entry('a')), publish(entry('b')), publish(entry('x', { subject: 'meetings' }))];
    expect(await Promise.all(stored)).toEqual([false, false, true]);
  });

  it('limits a message to 32 webhooks and 256 KiB, and sends a larger webhook as a separate message', async () => {
    const { messages, publish } = record();
    await Promise.all(Array.from({ length: 70 }, (_value, index) => publish(entry(String(index)))));
    await Promise.all(['p', 'q', 'r'].map((id) => publish(entry(id, { size: 100 * 1024 }))));
    await Promise.all([publish(entry('large', { size: 4 * 1024 * 1024 })), publish(entry('small'))]);
    expect(messages.map((ids) => ids.length)).toEqual([32, 32, 6, 2, 1, 1, 1]);
    expect(messages.flat()).toHaveLength(75);
  });
});
