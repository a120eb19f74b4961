import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { joinTurns } from './join-turns.ts';
import type { SpoolEntry } from './webhook-spool.ts';

const entry = (id: string, { subject = 'bookings', size = 10 } = {}): SpoolEntry => ({
  subject,
  webhook: { facts: { id }, body: Buffer.alloc(size) },
});
const record = (isStored: (ids: string[]) => boolean = () => true) => {
  const messages: string[][] = [];
  const join = joinTurns((entries) => {
    const ids = entries.map(({ webhook }) => webhook.facts.id);
    messages.push(ids);
    return Promise.resolve(isStored(ids));
  });
  return { messages, join };
};

describe('joinTurns (D20)', () => {
  it('publishes what one turn brought as one message, in order, and the next turn as another', async () => {
    const { messages, join } = record();
    const first = ['a', 'b', 'c'].map((id) => join(entry(id)));
    expect(messages).toEqual([]);
    expect(await Promise.all(first)).toEqual([true, true, true]);
    await setImmediate();
    await join(entry('d'));
    expect(messages).toEqual([['a', 'b', 'c'], ['d']]);
  });

  it('joins only webhooks of one kind', async () => {
    const { messages, join } = record();
    await Promise.all([join(entry('a')), join(entry('x', { subject: 'meetings' })), join(entry('b'))]);
    expect(messages).toEqual([['a', 'b'], ['x']]);
  });

  it('tells all of a message, and no others, that it could not be stored', async () => {
    const { join } = record((ids) => !ids.includes('a'));
    const stored = [join(entry('a')), join(entry('b')), join(entry('x', { subject: 'meetings' }))];
    expect(await Promise.all(stored)).toEqual([false, false, true]);
  });

  it('fills at most 32 and 256 KiB into one message; a larger webhook has one of its own', async () => {
    const { messages, join } = record();
    await Promise.all(Array.from({ length: 70 }, (_value, index) => join(entry(String(index)))));
    await Promise.all(['p', 'q', 'r'].map((id) => join(entry(id, { size: 100 * 1024 }))));
    await Promise.all([join(entry('large', { size: 4 * 1024 * 1024 })), join(entry('small'))]);
    expect(messages.map((ids) => ids.length)).toEqual([32, 32, 6, 2, 1, 1, 1]);
    expect(messages.flat()).toHaveLength(75);
  });
});
