import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Slab } from './slab.ts';

describe('Slab', () => {
  it('returns each item by its index until the item is removed, like a map', () => {
    const acts = fc.array(fc.oneof(fc.record({ add: fc.string() }), fc.record({ remove: fc.nat(20) })));
    fc.assert(
      fc.property(acts, (given) => {
        const slab = new Slab<{ text: string }>();
        const model = new Map<number, { text: string }>();
        for (const act of given) {
          if ('add' in act) {
            const item = { text: act.add };
            const place = slab.add(item);
            expect(model.has(place)).toBe(false);
            model.set(place, item);
          } else {
            slab.remove(act.remove);
            model.delete(act.remove);
          }
          expect(slab.size).toBe(model.size);
        }
        for (let place = 0; place < 30; place++) expect(slab.get(place)).toBe(model.get(place));
        expect(new Set(slab)).toEqual(new Set(model.values()));
      }),
    );
  });

  it('reuses the indexes of removed items', () => {
    const slab = new Slab<string>();
    for (let turn = 0; turn < 1_000; turn++) slab.remove(slab.add('a'));
    expect(slab.add('b')).toBe(0);
  });

  it('allows the removal of items during iteration', () => {
    const slab = new Slab<number>();
    const places = [1, 2, 3].map((item) => slab.add(item));
    for (const item of slab) slab.remove(places[item - 1] ?? -1);
    expect([slab.size, [...slab]]).toEqual([0, []]);
  });
});
