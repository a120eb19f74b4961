import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AuditLink } from '#libs/infrastructure/contract';
import { type ChainEnd, hashLink, verifyChain } from './index.ts';

const start: ChainEnd = { id: 0, hash: '0'.repeat(64) };

/** Returns a chain of `length` entries that follows `anchor`. */
function makeChain(length: number, anchor = start): AuditLink[] {
  const links: AuditLink[] = [];
  let last = anchor;
  for (let id = anchor.id + 1; id <= anchor.id + length; id++) {
    const link = makeLink(id, last.hash);
    links.push(link);
    last = link;
  }
  return links;
}

function makeLink(
  id: number,
  previous: string,
  changes: AuditLink['changes'] = { paths: ['a.b'], count: 1 },
): AuditLink {
  const link: AuditLink = {
    id,
    at: `2026-05-01T10:00:${String(id % 60).padStart(2, '0')}.000001Z`,
    actor: { kind: 'account', account_id: 7, key_id: null },
    action: 'step-config.update',
    target: { type: 'step', id: '12' },
    changes,
    request_id: 'r',
    ip: '192.0.2.1',
    outcome: 'ok',
    previous_hash: previous,
    hash: '',
  };
  return { ...link, hash: hashLink(link) };
}

/** Verifies the chain in pages of three links, as a service returns them. */
const read = (links: readonly AuditLink[], head: ChainEnd | undefined = links.at(-1), anchor = start) =>
  verifyChain(async (after) => ({
    items: links
      .filter(({ id }) => id > after)
      .toSorted((left, right) => left.id - right.id)
      .slice(0, 3),
    anchor,
    head: head ?? anchor,
  }));

const breakOf = async (...asked: Parameters<typeof read>) => (await read(...asked)).broken;

describe('verifyChain (A2)', () => {
  const chain = makeChain(10);

  it('accepts intact chains, empty chains, and chains truncated by retention', async () => {
    expect(await read(chain)).toEqual({ checked: 10, anchor: start, head: chain[9], broken: undefined });
    expect(await breakOf([])).toBeUndefined();
    const anchor = { id: 4, hash: chain[3]?.hash ?? '' };
    expect(await read(chain.slice(4), chain[9], anchor)).toMatchObject({ checked: 6, broken: undefined });
    expect(await breakOf([], chain[9], { id: 10, hash: chain[9]?.hash ?? '' })).toBeUndefined();
  });

  it.each([
    ['action', 'login'],
    ['at', '2026-05-01T10:00:05.000002Z'],
    ['actor', { kind: 'account', account_id: 8, key_id: null }],
    ['actor', { kind: 'cli', account_id: 7, key_id: null }],
    ['actor', { kind: 'account', account_id: 7, key_id: 'k' }],
    ['target', null],
    ['target', { type: 'step', id: '13' }],
    ['changes', { paths: ['a.c'], count: 1 }],
    ['changes', null],
    ['request_id', null],
    ['ip', '192.0.2.2'],
    ['outcome', 'refused'],
  ])('reports an entry whose %s was changed: %j', async (field, value) => {
    const changed = chain.map((link) => (link.id === 5 ? { ...link, [field]: value } : link));
    expect(await breakOf(changed)).toEqual({ id: 5, problem: 'was changed after it was written' });
  });

  it('reports the entry after an entry that was changed together with its hash', async () => {
    const forged = makeLink(5, chain[3]?.hash ?? '', { paths: [], count: 0 });
    expect(await breakOf(chain.map((link) => (link.id === 5 ? forged : link)))).toMatchObject({ id: 6 });
  });

  it('reports the first missing entry in the middle, at the start and at the end of the chain', async () => {
    expect(await breakOf(chain.filter(({ id }) => id !== 5 && id !== 6))).toEqual({ id: 5, problem: 'is missing' });
    expect(await breakOf(chain.slice(2))).toEqual({ id: 1, problem: 'is missing' });
    expect(await breakOf(chain.slice(0, 7), chain[9])).toEqual({
      id: 8,
      problem: 'is missing, with all entries up to 10',
    });
    expect(await breakOf([], chain[9])).toMatchObject({ id: 1 });
  });

  it('reports entries inserted after the end or before the start, and shifted ids', async () => {
    expect(await breakOf(chain, chain[7])).toEqual({ id: 9, problem: 'was added behind the end of the chain' });
    expect(await breakOf(chain, chain[9], { id: 4, hash: chain[3]?.hash ?? '' })).toEqual({
      id: 1,
      problem: 'stands where retention has removed everything',
    });
    const moved = chain.map((link) => ({ ...link, id: link.id === 5 ? 6 : link.id === 6 ? 5 : link.id }));
    expect(await breakOf(moved)).toMatchObject({ id: 5 });
    const shifted = [
      ...chain.slice(0, 4),
      makeLink(5, chain[3]?.hash ?? '', null),
      ...chain.slice(4).map((link) => ({ ...link, id: link.id + 1 })),
    ];
    expect(await breakOf(shifted)).toMatchObject({ id: 6 });
  });

  it('reports an entry older than its predecessor, even with valid hashes', async () => {
    const [first] = makeChain(1);
    const late = makeLink(2, first?.hash ?? '');
    const older: AuditLink = { ...late, at: '2026-05-01T09:00:00Z' };
    const forged = { ...older, hash: hashLink(older) };
    expect(await breakOf([first as AuditLink, forged])).toEqual({
      id: 2,
      problem: 'is older than the entry before it',
    });
  });

  it('continues at a new anchor when retention removes entries during the verification', async () => {
    let anchor = start;
    const report = await verifyChain(async (after) => {
      const page = {
        items: chain.filter(({ id }) => id > Math.max(after, anchor.id)).slice(0, 3),
        anchor,
        head: chain[9] as ChainEnd,
      };
      anchor = { id: 8, hash: chain[7]?.hash ?? '' };
      return page;
    });
    expect(report.broken).toBeUndefined();
  });

  it('reports a single changed entry at its position, and never an earlier entry', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 9 }), fc.string({ unit: 'binary', minLength: 1 }), async (place, text) => {
        const changed = chain.map((link, index) =>
          index === place ? { ...link, action: `${link.action}${text}` } : link,
        );
        expect(await breakOf(changed)).toMatchObject({ id: place + 1 });
      }),
    );
  });
});
