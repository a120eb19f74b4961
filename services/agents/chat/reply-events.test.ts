import { describe, expect, it } from '@jest/globals';
import { PartialReply, writeEvents } from './reply-events.ts';

interface ReceivedEvent {
  readonly at: number;
  readonly event: string;
  readonly data: unknown;
}

async function read(
  events: AsyncIterable<string>,
  onEvent?: (received: ReceivedEvent) => Promise<void> | void,
): Promise<ReceivedEvent[]> {
  const all: ReceivedEvent[] = [];
  for await (const text of events) {
    const [, event = '', data = ''] = /^event: (\w+)\ndata: (.*)\n\n$/.exec(text) ?? [];
    const received = { at: performance.now(), event, data: JSON.parse(data) as unknown };
    all.push(received);
    await onEvent?.(received);
  }
  return all;
}

describe('event stream of a turn (C1, C2)', () => {
  it('sends snapshots of the latest text at most every 80 ms, then the completed turn', async () => {
    const words = new PartialReply();
    const turn = Promise.withResolvers<{ agent_html: string }>();
    let text = '';
    const timer = setInterval(() => {
      words.listener((text += 'word '));
      if (text.length < 500) return;
      clearInterval(timer);
      turn.resolve({ agent_html: 'whole' });
    }, 5);
    const received = await read(writeEvents(words, turn.promise, (markdown) => markdown));
    const snapshots = received.slice(0, -1);
    expect(received.at(-1)).toMatchObject({ event: 'done', data: { agent_html: 'whole' } });
    expect(snapshots.length).toBeGreaterThan(1);
    for (const [index, { at, event, data }] of snapshots.entries()) {
      expect([event, text.startsWith((data as { agent_html: string }).agent_html)]).toEqual(['snapshot', true]);
      if (index > 0) expect(at - (snapshots[index - 1]?.at ?? 0)).toBeGreaterThan(78);
    }
  });

  it('skips intermediate snapshots for a slow consumer', async () => {
    const words = new PartialReply();
    const turn = Promise.withResolvers<string>();
    words.listener('one');
    const received = await read(
      writeEvents(words, turn.promise, (markdown) => markdown),
      ({ data }) => {
        if (JSON.stringify(data) !== '{"agent_html":"one"}') return turn.resolve('whole');
        for (const more of ['one two', 'one two three', 'one two three four']) words.listener(more);
        return undefined;
      },
    );
    expect(received.map(({ data }) => data)).toEqual([
      { agent_html: 'one' },
      { agent_html: 'one two three four' },
      'whole',
    ]);
  });

  it('sends only the turn when the reply had no text, and removes characters that cannot be stored from snapshots', async () => {
    const words = new PartialReply();
    expect(await read(writeEvents(words, Promise.resolve('whole'), (markdown) => markdown))).toMatchObject([
      { event: 'done' },
    ]);
    const turn = Promise.withResolvers<string>();
    words.listener('\n Wel\0come \ud83d');
    const received = await read(
      writeEvents(words, turn.promise, (markdown) => markdown),
      () => turn.resolve('whole'),
    );
    expect(received[0]?.data).toEqual({ agent_html: 'Welcome' });
  });

  it('fails with the error of the turn, and waits for the turn even if the consumer disconnects', async () => {
    const words = new PartialReply();
    words.listener('one');
    const failing = writeEvents(words, Promise.reject<string>(new Error('no turn')), (markdown) => markdown);
    await expect(read(failing)).rejects.toThrow('no turn');
    const turn = Promise.withResolvers<string>();
    const events = writeEvents(words, turn.promise, (markdown) => `${markdown} more`);
    words.listener('two');
    await events.next();
    let isLeft = false;
    const leaving = events.return(undefined).then(() => (isLeft = true));
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
    expect(isLeft).toBe(false);
    turn.resolve('whole');
    await leaving;
  });
});
