import { describe, expect, it } from '@jest/globals';
import { chooseByOverlap } from './index.ts';

describe('chooseByOverlap (architecture#a-recorded-meeting: the longest overlap)', () => {
  const window = { start: 100n, end: 200n };
  const session = (id: string, start: bigint, end: bigint | undefined) => ({ id, start, end });

  it.each([
    ['the longest overlap', [session('a', 0n, 120n), session('b', 110n, 190n), session('c', 190n, 300n)], 'b'],
    ['a session that still lasts', [session('a', 100n, 150n), session('b', 120n, undefined)], 'b'],
    ['the earlier of equals', [session('b', 150n, 200n), session('a', 100n, 150n)], 'a'],
    ['the smaller id of twins', [session('b', 100n, 200n), session('a', 100n, 200n)], 'a'],
    ['none that only touches', [session('a', 0n, 100n), session('b', 200n, 300n)], undefined],
    ['none without sessions', [], undefined],
  ])('chooses %s', (_what, sessions, expected) => {
    expect(chooseByOverlap(sessions, window)?.id).toBe(expected);
    expect(chooseByOverlap(sessions.toReversed(), window)?.id).toBe(expected);
  });

  it('treats an open window as unlimited, and ignores earlier sessions', () => {
    const open = { start: 100n, end: undefined };
    expect(
      chooseByOverlap([session('over', 0n, 100n), session('short', 0n, 110n), session('long', 50n, 500n)], open)?.id,
    ).toBe('long');
    expect(chooseByOverlap([session('over', 0n, 100n)], open)).toBeUndefined();
    expect(chooseByOverlap([session('ended', 0n, 1_000n), session('running', 90n, undefined)], open)?.id).toBe(
      'running',
    );
  });
});
