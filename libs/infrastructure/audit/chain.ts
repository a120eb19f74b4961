/**
 * The hash chain (A2; docs/adr/audit-log-hash-chain.md), verified without a database: computes the same hashes as
 * `appendEntry`.
 */
import { createHash } from 'node:crypto';
import type { AuditLink } from '#libs/infrastructure/contract';
import { toMicroseconds } from '#libs/infrastructure/cursor';

/** Id and hash of the first or last entry of a chain. */
export interface ChainEnd {
  readonly id: number;
  readonly hash: string;
}

/** The first modified or missing entry of a broken chain. */
export interface ChainBreak {
  readonly id: number;
  readonly problem: string;
}

/**
 * Returns the SHA-256 of a JSON array of the previous hash and all columns, formatted as by PostgreSQL; `changes` is
 * included as text.
 */
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

/** Verifies links one by one. */
export class ChainVerifier {
  #last: ChainEnd;
  #lastAt = '';

  /** @param anchor the entry before the first link */
  constructor(anchor: ChainEnd) {
    this.#last = anchor;
  }

  /** Returns the last valid link. */
  get last(): ChainEnd {
    return this.#last;
  }

  /** Checks the next link. Returns undefined if the link is valid. */
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

  /** Checks that the chain ends with the entry `head`. Returns undefined if it does. */
  end(head: ChainEnd): ChainBreak | undefined {
    const { id, hash } = this.#last;
    if (head.id > id) return { id: id + 1, problem: `is missing, with all entries up to ${head.id}` };
    if (head.id < id) return { id: head.id + 1, problem: 'was added behind the end of the chain' };
    return head.hash === hash ? undefined : { id, problem: 'is not the entry with which the chain ends' };
  }
}

/** A page of links, as `readAudit` returns it. */
export interface ChainPage {
  readonly items: readonly AuditLink[];
  readonly anchor: ChainEnd;
  readonly head: ChainEnd;
}

export interface ChainReport {
  /** Number of checked entries. */
  readonly checked: number;
  readonly anchor: ChainEnd;
  readonly head: ChainEnd;
  /** Undefined if the chain is intact. */
  readonly broken: ChainBreak | undefined;
}

/**
 * Reads and verifies a chain page by page; concurrent appends and retention do not interfere.
 * @param onLink called for each link, valid or not
 * @param options readAll: continue reading after the first broken link, without checking
 */
export async function verifyChain(
  readPage: (after: number) => Promise<ChainPage>,
  onLink: (link: AuditLink) => void = () => undefined,
  { readAll = false }: { readonly readAll?: boolean } = {},
): Promise<ChainReport> {
  let verifier: ChainVerifier | undefined;
  let broken: ChainBreak | undefined;
  let anchorId = 0;
  let checked = 0;
  for (let after = 0; ;) {
    const page = await readPage(after);
    // When retention has removed the last entry that was read, verification continues from the anchor.
    if (verifier === undefined || (page.anchor.id > anchorId && page.anchor.id > after))
      verifier = new ChainVerifier(page.anchor);
    anchorId = page.anchor.id;
    for (const link of page.items) {
      onLink(link);
      checked++;
      broken ??= verifier.check(link);
      if (broken !== undefined && !readAll) break;
      after = link.id;
    }
    if (page.items.length > 0 && (broken === undefined || readAll)) continue;
    return { checked, anchor: page.anchor, head: page.head, broken: broken ?? verifier.end(page.head) };
  }
}
