/**
 * Checks preconditions of requests: possible ids, reserved keys of `infos` and `config`
 * (rules/conversations#namespaces; D9b), and expected versions (D9, D9a).
 */
import { isPossibleId } from '#libs/infrastructure/contract';
import { type AppError, appError, notFound } from '#libs/infrastructure/errors';
import { formatInstant, parseInstant } from '#libs/infrastructure/time';
import { entityTag, matchesEntityTag } from '#libs/infrastructure/etag';
import { instantFromSql } from './representation.ts';
import type { ConversationRow } from './statements.ts';

/** Returns the id. @throws AppError 404 when the id cannot exist (rules/http#ids) */
export function requireId(id: number): number {
  if (!isPossibleId(id)) throw notFound();
  return id;
}

/** Field of a request that writes a store: `infos` or `config` of PATCH and `/recorded`, or the body of `/infos`. */
export type StoreField = 'infos' | 'config' | 'infos-endpoint';

const internal = 'it is reserved for internal use';

const underInfos = 'write it under infos, by PATCH /conversations/{id} or PATCH /conversations/{id}/infos';

interface Rule {
  readonly matches: (key: string) => boolean;
  readonly fields: readonly StoreField[];
  /** Explains what to use instead of the key. */
  readonly instead: string;
}

const is =
  (...keys: string[]) =>
  (key: string): boolean =>
    keys.includes(key);

const everywhere: readonly StoreField[] = ['infos', 'config', 'infos-endpoint'];

/** Reserved keys: one rule per row of the table in rules/conversations#namespaces. */
const rules: readonly Rule[] = [
  { matches: is('enter-coherence'), fields: everywhere, instead: 'use POST /conversations/{id}/enter-coherence' },
  { matches: is('booking', 'idempotency'), fields: everywhere, instead: internal },
  { matches: (key) => key === 'pipeline' || key.startsWith('pipeline.'), fields: everywhere, instead: internal },
  { matches: is('question_changes'), fields: everywhere, instead: 'use POST /conversations/{id}/question-changes' },
  {
    matches: is('question_timings'),
    fields: everywhere,
    instead:
      'it is no longer stored but derived from the changes recorded by POST /conversations/{id}/question-changes',
  },
  { matches: is('audio'), fields: ['infos-endpoint'], instead: 'use POST /conversations/{id}/audio' },
  { matches: is('publishing', 'publishing_status', 'publish_decisions'), fields: ['config'], instead: underInfos },
  { matches: is('publishing_approval'), fields: ['config'], instead: `it is a legacy key; ${underInfos}` },
];

/**
 * Returns the error 400 `invalid_namespace_placement` for the first reserved key; returns undefined when all keys can
 * be written.
 */
export function findNamespaceProblem(field: StoreField, patch: object | undefined): AppError | undefined {
  if (patch === undefined) return undefined;
  for (const key of Object.keys(patch)) {
    const rule = rules.find((item) => item.fields.includes(field) && item.matches(key));
    if (rule === undefined) continue;
    const store = field === 'config' ? 'config' : 'infos';
    return appError(
      'bad_request',
      'invalid_namespace_placement',
      `"${key}" cannot be written in ${store}: ${rule.instead}.`,
    );
  }
  return undefined;
}

/** Returns the error for the first reserved key in `infos` or `config` (D9b). */
export function findStoreProblem({ infos, config }: { infos?: object; config?: object }): AppError | undefined {
  return findNamespaceProblem('infos', infos) ?? findNamespaceProblem('config', config);
}

/**
 * Returns `expected_updated_at` as an instant for PostgreSQL; returns null when it is absent.
 * @throws Error when it is not an instant, which the contract should have rejected. Otherwise the write would run
 * without its precondition
 */
export function parseExpectedUpdatedAt(text: string | null | undefined): string | null {
  if (text === null || text === undefined) return null;
  const parsed = parseInstant(text);
  if (parsed.kind === 'invalid') throw new Error('expected_updated_at is not an instant');
  return formatInstant(parsed.instant);
}

/** Checks the expected version. @throws AppError 409 `stale_conversation` when `updated_at` differs */
export function requireExpectedUpdatedAt(row: ConversationRow, expected: string | null | undefined): void {
  const expectedAt = parseExpectedUpdatedAt(expected);
  if (expectedAt !== null && expectedAt !== instantFromSql(row.updated_at)) throw staleConversation(row);
}

export function staleConversation(row: ConversationRow): AppError {
  return appError('conflict', 'stale_conversation', 'The conversation was changed by another request.', {
    updated_at: instantFromSql(row.updated_at),
  });
}

/**
 * Checks `If-Match` against the representation of the conversation. @throws AppError 412 `precondition_failed` (D9, I2)
 */
export function requireMatch(row: ConversationRow, representation: string, tag: string | null | undefined): void {
  if (typeof tag !== 'string') return;
  if (!matchesEntityTag(tag, entityTag(representation), 'strong')) throw preconditionFailed(row);
}

export function preconditionFailed(row: ConversationRow): AppError {
  return appError(
    'precondition_failed',
    'precondition_failed',
    'If-Match names another representation of the conversation.',
    { updated_at: instantFromSql(row.updated_at) },
  );
}
