/** The guard `expected_updated_at` of PATCH and `/recorded` (D9, D9a). */
import { type AppError, appError } from '#libs/errors';
import { formatInstant, parseInstant } from '#libs/time';
import { instantFromSql } from './sql-values.ts';
import type { ConversationRow } from './statements.ts';

/**
 * Instant for PostgreSQL of `expected_updated_at`; null when there is none.
 * @throws Error for what is not an instant: the contract refuses it before, and nothing may be written unguarded by mistake
 */
export function readExpected(text: string | null | undefined): string | null {
  if (text === null || text === undefined) return null;
  const parsed = parseInstant(text);
  if (parsed.kind === 'invalid') throw new Error('expected_updated_at is not an instant');
  return formatInstant(parsed.instant);
}

/** @throws AppError 409 `stale_conversation` when the caller expects another `updated_at` */
export function checkExpected(row: ConversationRow, expected: string | null | undefined): void {
  const wanted = readExpected(expected);
  if (wanted !== null && wanted !== instantFromSql(row.updated_at)) throw staleConversation(row);
}

export function staleConversation(row: ConversationRow): AppError {
  return appError('conflict', 'stale_conversation', 'The conversation has changed since.', { updated_at: instantFromSql(row.updated_at) });
}
