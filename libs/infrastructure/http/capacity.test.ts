import { describe, expect, it } from '@jest/globals';
import { createWeightedSemaphore } from './capacity.ts';

const soon = (): number => Date.now() + 5_000;

describe('createWeightedSemaphore (rules/http#overload)', () => {
  it('admits work that fits immediately, and queues other work in order of arrival', async () => {
    const gate = createWeightedSemaphore(10);
    const order: string[] = [];
    const enter = (name: string, weight: number) =>
      Promise.resolve(gate.acquire(weight, soon())).then((leave) => (order.push(name), leave));
    const first = await enter('first', 6);
    const second = await enter('second', 4);
    const third = enter('third', 9);
    const fourth = enter('fourth', 1);
    second();
    second();
    await Promise.resolve();
    expect(order).toEqual(['first', 'second']);
    first();
    await third;
    await fourth;
    expect(order).toEqual(['first', 'second', 'third', 'fourth']);
  });

  it('admits work that exceeds the whole capacity when nothing else runs', async () => {
    const gate = createWeightedSemaphore(10);
    const alone = await gate.acquire(1_000, soon());
    const next = gate.acquire(1, soon());
    expect(next).toBeInstanceOf(Promise);
    alone();
    (await next)();
  });

  it('rejects a waiting caller at its deadline and removes it from the queue', async () => {
    const gate = createWeightedSemaphore(10);
    const leave = await gate.acquire(10, soon());
    await expect(gate.acquire(1, Date.now() + 20)).rejects.toMatchObject({ code: 'unavailable' });
    leave();
    (await gate.acquire(10, soon()))();
  });
});
