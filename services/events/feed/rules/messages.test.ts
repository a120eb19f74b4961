import { describe, expect, it } from '@jest/globals';
import { type FeedMessage, type OutboxEvent, sortEvents } from './messages.ts';

const event = (number: number, second: string): OutboxEvent => ({
  number,
  type: 'conversation.updated',
  subject_type: 'conversation',
  subject_id: 1,
  data: {},
  access: null,
  farewell: false,
  occurred_at: `2030-01-01T00:00:${second}Z`,
});
const order = (messages: readonly FeedMessage[]): string[] =>
  sortEvents(messages).map(({ service, number }) => `${service} ${number}`);

describe('sortEvents (V2)', () => {
  it('sorts events of several services by time in microseconds', () => {
    const messages = [
      { service: 'media', events: [event(1, '02'), event(2, '04')] },
      { service: 'conversations', events: [event(8, '01'), event(9, '02.000001'), event(10, '05')] },
    ];
    expect(order(messages)).toEqual(['conversations 8', 'media 1', 'conversations 9', 'media 2', 'conversations 10']);
  });

  it('preserves the outbox order of a service when the clock of the service was set back', () => {
    const messages = [
      { service: 'conversations', events: [event(8, '09'), event(9, '03')] },
      { service: 'media', events: [event(1, '05')] },
      { service: 'conversations', events: [event(10, '04')] },
    ];
    expect(order(messages)).toEqual(['media 1', 'conversations 8', 'conversations 9', 'conversations 10']);
    expect(order(messages.filter(({ service }) => service === 'conversations'))).toEqual([
      'conversations 8',
      'conversations 9',
      'conversations 10',
    ]);
  });

  it('adds to each event the day of its time', () => {
    expect(sortEvents([{ service: 'media', events: [event(1, '02')] }])).toMatchObject([
      { day: '2030-01-01', service: 'media' },
    ]);
  });
});
