/** How long a deleted conversation is kept (D67). */
import type { ConversationsConfig } from '../config.ts';

const dayMicros = 86_400_000_000n;

/** How long a deleted conversation is kept. */
export function retentionMicros({ DELETED_RETENTION_DAYS: days }: Pick<ConversationsConfig, 'DELETED_RETENTION_DAYS'>): bigint {
  return BigInt(days) * dayMicros;
}
