/** Keys of operations that answer a repeated call from the present state, so that no response is stored. */
import type { Tx } from '#libs/orm';
import { retentionHours } from './cleanup.ts';
import type { KeyStatements } from './statements.ts';

interface ScopedKey {
  readonly keys: KeyStatements;
  /** Row that the key belongs to. The transaction holds its lock, so that concurrent calls with one key run one after the other. */
  readonly scopeId: number;
  readonly operation: string;
  /** Null when the client sent none: every call has its effect then. */
  readonly key: string | null;
}

/** Runs `work` and records the key, or runs `replay` when the key was recorded before. When either throws, the key stays unused. */
export async function runOncePerKey<Reply>(
  tx: Tx,
  { keys, scopeId, operation, key }: ScopedKey,
  work: () => Promise<Reply>,
  replay: () => Reply,
): Promise<Reply> {
  if (key === null) return work();
  const record = { scopeId, operation, key };
  if ((await keys.find(tx, record)) !== undefined) return replay();
  const reply = await work();
  tx.beforeCommit(() => keys.insert(tx, { ...record, hours: retentionHours }));
  return reply;
}
