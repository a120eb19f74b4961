import { describe, expect, it } from '@jest/globals';
import { createGate } from './gate.ts';

const large = '70000';
const soon = (): number => Date.now() + 5_000;

describe('createGate (spec 03 §1, Overload)', () => {
  it('lets large bodies in one after the other, in order, and small ones at once', async () => {
    const gate = createGate(1);
    const order: string[] = [];
    const first = await gate.enter(large, soon());
    const second = gate.enter(undefined, soon()).then((leave) => (order.push('second'), leave));
    const third = gate.enter(large, soon()).then((leave) => (order.push('third'), leave));
    const small = await gate.enter('65536', soon());
    small();
    expect(order).toEqual([]);
    first();
    first();
    const leaveSecond = await second;
    expect(order).toEqual(['second']);
    leaveSecond();
    (await third)();
    expect(order).toEqual(['second', 'third']);
    (await gate.enter(large, soon()))();
  });

  it('gives up at the deadline and forgets who waited', async () => {
    const gate = createGate(1);
    const leave = await gate.enter(large, soon());
    await expect(gate.enter(large, Date.now() + 20)).rejects.toMatchObject({ code: 'unavailable' });
    leave();
    (await gate.enter(large, soon()))();
  });
});
