/**
 * The chain of hashes (A2; docs/adr/audit-log-hash-chain.md), judged without the database that keeps it: what it computes is what `appendEntry`
 * has written.
 */
import { createHash } from 'node:crypto';
import type { AuditLink } from '#libs/contract';
import { toMicroseconds } from '#libs/merged-list';

/** An entry of a chain, by its place and its hash. */
export interface ChainEnd {
  readonly id: number;
  readonly hash: string;
}

/** Where a chain is broken: the first entry that is not what it was written as, or the place of one that is missing. */
export interface ChainBreak {
  readonly id: number;
  readonly problem: string;
}

/** SHA-256 over a JSON array of the hash before it and every column, as PostgreSQL writes one; `changes` stands in it as text. */
export function hashLink(link: AuditLink): string {
  const { actor, target, changes } = link;
  const parts = [
    link.previous_hash,
    link.id,
    link.at,
    actor.kind,
    actor.account_id,
    actor.key_id,
    link.action,
    target?.type ?? null,
    target?.id ?? null,
    changes === null ? null : JSON.stringify(changes),
    link.request_id,
    link.ip,
    link.outcome,
  ];
  return createHash('sha256')
    .update(`[${parts.map((part) => JSON.stringify(part)).join(', ')}]`)
    .digest('hex');
}

/** Judges links one after the other. */
export class ChainVerifier {
  #last: ChainEnd;
  #lastAt = '';

  /** @param anchor what the first link follows */
  constructor(anchor: ChainEnd) {
    this.#last = anchor;
  }

  /** The last link that was sound. */
  get last(): ChainEnd {
    return this.#last;
  }

  /** The next link; undefined when it is sound. */
  check(link: AuditLink): ChainBreak | undefined {
    const expected = this.#last.id + 1;
    if (link.id > expected) return { id: expected, problem: 'is missing' };
    if (link.id < expected) return { id: link.id, problem: 'stands where retention has removed everything' };
    if (link.previous_hash !== this.#last.hash)
      return { id: link.id, problem: `does not follow entry ${this.#last.id}: that one was changed, or this one` };
    if (hashLink(link) !== link.hash) return { id: link.id, problem: 'was changed after it was written' };
    if (toMicroseconds(link.at) < this.#lastAt) return { id: link.id, problem: 'is older than the entry before it' };
    this.#last = { id: link.id, hash: link.hash };
    this.#lastAt = toMicroseconds(link.at);
    return undefined;
  }

  /** Whether the chain ends where `head` says; undefined when it does. */
  end(head: ChainEnd): ChainBreak | undefined {
    const { id, hash } = this.#last;
    if (head.id > id) return { id: id + 1, problem: `is missing, with all entries up to ${head.id}` };
    if (head.id < id) return { id: head.id + 1, problem: 'was added behind the end of the chain' };
    return head.hash === hash ? undefined : { id, problem: 'is not the entry with which the chain ends' };
  }
}

/** A page of links, as `readAudit` answers. */
export interface ChainPage {
  readonly items: readonly AuditLink[];
  readonly anchor: ChainEnd;
  readonly head: ChainEnd;
}

export interface ChainReport {
  /** Entries that were judged. */
  readonly checked: number;
  readonly anchor: ChainEnd;
  readonly head: ChainEnd;
  /** Undefined when the chain is whole. */
  readonly broken: ChainBreak | undefined;
}

/**
 * Reads a chain page by page and judges it; entries that are written or removed for their age meanwhile do not disturb.
 * @param onLink told of each link, sound or not
 * @param options toTheEnd: links behind the first broken one are read too, and judged no more
 */
export async function verifyChain(
  readPage: (after: number) => Promise<ChainPage>,
  onLink: (link: AuditLink) => void = () => undefined,
  { toTheEnd = false }: { readonly toTheEnd?: boolean } = {},
): Promise<ChainReport> {
  let verifier: ChainVerifier | undefined;
  let broken: ChainBreak | undefined;
  let anchorId = 0;
  let checked = 0;
  for (let after = 0; ;) {
    const page = await readPage(after);
    // What was read last may have grown too old meanwhile: the chain goes on from the anchor then.
    if (verifier === undefined || (page.anchor.id > anchorId && page.anchor.id > after)) verifier = new ChainVerifier(page.anchor);
    anchorId = page.anchor.id;
    for (const link of page.items) {
      onLink(link);
      checked++;
      broken ??= verifier.check(link);
      if (broken !== undefined && !toTheEnd) break;
      after = link.id;
    }
    if (page.items.length > 0 && (broken === undefined || toTheEnd)) continue;
    return { checked, anchor: page.anchor, head: page.head, broken: broken ?? verifier.end(page.head) };
  }
}
