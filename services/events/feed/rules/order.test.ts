import { describe, expect, it } from '@jest/globals';
import { inOrder, type ToldMessage } from './order.ts';

type Told = ToldMessage['told'][number];

const told = (number: number, second: string): Told => ({
  number,
  type: 'conversation.updated',
  subject_type: 'conversation',
  subject_id: 1,
  data: {},
  access: null,
  farewell: false,
  occurred_at: `2030-01-01T00:00:${second}Z`,
});
const places = (messages: readonly ToldMessage[]): string[] => inOrder(messages).map(({ service, number }) => `${service} ${number}`);

describe('what several services told (V2)', () => {
  it('is put in the order of the clock, to the microsecond', () => {
    const messages = [
      { service: 'media', told: [told(1, '02'), told(2, '04')] },
      { service: 'conversations', told: [told(8, '01'), told(9, '02.000001'), told(10, '05')] },
    ];
    expect(places(messages)).toEqual(['conversations 8', 'media 1', 'conversations 9', 'media 2', 'conversations 10']);
  });

  it('of one service stays in the order of its outbox, whatever its clock says', () => {
    const messages = [
      { service: 'conversations', told: [told(8, '09'), told(9, '03')] },
      { service: 'media', told: [told(1, '05')] },
      { service: 'conversations', told: [told(10, '04')] },
    ];
    expect(places(messages)).toEqual(['media 1', 'conversations 8', 'conversations 9', 'conversations 10']);
    expect(places(messages.filter(({ service }) => service === 'conversations'))).toEqual([
      'conversations 8',
      'conversations 9',
      'conversations 10',
    ]);
  });

  it('keeps the day of each', () => {
    expect(inOrder([{ service: 'media', told: [told(1, '02')] }])).toMatchObject([{ day: '2030-01-01', service: 'media' }]);
  });
});
