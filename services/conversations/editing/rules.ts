/** Values of a conversation that its editors set (W8, W22). */
import { type AppError, appError } from '#libs/infrastructure/errors';
import { formatInstant, type Instant, parseInstant } from '#libs/infrastructure/time';
import { idsFromSql, parseSqlInstant } from '../representation.ts';
import type { SummaryRow } from '../statements.ts';

/** Names are those of the request's fields. */
export interface EditableValues {
  readonly start: Instant | null;
  readonly finish: Instant | null;
  readonly participant_ids: readonly number[];
  readonly connected_slugs: readonly number[];
  readonly event_slug: number | null;
  readonly step_slug: number | null;
}

/** Returns the stored values; slugs as ids. */
export const readValues = (row: SummaryRow): EditableValues => ({
  start: row.start === null ? null : parseSqlInstant(row.start),
  finish: row.finish === null ? null : parseSqlInstant(row.finish),
  participant_ids: idsFromSql(row.participants),
  connected_slugs: idsFromSql(row.connected),
  event_slug: row.event_id,
  step_slug: row.step_id,
});

/** Returns the instant; undefined and null are returned unchanged. The contract has checked the format. */
export function readTime(text: string | null | undefined): Instant | null | undefined {
  if (typeof text !== 'string') return text;
  const parsed = parseInstant(text);
  if (parsed.kind === 'invalid') throw new Error('the time is not an instant');
  return parsed.instant;
}

export const formatTime = (time: Instant | null): string | null => (time === null ? null : formatInstant(time));

/** Returns the error 400 `invalid_times` unless the conversation ends after its start. */
export function findTimesProblem({ start, finish }: Pick<EditableValues, 'start' | 'finish'>): AppError | undefined {
  if (start === null || finish === null || finish > start) return undefined;
  return appError('bad_request', 'invalid_times', '`finish` must be after `start`.');
}

/** Returns the names of the fields whose values differ. */
export function listChanged(before: EditableValues, after: EditableValues): (keyof EditableValues)[] {
  return (Object.keys(before) as (keyof EditableValues)[]).filter(
    (name) => String(before[name]) !== String(after[name]),
  );
}
